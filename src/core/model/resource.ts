import type { Address } from "./address.ts";
import type { JsonObject } from "./json/json.ts";
import type { ColumnPatterns } from "./labels.ts";
import { type Problem, type ProblemText, problemAt, type SourceLocation } from "./problem.ts";

/** One manifest after validation and substitution. Variables are filled in; `$secret` stays a reference. */
export interface Resource<Spec = unknown> {
  readonly kind: string;
  readonly name: string;
  readonly address: Address;
  /** metadata.id of this target: the pin. */
  readonly id: string | undefined;
  /** metadata.targets; absent: all. */
  readonly targets?: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly lifecycle: { readonly create: "ifMissing" | "never"; readonly acceptExposureWindow: string };
  readonly spec: Spec;
  /** Where the document is; add a pointer for a value in it. */
  readonly place: SourceLocation;
}

/** A position in the resource's document: `placeIn(resource, "/spec/owner")`. */
export function locationIn(resource: Resource, pointer: string, on: SourceLocation["on"] = "value"): SourceLocation {
  return { ...resource.place, pointer, on };
}

/** A problem at a position in the resource's document. */
export const problemIn = (resource: Resource, pointer: string, text: ProblemText): Problem =>
  problemAt(locationIn(resource, pointer), { ...text, address: resource.address });

/** A user as written in a manifest. */
export type UserRef = string | { readonly user: string; readonly as?: "id" | "email" | "name" };

/** One integration or many: the name of a manifest or of a live integration, a live id, or a selector. */
export type IntegrationRef = string | { readonly id: string };

/** Names can be globs and match manifests and live integrations; labels match manifests. If both are given, both must match. */
export interface IntegrationSelector {
  readonly names?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
}

export interface IntegrationSpec {
  readonly match?: { readonly name?: string; readonly sourceName?: string; readonly sourceType?: string; readonly destinationId?: string };
  readonly destination?: { readonly asset: string } | { readonly id: string };
  /** Absent: the integration must exist. */
  readonly create?: IntegrationCreate;
  /** What it has from its creation on. A target with `service.extended` changes them; otherwise they are manual. */
  readonly settings?: IntegrationSettings;
  readonly expect?: {
    readonly name?: string;
    readonly paused?: boolean;
    readonly source?: { readonly id?: string; readonly name?: string; readonly type?: string };
    readonly destination?: { readonly id?: string; readonly name?: string; readonly type?: string };
  };
}

export interface IntegrationSettings {
  readonly name?: string;
  readonly paused?: boolean;
  readonly replicationFrequency?: string;
  /** null: none. */
  readonly cronExpression?: string | null;
  readonly baseTime?: string | null;
  readonly destinationSchema?: string;
  readonly onSchemaUpdate?: string;
  readonly agentId?: string | null;
}

/** The body of POST /v1/integrations without destinationId (docs/service-interface.md#integrations), and what the public descriptions add. */
export type IntegrationCreate = IntegrationSource & {
  readonly destinationSchema: string;
  readonly replicationFrequency: string;
  readonly cronExpression?: string;
  readonly baseTime?: string;
  readonly onSchemaUpdate?: string;
  readonly enabled?: boolean;
  readonly name?: string;
  readonly sourceSettings?: JsonObject;
  readonly destinationSettings?: JsonObject;
  readonly tags?: readonly TagRef[];
  readonly agentId?: string | null;
};

/** A new source, or one that exists: a live id, or the name of an Asset manifest. */
export type IntegrationSource =
  | { readonly sourceConfig: SourceConfig; readonly sourceId?: undefined }
  | { readonly sourceId: string | { readonly asset: string }; readonly sourceConfig?: undefined };

type SourceConfig = JsonObject & { readonly name: string; readonly type: string; readonly owners?: readonly UserRef[] };

/** The name of a Tag manifest, or a live id. */
export type TagRef = string | { readonly id: string };

export interface AssetSpec {
  readonly name: string;
  readonly type?: string;
  readonly connectionType?: "source" | "destination" | "multi_purpose";
  readonly description?: string;
  readonly authMethod?: string;
  readonly owners?: readonly UserRef[];
  readonly tags?: readonly TagRef[];
  readonly configuration?: JsonObject;
  /** Raised to send the connection again; 0: the connection is never sent. */
  readonly secretVersion?: number;
  readonly connection?: JsonObject;
  /** Of a create: blocks for the purposes that need another connection. */
  readonly connectionOverrides?: JsonObject;
}

export type TagResource =
  | { readonly integration: IntegrationRef }
  | { readonly integrations: IntegrationSelector }
  | { readonly asset: string }
  | { readonly dataAsset: { readonly id: string } }
  | { readonly monitor: { readonly id: string } };

export interface TagSpec {
  readonly name: string;
  readonly description?: string;
  readonly owner?: UserRef;
  readonly taggedBy?: UserRef;
  readonly exclusive?: boolean;
  readonly resources?: readonly TagResource[];
}

export interface SchemaConfigSpec {
  readonly integration?: IntegrationRef;
  readonly integrations?: IntegrationSelector;
  readonly priority?: number;
  readonly unmatched?: Readonly<Partial<Record<"schemas" | "tables", Unmatched>>>;
  /** A mode alone is that of columns. */
  readonly unreviewed?: Unreviewed | { readonly columns?: Unreviewed };
  /** "nowhere": an error only if no selected integration has the name. */
  readonly missing?: "error" | "nowhere" | "warn" | "ignore";
  readonly rules?: readonly SchemaRule[];
  /** The service's own format. Nodes that are left out are not managed. */
  readonly schemas?: SchemaTree;
  readonly expect?: readonly SchemaExpectation[];
}

type Unmatched = "ignore" | "enable" | "disable" | "error";
/** What happens with columns that nobody has reviewed. */
export type Unreviewed = "report" | "warn" | "error" | "disable";
export type SchemaTree = Readonly<Record<string, { readonly enabled?: boolean; readonly tables?: Readonly<Record<string, TableTree>> }>>;
export interface TableTree {
  readonly enabled?: boolean;
  readonly columns?: Readonly<Record<string, ColumnTree>>;
}
export interface ColumnTree {
  readonly enabled?: boolean;
  readonly hashed?: boolean;
}

export interface SchemaMatch {
  readonly schema?: string | readonly string[];
  readonly table?: string | readonly string[];
  readonly column?: string | readonly string[];
  /** Labels that a Classification defines. One names the column level. */
  readonly label?: string | readonly string[];
  readonly ignoreCase?: boolean;
  readonly where?: { readonly isPrimaryKey?: boolean; readonly enabled?: boolean; readonly hashed?: boolean; readonly syncMode?: string };
}

export type SchemaRule =
  | { readonly use: string }
  | {
      readonly id?: string;
      readonly match: SchemaMatch;
      readonly set?: ColumnTree;
      readonly ignore?: boolean;
      readonly reason?: string;
      readonly expires?: string;
      readonly minMatches?: number;
    };

export interface SchemaExpectation {
  readonly match: SchemaMatch;
  readonly nameInDestination?: string;
  readonly syncMode?: string;
  readonly cursorField?: string;
  readonly isPrimaryKey?: boolean;
}

export interface RuleSetSpec {
  readonly rules: readonly SchemaRule[];
}

/** Labels for columns. Known to the project only. */
export interface ClassificationSpec {
  readonly labels?: readonly { readonly label: string; readonly match: ColumnPatterns; readonly reason?: string }[];
  readonly from?: readonly LabelSource[];
}

/** A file that labels columns. */
export type LabelSource =
  | { readonly dbt: DbtSource; readonly csv?: undefined }
  | { readonly csv: { readonly file: string }; readonly dbt?: undefined };

/** A dbt manifest: the columns that `where` selects have the label, or `labelFrom` is the member of meta that names it. */
export interface DbtSource {
  readonly manifest: string;
  readonly label?: string;
  readonly where?: { readonly meta?: JsonObject; readonly tag?: string };
  readonly labelFrom?: string;
  readonly database?: string;
}

/**
 * A reference from one manifest to another, checked before any request. `orLive`: it may also be the name of a live object. `isOneOfMany`: it has no
 * effect in a target that does not have the other manifest.
 */
export interface Reference {
  readonly kind: string;
  readonly name: string;
  readonly pointer: string;
  readonly orLive: boolean;
  readonly isOneOfMany?: true;
}

/** If all members of `when` match, the state must be as in `require`. */
export interface PolicySpec {
  readonly severity: "error" | "warning" | "info";
  readonly when?: {
    readonly column?: ColumnCondition;
    readonly table?: {
      readonly name?: string | readonly string[];
      readonly ignoreCase?: boolean;
      readonly enabled?: boolean;
      readonly syncMode?: string;
    };
    readonly schema?: { readonly name?: string | readonly string[]; readonly ignoreCase?: boolean; readonly enabled?: boolean };
    readonly integration?: IntegrationSelector;
  };
  readonly require?: { readonly enabled?: boolean; readonly hashed?: boolean };
  readonly message: string;
  readonly exemptions?: readonly PolicyExemption[];
}

interface ColumnCondition {
  readonly name?: string | readonly string[];
  readonly ignoreCase?: boolean;
  /** Labels that a Classification defines. */
  readonly label?: string | readonly string[];
  readonly enabled?: boolean;
  readonly hashed?: boolean;
  readonly isPrimaryKey?: boolean;
}

/** Names an integration or a schema. `expires` is a date, YYYY-MM-DD, within a year. After it, the exemption has no effect and a finding says so. */
export interface PolicyExemption {
  readonly integration?: string;
  readonly schema?: string;
  readonly table?: string;
  readonly column?: string;
  readonly reason: string;
  readonly approvedBy?: string;
  readonly expires: string;
}

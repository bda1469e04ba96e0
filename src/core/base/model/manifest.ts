import type { Address } from "./address.ts";
import type { JsonObject } from "./json/json.ts";
import { type Problem, type ProblemText, problemAt, type SourceLocation } from "./problem.ts";
import type {
  AssetSpec,
  CreateMembers,
  CsvSource,
  DbtSource,
  IntegrationSpec,
  PolicySpec,
  SchemaConfigSpec,
  TableTree,
  TagSpec,
  UserRef,
  WrittenRule,
} from "./specs.generated.d.ts";

export type {
  AssetSpec,
  ClassificationSpec,
  ColumnTree,
  CsvSource,
  DbtSource,
  IntegrationRef,
  IntegrationSelector,
  IntegrationSpec,
  PolicySpec,
  RuleSetSpec,
  SchemaConfigSpec,
  SchemaMatch,
  TableTree,
  TagSpec,
  UserRef,
} from "./specs.generated.d.ts";

/** One manifest after validation and substitution. Variables are filled in; `$secret` stays a reference. */
export interface Manifest<Spec = unknown> {
  readonly kind: string;
  readonly name: string;
  readonly address: Address;
  /** metadata.id of this target: the pin. */
  readonly id: string | undefined;
  /** metadata.targets; absent: all. */
  readonly targets?: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly lifecycle: { readonly create: "ifMissing" | "never" };
  readonly spec: Spec;
  /** Where the document is; add a pointer for a value in it. */
  readonly place: SourceLocation;
}

/** A position in the manifest's document: `locationIn(manifest, "/spec/owner")`. */
export function locationIn(manifest: Manifest, pointer: string, on: SourceLocation["on"] = "value"): SourceLocation {
  return { ...manifest.place, pointer, on };
}

/** A problem at a position in the manifest's document. */
export const problemIn = (manifest: Manifest, pointer: string, text: ProblemText): Problem =>
  problemAt(locationIn(manifest, pointer), { ...text, address: manifest.address });

// Parts of specs that the generated types have no names for, or say less of.

export type IntegrationSettings = NonNullable<IntegrationSpec["settings"]>;
export type TagRef = NonNullable<AssetSpec["tags"]>[number];
export type TagResource = NonNullable<TagSpec["resources"]>[number];
/** What a rule or a literal entry can set of a table beside `enabled`. */
export type TableTexts = Pick<TableTree, "syncMode" | "cursorField">;
export type SchemaTree = NonNullable<SchemaConfigSpec["schemas"]>;
export type SchemaExpectation = NonNullable<SchemaConfigSpec["expect"]>[number];
export type PolicyExemption = NonNullable<PolicySpec["exemptions"]>[number];

/** What happens with columns that nobody has reviewed. */
export type Unreviewed = Extract<SchemaConfigSpec["unreviewed"], string>;

/** A rule, or the name of a RuleSet. */
export type SchemaRule = { readonly use: string } | WrittenRule;

/** A file that labels columns. */
export type LabelSource = { readonly dbt: DbtSource; readonly csv?: undefined } | { readonly csv: CsvSource; readonly dbt?: undefined };

/** The body of POST /v1/integrations without destinationId (docs/service-interface.md#integrations), and what the public descriptions add. */
export type IntegrationCreate = IntegrationSource & CreateMembers;

/** A new source, or one that exists: a live id, or the name of an Asset manifest. */
export type IntegrationSource =
  | { readonly sourceConfig: SourceConfig; readonly sourceId?: undefined }
  | { readonly sourceId: string | { readonly asset: string }; readonly sourceConfig?: undefined };

type SourceConfig = JsonObject & { readonly name: string; readonly type: string; readonly owners?: readonly UserRef[] };

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

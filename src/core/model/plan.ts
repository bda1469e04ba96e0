import type { Address, Binding, NaturalKey } from "./address.ts";
import type { GoneColumn, NeverReviewed, NewColumn, SeenGroup } from "./columns.ts";
import type { Exit } from "./exit.ts";
import type { GuardFinding, PolicyFinding, UsedExemption } from "./findings.ts";
import type { JsonValue } from "./json/json.ts";
import type { Pointer } from "./json/pointer.ts";
import type { LabelOrigin, ShownLabel } from "./labels.ts";
import type { Nodes } from "./nodes.ts";
import type { Diagnostic, SourceLocation } from "./problem.ts";
import type { PlannedRequest } from "./service.ts";
import type { Code } from "./titles.ts";

/** `bind` records an id and sends nothing. `unrelate` takes a tag off a resource. */
export type Action = "create" | "update" | "relate" | "unrelate" | "bind";

/** "protects": less data is readable after the change; "exposes": more. */
export type Risk = "protects" | "exposes" | "neutral";

/** What a difference means in a drift report. "exposed": the account protects less than the manifests; "stricter": more. */
export type ReportRisk = "exposed" | "stricter" | "neutral";

/** The rule or literal entry that decides a value. */
export interface Cause {
  /** A rule's id, or its position ("rule 3"); absent for a literal. */
  readonly rule?: string;
  readonly reason?: string;
  /** The label by which the rule matches the column. */
  readonly label?: ShownLabel;
  readonly file: string;
  readonly line?: number;
}

/** The origin of a difference: the manifests changed since the base ref, the account changed, both did, or it is not known. */
export type Origin = "config" | "drift" | "conflict" | "unknown";

/** Who caused a difference according to the audit log (docs/service-interface.md#audit-log). */
export interface Attribution {
  /** An e-mail address, if the entry has one. */
  readonly actor?: string;
  /** ISO 8601 */
  readonly at: string;
  readonly userAgent?: string;
  readonly ip?: string;
  readonly event: string;
  /** "exact": the event quotes the id or name; "likely": it has the name as a word; "window": only the time matches. */
  readonly confidence: "exact" | "likely" | "window";
  /** Whether it was a run of dimsync. */
  readonly own: boolean;
}

/**
 * A change without its place. `before` absent: unknown or missing; `after` absent: the service decides.
 * Secrets are references.
 */
export interface ChangeFacts {
  readonly before?: JsonValue;
  readonly after?: JsonValue;
  /** A ReportRisk in a drift report, a Risk everywhere else. */
  readonly risk: Risk | ReportRisk;
  readonly cause?: Cause;
  /** What kept the value protected at the base and is gone, if nothing new decides the value: nobody decided to expose it. */
  readonly removed?: Cause;
  readonly origin?: Origin;
  readonly attribution?: Attribution;
}

/** One value that changes. */
export type Change<Facts = ChangeFacts> = Facts & {
  /** JSON Pointer into the live object: "/schemas/public/tables/users/columns/email/hashed". */
  readonly path: Pointer;
  /** The last segment of the path: "hashed". */
  readonly field: string;
};

/** The same change of some nodes of a schema. */
export type NodeChanges<Facts = ChangeFacts> = Facts & {
  readonly field: string;
  /** How many nodes there are. */
  readonly count: number;
  readonly nodes: Nodes;
};

/** A change of a value that is not in a schema. */
export type PathChange<Facts = ChangeFacts> = Facts & { readonly path: Pointer };

/** Changes with the same facts. `eachChange` returns the single ones. */
export type ChangeGroup<Facts = ChangeFacts> = NodeChanges<Facts> | PathChange<Facts>;

/** A cause as a kind returns it. */
export interface DraftCause {
  readonly rule?: string;
  readonly reason?: string;
  readonly label?: { readonly name: string; readonly origin: LabelOrigin };
  readonly place: SourceLocation;
}

/** The facts as a kind returns them: the cause is a position in a manifest. */
export interface DraftFacts extends Omit<ChangeFacts, "cause" | "risk"> {
  readonly risk: Risk;
  readonly cause?: DraftCause;
}

interface ItemCore {
  readonly address: Address;
  readonly kind: string;
  readonly action: Action;
  /** Absent on create. */
  readonly liveId?: string;
  /** The name of the live object, for display. */
  readonly liveName?: string;
  /** Of an integration's schemas: its manifest, if it has one, then the SchemaConfigs that select it, the one that wins last. */
  readonly manifests?: readonly Address[];
  /** In the order of sending. */
  readonly requests: readonly PlannedRequest[];
  /** Identifies the object to create: compared with live before the POST, and to settle an unknown outcome. */
  readonly naturalKey?: NaturalKey;
  /** Of a `bind`: the address of a manifest that no longer exists and had this id. */
  readonly renamedFrom?: Address;
  /** Recorded in the bindings file when the item is done; for a create, the id comes from the response. */
  readonly binding?: Omit<Binding, "id"> & { readonly id?: string };
  /** A digest of live values that the changes do not set, and that decide what they expose. */
  readonly basis?: string;
  /** Columns that become readable with this item. */
  readonly exposedColumns?: number;
}

/** A step as a kind returns it. Plain data: nothing is sent, and it may still be refused. */
export interface DraftItem extends ItemCore {
  readonly changes: readonly ChangeGroup<DraftFacts>[];
  /** Items at these addresses must be done first. */
  readonly after?: readonly Address[];
  /** As `after`; if these wait or are blocked, so does the item. Its own address is not waited for by others. */
  readonly requires?: readonly Address[];
}

/** One planned step on one live object. */
export interface Item extends ItemCore {
  /** "i1", "i2", … in the order of the plan. */
  readonly id: string;
  readonly changes: readonly ChangeGroup[];
  readonly dependsOn: readonly string[];
}

/** A difference that no request can fix. */
export interface Manual {
  /** "m-" and a digest of address and path: the same in every report until it is fixed. */
  readonly id: string;
  readonly address: Address;
  /** The object in the account, which events of the audit log name. */
  readonly liveId?: string;
  readonly liveName?: string;
  readonly path: Pointer;
  /** As in an item. */
  readonly manifests?: readonly Address[];
  readonly expected?: JsonValue;
  readonly actual?: JsonValue;
  readonly instruction: string;
  /** A command to run, on its own line. */
  readonly command?: string;
  readonly origin?: Origin;
  readonly attribution?: Attribution;
}

/** An item that must not run, and why. Does not block items that do not depend on it. */
export interface Blocked {
  readonly address: Address;
  readonly code: Code;
  readonly message: string;
  /** A command to run, on its own line. */
  readonly command?: string;
}

/** Waits for an id or a schema that another item of the same run creates; `desired` is its full desired state. */
export interface Deferred {
  readonly address: Address;
  readonly waitsFor: readonly Address[];
  /** Present if the integration exists and only its schema is missing. */
  readonly liveId?: string;
  /** What the service answers as long as the schema is missing. */
  readonly why?: string;
  readonly desired: JsonValue;
}

/** What `--protect-only` does not send. */
export interface Held {
  readonly address: Address;
  readonly kind: string;
  /** Absent for what waits for another held item. */
  readonly action?: Action;
  readonly liveId?: string;
  readonly liveName?: string;
  readonly changes: readonly ChangeGroup[];
  readonly waitsFor?: readonly Address[];
}

/** A desired value that the interface never returns. */
export interface Unverifiable {
  readonly address: Address;
  readonly paths: readonly Pointer[];
  readonly reason: string;
}

/** A desired value that the service accepted and does not keep. It is not planned again until the manifest or the account changes there. */
export interface NotKept {
  readonly address: Address;
  readonly path: Pointer;
  readonly wanted: JsonValue;
  readonly live: JsonValue;
  /** When a run noticed it, ISO 8601. Absent if the service itself says that the value cannot be changed. */
  readonly since?: string;
}

/** The result of comparing one object. */
export interface Difference {
  readonly items: readonly DraftItem[];
  readonly manual: readonly Omit<Manual, "id">[];
  readonly blocked: readonly Blocked[];
  readonly deferred: readonly Deferred[];
  readonly unverifiable: readonly Unverifiable[];
  /** Default: none. */
  readonly notKept?: readonly NotKept[];
  readonly unmanagedColumns: number;
  /** Their names, if requested. */
  readonly unmanagedTables?: readonly UnmanagedTable[];
  /** The columns that nobody has reviewed, and the reviewed ones that are gone. Absent if columns are not reviewed. */
  readonly review?: ColumnDifference;
}

export interface ColumnDifference {
  readonly newColumns: readonly NewColumn[];
  readonly goneColumns: readonly GoneColumn[];
  /** Present if the catalog does not have the integration; then it has no new and gone columns. */
  readonly neverReviewed?: NeverReviewed;
  /** Whether what is not reviewed refuses the plan (`unreviewed: error`). */
  readonly refuses: boolean;
}

/** Live columns that no manifest covers; the other members are live objects by the name of their list: `integrations`. */
export interface Unmanaged {
  readonly columns: number;
  /** Where the columns are, if asked for (`--list-unmanaged`). */
  readonly tables?: readonly UnmanagedTable[];
  readonly [list: string]: number | readonly NamedObject[] | readonly UnmanagedTable[] | undefined;
}

/** The live objects by list. */
export const unmanagedObjects = ({ columns: _, tables: __, ...lists }: Unmanaged): ReadonlyMap<string, readonly NamedObject[]> =>
  new Map(Object.entries(lists) as readonly [string, readonly NamedObject[]][]); // by the type of Unmanaged

/** Live columns of one table that no rule or literal entry covers. */
export interface UnmanagedTable {
  /** "Schemas/shop-01" */
  readonly address: Address;
  readonly schema: string;
  readonly table: string;
  /** Sorted; absent if the service did not return the columns of the table. */
  readonly columns?: readonly string[];
}

/** A live object that lost its manifest. Nothing is sent, and the account keeps it. */
export interface Released {
  /** At the base: "Integration/forum" also stands for its schemas. */
  readonly address: Address;
  readonly id: string;
  readonly name: string;
  /** The columns that the base manifests covered. */
  readonly columns: number;
}

export const loosenedCodes = [
  "unknown",
  "policy-removed",
  "policy-weakened",
  "exemption-added",
  "exemption-widened",
  "exemption-extended",
  "guard-raised",
  "guard-off",
  "allow-added",
  "ignore-added",
  "managed-less",
  "protection-lost",
  "label-lost",
  "released",
] as const;

/** What the manifests give up since the base, whether or not anything is sent for it. */
export interface Loosened {
  readonly code: (typeof loosenedCodes)[number];
  /** What is weaker: "Policy/pii-hashed", "guard maxExposedColumns", "label personal". */
  readonly subject: string;
  /** What was given up, in full sentences. */
  readonly message: string;
  /** Whether the file and the line are those of the base or of the head. */
  readonly at: "base" | "head";
  readonly file?: string;
  readonly line?: number;
  /** How many columns it concerns now. */
  readonly columns?: number;
  /** How many findings of policies it hides now. */
  readonly findings?: number;
  /** Who owns the file according to CODEOWNERS. */
  readonly owners?: readonly string[];
}

/** Who reads a column whose hashing or replication changes, according to dbt. Evidence, not proof. */
export interface Impact {
  /** The items that change the column; equal integrations share their readers. Sorted. */
  readonly addresses: readonly [Address, ...Address[]];
  readonly schema: string;
  readonly table: string;
  /** Absent: the whole table or schema is switched on or off. */
  readonly column?: string;
  /** Tests that would fail first, then the nearest. */
  readonly readers: readonly Reader[];
  /** How many more readers there are than are listed. */
  readonly moreReaders?: number;
  /** How many more models read the table, but not this column as far as their SQL shows. */
  readonly tableReaders?: number;
}

/** A node of dbt that reads a column. */
export interface Reader {
  readonly kind: "model" | "snapshot" | "test" | "exposure";
  readonly name: string;
  /** In the dbt project. */
  readonly path: string;
  /** The e-mail address or name of its owner. */
  readonly owner?: string;
  /** The nearest of the nodes through which it reads the column: "shop.customers" is a source. */
  readonly via: string;
  /**
   * "certain": a test on the column; "mentions": the SQL mentions it; "mayRead": `select *`, or an exposure; "unknown": the
   * manifest does not contain the SQL, or it is one macro call.
   */
  readonly certainty: "certain" | "mentions" | "mayRead" | "unknown";
}

export interface NamedObject {
  readonly id: string;
  readonly name: string;
}

/** How often each method is used: { "GET": 41 }. */
export type CallCounts = Readonly<Record<string, number>>;

export interface Summary {
  readonly create: number;
  readonly update: number;
  readonly relate: number;
  /** Present if there are any. */
  readonly unrelate?: number;
  readonly bind: number;
  readonly noop: number;
  readonly manual: number;
  readonly blocked: number;
  readonly deferred: number;
  /** Present with `--protect-only`. */
  readonly held?: number;
  /** Changes per risk: the first two in a plan, the others in a drift report. */
  readonly protects?: number;
  readonly exposes?: number;
  readonly exposed?: number;
  readonly stricter?: number;
}

/** The plan file, format 2.0. Plain data: what JSON.parse returns for the file is the same value; `kind` is different for a drift report, which has the same shape. */
export interface Plan {
  readonly formatVersion: "2.0";
  readonly kind: "Plan" | "DriftReport";
  readonly planId: string;
  /** ISO 8601 */
  readonly createdAt: string;
  readonly tool: { readonly name: "dimsync"; readonly version: string };
  readonly target: string;
  /** Present if the project has other targets: then commands must name this one. */
  readonly severalTargets?: true;
  /** The account: the origin of the base URL, or "embedded:FILE". */
  readonly account: string;
  /**
   * `dirty`: files that the plan depends on differ from the commit. `changedFiles` names them, relative to the project's folder; `leftOut` those that a sparse
   * checkout leaves out, `untracked` those that the commit does not have, and `ignored` those that it does not have because git ignores them (`by`: ".gitignore:3").
   */
  readonly git?: {
    readonly commit: string;
    readonly dirty: boolean;
    readonly changedFiles?: readonly string[];
    readonly leftOut?: readonly string[];
    readonly untracked?: readonly string[];
    readonly ignored?: readonly { readonly file: string; readonly by: string }[];
  };
  /** The target only accepts a saved plan that was made from a clean git tree. */
  readonly protected?: true;
  /** Only a part of the manifests was compared: `--only`, `--exclude` or `--ignore`. */
  readonly partial?: true;
  /** The options that the plan was made with, with which `apply` plans a saved plan again. */
  readonly options?: {
    readonly only?: readonly string[];
    readonly exclude?: readonly string[];
    readonly ignore?: readonly { readonly address: Address; readonly path: Pointer }[];
    readonly assumeCompleteLists?: true;
  };
  /** When the snapshot was taken that was read instead of the account, ISO 8601. Such a plan cannot be applied. */
  readonly snapshot?: string;
  readonly manifestDigest: string;
  /** False if a read failed. Creates are then blocked. */
  readonly complete: boolean;
  /** Whether `apply` may run it: complete, without errors, and no guard refuses. */
  readonly executable: boolean;
  readonly calls: { readonly read: CallCounts; readonly planned: CallCounts };
  readonly items: readonly Item[];
  readonly manual: readonly Manual[];
  readonly blocked: readonly Blocked[];
  readonly deferred: readonly Deferred[];
  /** Present if the plan was made with `--protect-only`. */
  readonly held?: readonly Held[];
  readonly unmanaged: Unmanaged;
  /** How many manifests of objects are only for other targets (`metadata.targets`), by kind. Present if there are any. */
  readonly elsewhere?: Readonly<Record<string, number>>;
  /** What the manifests give up since the base. Present in a complete plan with a base. */
  readonly loosened?: readonly Loosened[];
  /** What the base manifests managed and the current ones do not. Present in a plan with a base. */
  readonly released?: readonly Released[];
  /** Who reads what changes. Present if the project names a dbt manifest. */
  readonly impact?: readonly Impact[];
  readonly unverifiable: readonly Unverifiable[];
  /** Present if there are such values. */
  readonly notKept?: readonly NotKept[];
  /** Live columns that nobody has reviewed. Present if columns are reviewed, as `goneColumns`. */
  readonly newColumns?: readonly NewColumn[];
  /** Reviewed columns that the account no longer has. */
  readonly goneColumns?: readonly GoneColumn[];
  /** Integrations that the catalog does not have. Present if columns are reviewed. */
  readonly neverReviewed?: readonly NeverReviewed[];
  /** The columns of all integrations, which apply records. Present in a plan if columns are reviewed. */
  readonly seenColumns?: readonly SeenGroup[];
  /**
   * What selectors by live name cover, which apply records: by the address of the manifest, the live ids and their names when they matched.
   * Present in a plan if there are such selectors.
   */
  readonly covered?: Readonly<Record<Address, Readonly<Record<string, string>>>>;
  readonly policy: readonly PolicyFinding[];
  /** Present if exemptions let violations pass. */
  readonly exemptions?: readonly UsedExemption[];
  readonly guards: readonly GuardFinding[];
  readonly diagnostics: readonly Diagnostic[];
  readonly summary: Summary;
  readonly exit: Exit;
}

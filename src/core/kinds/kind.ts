import type { Address, Binding, Bindings, EarlierCreate, NaturalKey } from "../base/model/address.ts";
import type { ColumnReview } from "../base/model/columns.ts";
import type { JsonObject, JsonValue } from "../base/model/json/json.ts";
import type { Pointer } from "../base/model/json/pointer.ts";
import type { KeptById, KeptIntegration } from "../base/model/kept.ts";
import type { LiveSchemas } from "../base/model/live.ts";
import type { IntegrationSelector, IntegrationSpec, Manifest, Reference } from "../base/model/manifest.ts";
import type { NodePath } from "../base/model/nodes.ts";
import type { Difference, DraftCause, DraftStep, NamedObject, ReadyStep, Risk } from "../base/model/plan.ts";
import type { Problem } from "../base/model/problem.ts";
import type { Extended, ExtendedCall, List, PlannedRequest, Reads, UnreadEntry, WriteAnswer, WriteDecoder } from "../base/model/service.ts";
import type { ClientSettings } from "../base/model/settings/config.ts";
import type { Code } from "../base/model/titles.ts";
import type { AccountLists, AccountLookup } from "./lookup.ts";
import type { LabelRoots } from "./patterns/labels.ts";

/** How manifests of a kind select integrations by their names in the account. */
interface Selection {
  selectors(manifest: Manifest): readonly IntegrationSelector[];
  /** Whether manifests name the integration, so that its rename is known. */
  covers(manifest: Manifest, id: string, account: Account): boolean;
  /** What an integration loses that the manifest no longer selects: a clause. May read it. */
  lost(
    manifest: Manifest,
    id: string,
    run: { readonly account: Account; readonly reads: Reads; readonly needs: ReadNeeds },
  ): Promise<string>;
}

/** The live object of a manifest. */
export type Identity =
  | { readonly state: "found"; readonly id: string; readonly by: "pin" | "binding" | "look-up" | "recovered" | "renamed" }
  /** There is none, and the manifest says how to create it. */
  | { readonly state: "absent" }
  /** It can be looked up only after those exist. */
  | { readonly state: "waits"; readonly on: readonly Address[] }
  /** GET of the pinned or bound id returned 404. */
  | { readonly state: "gone"; readonly id: string }
  | {
      readonly state: "blocked";
      readonly code: Code;
      readonly message: string;
      readonly command?: string;
      /** The live object, if it is known, and several manifests describe it. */
      readonly id?: string;
    };

/** How integrations are called in the addresses of their schemas: see `namingOf` in select.ts. */
interface IntegrationNaming {
  /** By live id. */
  readonly ofLive: ReadonlyMap<string, string>;
  /** By the address of a manifest, whose integration may not exist yet. */
  readonly ofManifest: ReadonlyMap<Address, string>;
  /** The manifests of live integrations, by live id. */
  readonly manifests: ReadonlyMap<string, Manifest<IntegrationSpec>>;
}

/**
 * What was read of the account, with the project and the records. A value that no kind
 * changes.
 */
export interface Account {
  readonly manifests: readonly Manifest[];
  /** The manifests that belong to other targets only. */
  readonly elsewhere: ReadonlySet<Address>;
  /** While a kind identifies, only the kinds before it in the registry; later, all. */
  readonly identities: ReadonlyMap<Address, Identity>;
  /** Empty while a kind identifies. */
  readonly naming: IntegrationNaming;
  /**
   * The address, and those that stand for it in `--only`, `--exclude` and `ignore`: `Tag/pii` for its relations, `SchemaConfig/shops` for
   * the schemas of each integration that it selects.
   */
  readonly addressesOf: (address: Address) => readonly Address[];
  /** The labels of columns; absent if the project has no Classification. */
  readonly columnLabels?: LabelRoots | undefined;
  readonly list: AccountLists;
  readonly lookup: AccountLookup;
  /** Pinned and bound ids for which GET returned 404. */
  readonly goneIds: ReadonlySet<string>;
  readonly bindings: Bindings;
  readonly earlierCreates: readonly EarlierCreate[];
  /** Ids of objects whose create response an earlier run did not receive, found by reading. */
  readonly recovered: ReadonlyMap<Address, string>;
  /** Ids of integrations that this run has created; their schemas may not be discovered yet. */
  readonly fresh: ReadonlySet<string>;
  readonly taggedBy: string | undefined;
  /** The requests beyond the interface document; absent: none may be sent. */
  readonly extended?: Extended | undefined;
  /** Whether differences are only reported. Then requests may lack what only sending them needs. */
  readonly isDrift: boolean;
  /** By the address of a manifest with a selector of integrations: the ids that it has covered, and their names then. */
  readonly covered: ReadonlyMap<Address, ReadonlyMap<string, string>>;
  /** What earlier runs found kept. */
  readonly kept: KeptById;
  /** ISO 8601: when the account is compared; "" if nothing is recorded. */
  readonly now: string;
  /** What the manifests at the base have of the schemas of an integration, by its id. Absent if there is no base, or if it is not known. */
  readonly base?: { readonly isNow: boolean; readonly schemas: (liveId: string) => Unit | undefined } | undefined;
  /** Whether the run may record what it finds kept. */
  readonly isRecording: boolean;
  /** Whether an `ignore` entry covers this difference; then it is neither shown nor sent. */
  readonly ignored: (address: Address, path: Pointer) => boolean;
  /** What decides for the object at this address which of its values are sent. */
  readonly overlay: (address: Address) => Overlay;
  /** The form of a PATCH of schemas; absent: the kind's own. */
  readonly patch?: Pick<ClientSettings, "entries">;
  /** Whether to name the columns that nothing covers, instead of only counting them. */
  readonly listUnmanaged?: boolean;
  /** Which columns someone has reviewed. Absent if the project does not ask for it. */
  readonly review?: ColumnReview | undefined;
  /** The manifests that are compared; the others only resolve references. None if `isStopped`. */
  readonly comparable: readonly Manifest[];
  /** Whether nothing is compared, so that the errors of the project are all that is reported. */
  readonly isStopped: boolean;
  /** What was found before the comparison. */
  readonly problems: readonly Problem[];
  /** Lists that could not be read; nothing that needs one is planned. */
  readonly unreadLists: ReadonlySet<List>;
  /** The entries of lists that could not be read. */
  readonly unreadEntries: ReadonlyMap<List, readonly UnreadEntry[]>;
  /** Why a list may be incomplete; then nothing is created that looks missing in it. */
  readonly suspicions: readonly Suspicion[];
  /** Whether every read of lists and ids succeeded. */
  readonly isComplete: boolean;
}

/** A declared value that differs from the live one. */
export interface DifferentValue {
  readonly path: Pointer;
  readonly wanted: JsonValue;
  /** Undefined: the service does not show it. */
  readonly live: JsonValue | undefined;
  readonly risk: Risk;
  /** Whether dimsync has sent it, if the service does not show it. */
  readonly wasSent?: boolean;
  /** Whether the service says that no request changes it. */
  readonly isFixed?: boolean;
}

/** "send": it is a change. "sent": it counts as the live value. "leave": the live value is desired. */
export type Decision = "send" | "sent" | "leave";

/** Asked for each value that differs, before requests are made. */
export interface Overlay {
  readonly decide: (value: DifferentValue) => Decision;
  /** What the plan says of the values that it was asked for. */
  readonly steps: () => readonly DraftStep[];
}

export interface Suspicion {
  readonly list: List;
  /** A sentence. */
  readonly why: string;
}

/** Whether something needs the columns of this table. */
export type TableTest = (schema: string, table: string, syncMode: string | undefined) => boolean;

/** What else must be read of an object: what policies need. */
export interface ReadNeeds {
  /** Which tables of this integration policies check columns of, if replicated; undefined: none. */
  readonly policyColumns: (integrationId: string) => TableTest | undefined;
  /**
   * Called before the columns of this many tables are read with one request each. Throws
   * ServiceError if that is more than the run may send.
   */
  readonly claimColumns: (integrationId: string, tables: number) => void;
  /** Whether the integration was created a short time ago: then whatever the service answers for its schemas means that they are not there yet. */
  readonly isNew: (integrationId: string) => boolean;
}

/** What is compared as one: usually a manifest; the schemas of one integration. */
export interface Unit {
  readonly address: Address;
  readonly manifest: Manifest;
  /** Absent if the object does not exist yet. */
  readonly liveId?: string;
}

/** The desired side of one object, and its kind. */
export interface Pair {
  readonly kind: Kind;
  readonly unit: Unit;
}

/** The units of a kind's manifests, and the manifests that have none. */
export interface Units<U extends Unit> {
  readonly units: readonly U[];
  /** Of the manifests that have none: they are blocked, or wait. */
  readonly steps: readonly DraftStep[];
  readonly problems: readonly Problem[];
}

/** How large a compared object is: the live nodes of an integration's schemas, covered or not, or its fields. */
export interface LiveSize {
  /** The address of the unit. */
  readonly address: Address;
  readonly count: number;
  readonly unit: "nodes" | "fields";
  /** Of the nodes, the columns that manifests cover. */
  readonly managedColumns?: number;
}

export interface DiffResult extends Difference {
  readonly problems: readonly Problem[];
  /** What is kept of an integration, for the records. Absent if nothing is and was. */
  readonly kept?: KeptIntegration & { readonly id: string };
  /** For `schemas.conclude`. Small: it is kept until the last unit is compared. */
  readonly tally?: unknown;
  /** Absent if nothing was compared. For `maxChangedPercent`. */
  readonly size?: LiveSize;
}

export const emptyDiff: DiffResult = {
  steps: [],
  unmanagedColumns: 0,
  problems: [],
};

/**
 * Ids of live objects that a create would duplicate; for a relation, of the resource if it has the
 * tag already. "gone": the tag itself does not exist.
 */
type Existing = readonly string[] | "gone";

/** What reading a manifest needs to know about its kind. */
export interface ManifestKind {
  readonly name: string;
  /** Names of other manifests that the manifest uses. */
  references(manifest: Manifest): readonly Reference[];
  /** `lifecycle.create` of manifests that do not set it. Default: "ifMissing". */
  readonly defaultCreate?: "never";
  /** Path of a map in which all keys, at any depth, are names of the source, such as tables. */
  readonly namesBelow?: readonly string[];
  /** Whether `key` at `path` is not a secret although its name looks like one: the name of a label, for example. */
  isPlainKey?(path: readonly (string | number)[], key: string): boolean;
  /** What the schema cannot say: what the service may refuse or accept without effect, and members that need others. */
  hints?(manifest: Manifest): readonly Problem[];
  /** Why the service returns this field but the manifest can't set it, and what to write instead. Asked for unknown keys. */
  readOnlyField?(parent: Pointer, key: string): string | undefined;
}

/** How `dimsync get` reads and prints live objects. */
export interface LiveView {
  /** If it is not an object of the kind's list. `call`: an extended request that it needs. */
  readonly one?: { readonly read: (id: string, reads: Reads) => Promise<object | undefined>; readonly call?: ExtendedCall | undefined };
  /** The kind that the id belongs to, if not the kind itself. */
  readonly idOf?: string;
  /** Members to print, with dots: "source.name". */
  readonly columns: readonly string[];
  /** Additional columns for one object. */
  readonly more?: readonly string[];
  /** The rows of one object. Default: the object itself. */
  readonly rows?: (value: object) => readonly object[];
}

/** Two manifests that cannot be distinguished. */
export interface Conflict {
  readonly pair: readonly [Manifest, Manifest];
  /** Why, and what to do. */
  readonly message: string;
  /** Of what they have in common. */
  readonly pointer: Pointer;
}

/** How import writes manifests for live objects that have none. */
export interface ImportedObjects<Live extends NamedObject = NamedObject> {
  /** The live objects, if they are not those of the kind's list. */
  objects?(account: Account): readonly Live[];
  /** Why no manifest is written for an object, such as "is a draft". */
  skips?(live: Live): string | undefined;
  /** The ids of objects that are imported with this one. */
  needs?(live: Live): readonly string[];
  /** Whether a manifest that no live object is identified with describes this one. `slug`: the name that import would give it. */
  fits?(manifest: Manifest, live: Live, slug: string): boolean;
  /** What is recorded besides the id; `manifest` is absent for a new manifest. */
  record?(manifest: Manifest | undefined): Omit<Binding, "id">;
  /** A manifest that declares the live values, so that the plan after it is empty. `live` is whole. */
  manifest(live: Live, context: ImportContext): ImportedManifest;
}

export interface ImportContext {
  readonly account: Account;
  /** Of the new manifest. */
  readonly name: string;
  /** The name of the manifest that a live object has after the import, if it has one. */
  readonly nameOf: (kind: string, id: string) => string | undefined;
}

interface ImportedManifest {
  /** `lifecycle` and `spec`. */
  readonly body: JsonObject;
  /** Comment lines after it. */
  readonly after?: readonly string[];
  /** The id of the integration in whose file it belongs, if that has a manifest; absent: the file of its kind. */
  readonly integration?: string;
  /** A sentence for the user. It is shown once. */
  readonly notice?: string;
}

/**
 * One kind of manifest that describes objects in the account. Every member is pure, except those that take `reads`, which only read. A
 * kind never sends a write and never decides whether one may be sent: it returns differences and
 * requests as values.
 */
export interface Kind<U extends Unit = Unit, Live = unknown> extends ManifestKind {
  /** How `get` prints these objects; absent if it does not. */
  readonly liveView?: LiveView;
  /** The lists that comparing this manifest needs. */
  lists(manifest: Manifest, defaults: Pick<Account, "taggedBy" | "isDrift" | "extended">): readonly List[];
  /** The list in which the service shows these objects; absent if it has none (assets). */
  readonly list?: List<NamedObject>;
  /** Absent if import writes its manifests in another way, or none. */
  readonly imported?: ImportedObjects;
  identify?(manifest: Manifest, account: Account): Identity;
  /** Manifests that describe the same object, as far as the manifests and the records show it. */
  conflicts?(manifests: readonly Manifest[], bindings: Bindings): readonly Conflict[];
  /** Where a spec can have the value of a field of the live object; absent: only at the same path. */
  places?(path: Pointer): readonly Pointer[];
  /** What `bind --accept` records for a live object; absent: only the id. */
  baseline?(manifest: Manifest): Omit<Binding, "id">;
  units(manifests: readonly Manifest[], account: Account): Units<U>;
  /** Reads what comparing the unit needs beyond the lists; undefined: the object is gone. Called for units with a liveId. */
  observe?(unit: U, reads: Reads, needs: ReadNeeds): Promise<Live | undefined>;
  diff(unit: U, live: Live | undefined, account: Account): DiffResult;
  /** Absent if its manifests have no selectors of integrations. */
  readonly selection?: Selection;
  /** The live ids of the resources that the manifest relates the object to; undefined if the plan shows each relation that it does not. */
  related?(manifest: Manifest, account: Account): ReadonlySet<string> | undefined;
  /** Of the kind whose units are the schemas of integrations. */
  readonly schemas?: SchemasOf<U, Live>;
  /** Whether an object that is created as `desired` starts to replicate data at once. */
  replicatesAtOnce?(desired: JsonValue): boolean;

  /** Reads what already exists of what a POST would create. Absent if no item of this kind is a POST. */
  find?(key: NaturalKey, reads: Reads): Promise<Existing>;
  /** Absent if no item of this kind is a PUT or PATCH. */
  readonly update?: Updates<Live>;
}

/**
 * What policies, labels and reports ask of the kind whose units are the schemas of integrations. Its manifests are layers of one another,
 * so comparing one of them needs them all.
 */
interface SchemasOf<U extends Unit, Live> {
  /** The kind of its items and of the addresses of its units. */
  readonly itemKind: string;
  /** The schemas that `observe` read. */
  tree(live: Live): LiveSchemas;
  /** The value that manifests set for a field of a node, and where; undefined if they set none. */
  decision(
    unit: U,
    live: Live,
    field: { readonly path: NodePath; readonly key: "enabled" | "hashed" },
  ): { readonly value: boolean; readonly cause: DraftCause } | undefined;
  /** A text that is equal for units whose manifests say the same about integrations; labels are not part of it. */
  settings(unit: U): string;
  /**
   * The columns that the manifests of another commit keep hashed or switched off, and those of now (undefined: none) do not, although nothing is sent there.
   */
  lost(change: Omit<UnitChange<U>, "now"> & { readonly now: U | undefined }, live: Live, tests: LostTests): readonly LostProtection[];
  /** What protected a field and is gone, if what decides the field now is not new. */
  removed(
    change: UnitChange<U>,
    live: Live,
    field: { readonly path: NodePath; readonly key: "enabled" | "hashed" },
  ): DraftCause | undefined;
  /** Problems of all units together, from the tallies of those that were compared. */
  conclude(tallies: readonly unknown[]): readonly Problem[];
}

/** The manifests of one integration in another commit and now. */
export interface UnitChange<U extends Unit = Unit> {
  readonly before: U;
  readonly now: U;
}

type FieldTest = (path: NodePath, key: "enabled" | "hashed") => boolean;

export interface LostTests {
  /** What `ignore` of the config covers. */
  readonly ignored: { readonly before: FieldTest; readonly now: FieldTest };
  /** Whether the plan changes the field. */
  readonly isSent: FieldTest;
  /** Whether a column has lost the label. */
  readonly hasLost: (path: NodePath, label: string) => boolean;
}

/** What kept columns hashed or switched off, and how many of an integration. */
export interface LostProtection {
  readonly key: "enabled" | "hashed";
  readonly cause: DraftCause;
  /** The label by which it kept them, if they have lost it. */
  readonly label?: string;
  readonly columns: number;
  /** Some of the columns, or the schemas and tables that have them. */
  readonly examples: readonly NodePath[];
}

/** How the effect of a PUT or PATCH is verified. */
export interface Updates<Live> {
  /** Reads again the parts of the object that the item touches: before the write, and after a failed one. */
  reread(item: ReadyStep, reads: Reads): Promise<Live | undefined>;
  /** The live object as the JSON document into which the pointers of the item's request bodies point. */
  document(item: ReadyStep, live: Live | undefined): JsonObject;
  /** Whether a read showed the object, although responses show nothing of it: then its values verify a write. */
  isShown?(live: Live): boolean;
  /** The object as the response shows it; absent if responses show nothing of it. */
  answered?(before: Live | undefined, answer: WriteAnswer, decode: WriteDecoder): Live;
  /** As `ReadyStep.basis`, of the object now. */
  basis?(item: ReadyStep, live: Live): string | undefined;
  /** Whether a read may show a value minutes after it was accepted. */
  readonly showsLate?: true;
  /** Values other than those of the request body that differ between two readings. */
  unintended?(before: Live, after: Live, body: JsonObject): readonly Pointer[];
  /** The request as several ones with bodies of at most so many bytes, as far as that is possible: a service refused a larger one (413). */
  smaller?(request: PlannedRequest, maxBytes: number): readonly PlannedRequest[];
  /** Readable data that the object did not have before. */
  appeared?(before: Live, after: Live): readonly Pointer[];
}

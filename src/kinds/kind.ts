import type { Address } from "../model/address.ts";
import type { Binding, Bindings } from "../model/binding.ts";
import type { JsonObject } from "../model/json.ts";
import type { LiveIntegration, LiveTag, LiveUser } from "../model/live.ts";
import type { Blocked, Deferred, Difference, Item } from "../model/plan.ts";
import type { Pointer } from "../model/pointer.ts";
import type { Problem } from "../model/problem.ts";
import type { Reference, Resource } from "../model/resource.ts";
import type { Reads, WriteAnswer, WriteDecoder } from "../model/service.ts";

/** Which live object a manifest means (product §3.2). */
export type Identity =
  | { readonly state: "found"; readonly id: string; readonly by: "pin" | "binding" | "look-up" | "recovered" }
  /** There is none, and the manifest says how to create it. */
  | { readonly state: "absent" }
  /** It can't be looked up before those exist. */
  | { readonly state: "waits"; readonly on: readonly Address[] }
  /** The id that is pinned or bound answers 404. */
  | { readonly state: "gone"; readonly id: string }
  | { readonly state: "blocked"; readonly code: string; readonly message: string; readonly command?: string };

export type ListName = "integrations" | "tags" | "users";

/** All that is known when differences are made: what was read, what is bound. A value; nothing in it is changed by a kind. */
export interface AccountView {
  readonly resources: readonly Resource[];
  /** Of the kinds that come before in the registry, while one identifies; of all, afterwards. */
  readonly identities: ReadonlyMap<Address, Identity>;
  /** Empty where nothing needed the list. Objects that only a read by id showed are in it too. */
  readonly integrations: readonly LiveIntegration[];
  readonly tags: readonly LiveTag[];
  readonly users: readonly LiveUser[];
  /** Pinned and bound ids that answered 404. */
  readonly goneIds: ReadonlySet<string>;
  readonly bindings: Bindings;
  /** Ids that reading showed of creates whose answer an earlier run did not get. */
  readonly recovered: ReadonlyMap<Address, string>;
  /** Ids of integrations that this run has created: what their schemas lack may still be discovered. */
  readonly fresh: ReadonlySet<string>;
  readonly taggedBy: string | undefined;
  /** Whether a difference at this place is left to others (`ignore` in the config): neither shown nor sent. */
  readonly ignored: (address: Address, path: Pointer) => boolean;
  /** Whether a person asked for this asset's connection to be sent again. */
  readonly writeSecrets: (address: Address) => boolean;
  /** Above so many bytes the body of a PATCH is split, where it can be; absent: the kind's own limit. */
  readonly maxBodyBytes?: number | undefined;
  /** Whether the columns that nothing covers are wanted by name, not only counted. */
  readonly listUnmanaged?: boolean;
}

/** Whether a table of an integration is meant. */
export type TableTest = (schema: string, table: string, syncMode: string | undefined) => boolean;

/** What others want to know of an object while it is read anyway. */
export interface ReadNeeds {
  /** Of which tables of this integration policies judge the columns, as long as data flows from them; undefined: of none. */
  readonly judgedColumns: (integrationId: string) => TableTest | undefined;
  /** Asked before the columns of so many tables are read one request each; throws ServiceError where that is more than the run may make. */
  readonly claimColumns: (integrationId: string, tables: number) => void;
}

/** What is compared as one: usually a manifest; a schema configuration on one integration. */
export interface Unit {
  readonly address: Address;
  readonly resource: Resource;
  /** Absent where the object does not exist yet. */
  readonly liveId?: string;
}

/** The units of a kind's manifests, and what can't become one. */
export interface Units<U extends Unit> {
  readonly units: readonly U[];
  readonly blocked: readonly Blocked[];
  readonly deferred: readonly Deferred[];
  readonly problems: readonly Problem[];
}

export interface DiffResult extends Difference {
  readonly problems: readonly Problem[];
  /** What only all units together can be judged by, for the kind's own `conclude`: small, since it is kept until the last unit is compared. */
  readonly tally?: unknown;
}

export const emptyDiff: DiffResult = {
  items: [],
  manual: [],
  blocked: [],
  deferred: [],
  unverifiable: [],
  unmanagedColumns: 0,
  problems: [],
};

/**
 * One kind of manifest. All members but `observe` and `reread` are pure; those two only read. A kind never sends a write and never decides
 * whether one may be sent: it returns differences and calls as values.
 */
export interface Kind<U extends Unit = Unit, Live = unknown> {
  readonly name: string;
  /** Names that the manifest uses of other manifests. */
  references(resource: Resource): readonly Reference[];
  /** The lists that comparing this manifest takes. */
  lists(resource: Resource, defaults: { readonly taggedBy: string | undefined }): readonly ListName[];
  /** Whose ids can be checked against a list; absent where the interface has none (assets). */
  readonly listedIn?: "integrations" | "tags";
  identify?(resource: Resource, world: AccountView): Identity;
  /** What is put on record where a person accepts that the live object is as declared; absent where nothing is. */
  baseline?(resource: Resource): Omit<Binding, "id">;
  units(resources: readonly Resource[], world: AccountView): Units<U>;
  /** What comparing the unit takes beyond the lists; undefined: the object is gone. Called for units with a liveId. */
  observe?(unit: U, reads: Reads, needs: ReadNeeds): Promise<Live | undefined>;
  diff(unit: U, live: Live | undefined, world: AccountView): DiffResult;
  /** What is wrong over all units, from the tallies of those that were compared. */
  conclude?(tallies: readonly unknown[]): readonly Problem[];

  /** The same object read afresh, as far as the item touches it: just before a write, and to settle one. */
  reread(item: Item, reads: Reads): Promise<Live | undefined>;
  /** The live object as the document that the pointers of the item's request bodies point into; for create and relate, of what `observed` has. */
  document(item: Item, live: Live | undefined): JsonObject;
  /** What the answer to a PUT or PATCH shows of the object; undefined where it shows nothing. */
  answered?(before: Live | undefined, answer: WriteAnswer, decode: WriteDecoder): Live | undefined;
  /** Nodes beside the `sent` ones that differ between two readings. */
  unintended?(before: Live, after: Live, sent: ReadonlySet<Pointer>): readonly Pointer[];
}

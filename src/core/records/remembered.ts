import type { Address } from "../base/model/address.ts";
import { type JsonValue, sameJson } from "../base/model/json/json.ts";
import { type KeptJson, nothingKept } from "../base/model/kept.ts";
import { everyName } from "../base/model/maps.ts";
import { differsInSpace } from "../base/text/values.ts";

/** Values by address, then by a key within the object. Maps, because names of an account may be `__proto__`. */
export type ByAddress<T> = ReadonlyMap<Address, ReadonlyMap<string, T>>;

/** A value that the service accepted and did not show afterwards. */
export interface RememberedValue {
  readonly wanted: JsonValue;
  /** What the account has instead; null if it shows nothing. */
  readonly live: JsonValue;
  /** ISO 8601: when it was noticed first. */
  readonly since: string;
  /** How many applies found that. */
  readonly times: number;
}

/** Whether the service does not keep it: once may be a slow read or a lost request. White space at the ends is certain at once. */
export const isNotKept = ({ times, wanted, live }: RememberedValue): boolean => times > 1 || differsInSpace(wanted, live);

/** The commit whose manifests the account matched when an apply ended: nothing failed, waited or was left out. */
export interface AppliedCommit {
  /** Its full id. */
  readonly commit: string;
  /** Of the manifests with the variables of that run. */
  readonly manifestDigest: string;
  readonly runId: string;
  /** ISO 8601 */
  readonly at: string;
}

/** What a person has given up with `dimsync resolve`. */
export interface GivenUp {
  /** An address, and the path of a node below it: "Schemas/orders public.users.email". */
  readonly what: string;
  readonly reason: string;
  /** ISO 8601 */
  readonly at: string;
}

/** What runs have learned about objects of the account, for the next ones. */
interface Remembered {
  /** By the address of a SchemaConfig or Tag: the live ids that its selector covered, each with its name in the account. */
  readonly covered: ByAddress<string>;
  /** By address and path: values that the service accepted and did not keep. */
  readonly notKept: ByAddress<RememberedValue>;
}

export const rememberedParts = everyName<keyof Remembered>({ covered: true, notKept: true });

/** Everything that a run may remember, all of it optional. */
export interface Facts extends Partial<Remembered> {
  readonly kept?: KeptJson;
  readonly commit?: AppliedCommit;
  readonly givenUp?: GivenUp;
}

/** What the records remember. */
export interface Memory extends Remembered {
  /** What manifests keep unreadable in the account. */
  readonly kept: KeptJson;
  /** The last ones, in order. */
  readonly givenUp: readonly GivenUp[];
  /** The commit that was applied last. Absent if no run has recorded one. */
  readonly appliedCommit?: AppliedCommit | undefined;
}

export const noMemory: Memory = { kept: nothingKept, givenUp: [], covered: new Map(), notKept: new Map() };

/** The memory with the facts. The same object if they are known already. */
export function remembering<M extends Memory>(known: M, { kept = known.kept, givenUp, commit, covered, notKept }: Facts): M {
  const next: { readonly [Part in keyof Required<Memory>]: Memory[Part] } = {
    kept: sameJson(known.kept, kept) ? known.kept : kept,
    givenUp: givenUp === undefined || known.givenUp.some((one) => sameJson(one, givenUp)) ? known.givenUp : [...known.givenUp, givenUp],
    appliedCommit: sameJson(known.appliedCommit, commit) ? known.appliedCommit : (commit ?? known.appliedCommit),
    covered: updated(known.covered, covered),
    notKept: updated(known.notKept, notKept),
  };
  const names = Object.keys(next) as readonly (keyof Memory)[];
  return names.every((name) => next[name] === known[name]) ? known : { ...known, ...next };
}

/** With the values of the addresses in `news`, each as a whole; an empty map removes the address. The same object if nothing changes. */
function updated<T>(known: ByAddress<T>, news: ByAddress<T> = new Map()): ByAddress<T> {
  const isKnown = ([address, values]: readonly [Address, ReadonlyMap<string, T>]): boolean => {
    const before = known.get(address) ?? new Map<string, T>();
    return before.size === values.size && [...values].every(([key, value]) => before.has(key) && sameJson(before.get(key), value));
  };
  if ([...news].every(isKnown)) return known;
  const all = new Map(known);
  for (const [address, values] of news) {
    if (values.size === 0) all.delete(address);
    else all.set(address, values);
  }
  return all;
}

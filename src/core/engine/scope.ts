import { kinds } from "../kinds/index.ts";
import type { Account, Kind, Pair } from "../kinds/kind.ts";
import { nameMatcher, namesMatcher } from "../kinds/patterns/names.ts";
import { type Address, isRelation, kindOf, mayMatchKind, objectAddress, objectPattern } from "../model/address.ts";
import { isObject } from "../model/json/json.ts";
import { fromPointer, type Pointer, toPointer } from "../model/json/pointer.ts";
import type { Manifest } from "../model/manifest.ts";
import { below, type Problem, problemAt } from "../model/problem.ts";
import type { IgnoreEntry } from "../model/settings/config.ts";
import { didYouMean } from "../text/suggest.ts";
import { unmatchedPattern } from "./checks/addresses.ts";

/** What of an account a scope needs. Without it, only a relation has another address, that of its tag. */
type Addresses = Pick<Account, "addressesOf">;

const unread: Addresses = { addressesOf: (address) => [address, objectAddress(address)] };

/** The addresses that a run covers. */
export interface Scope {
  /** The globs that it was made of. */
  readonly patterns?: { readonly only: readonly string[]; readonly exclude: readonly string[] };
  /** Whether an item, manual step, blocked or deferred entry at this address is in scope. */
  readonly item: (address: Address, account?: Addresses) => boolean;
  /**
   * Whether the unit must be read and compared: it or a part of it (a relation of a tag) is in
   * scope.
   */
  readonly unit: (address: Address, account: Addresses) => boolean;
  /** Whether the manifest may have units in it. The addresses of an integration's schemas are only known after reading. */
  readonly manifest: (address: Address, kind: Kind) => boolean;
  /**
   * Patterns that match none of these addresses, of all manifests and of the compared units. Without this, a mistyped `Schemas/shard-l`
   * would look like an account without differences.
   */
  readonly problems: (addresses: readonly Address[]) => readonly Problem[];
}

export const everything: Scope = { item: () => true, unit: () => true, manifest: () => true, problems: () => [] };

/**
 * From `--only` and `--exclude` globs. A glob that names a tag includes its relations, one that names a SchemaConfig the schemas of
 * every integration that it selects.
 */
export function scopeOf(only: readonly string[], exclude: readonly string[], matcher: Matcher): Scope {
  const included = only.length === 0 ? () => true : matcher(only);
  const excluded = exclude.length === 0 ? () => false : matcher(exclude);
  const item: Scope["item"] = (address, { addressesOf } = unread) => {
    const addresses = addressesOf(address);
    return included(addresses) && !excluded(addresses);
  };
  const tags = only.filter((pattern) => objectPattern(pattern) !== pattern).map(objectPattern);
  const isTag = matcher(tags);
  const hasRelation = (address: Address): boolean => tags.length > 0 && isTag([address]) && !excluded([address]);
  return {
    patterns: { only, exclude },
    item,
    unit: (address, account) => item(address, account) || hasRelation(address),
    manifest: (address, { schemas }) =>
      item(address) || hasRelation(address) || (schemas !== undefined && !excluded([address]) && only.some(mayMatchKind(schemas.itemKind))),
    problems: (addresses) => [
      ...only.flatMap((pattern) => unmatchedPattern("--only", pattern, addresses)),
      ...exclude.flatMap((pattern) => unmatchedPattern("--exclude", pattern, addresses)),
    ],
  };
}

type Matcher = (patterns: readonly string[]) => (names: readonly string[]) => boolean;

/** Exactly these addresses, except those that are done. */
export function scopeOfAddresses(addresses: ReadonlySet<Address>, settled: ReadonlySet<Address>): Scope {
  const owners = new Set([...addresses].filter(isRelation).map(objectAddress));
  const kindsOf = new Set([...addresses].map(kindOf));
  return {
    // A relation that waited for an id gets another address once the id is known.
    item: (address) => !settled.has(address) && (addresses.has(address) || (isRelation(address) && owners.has(objectAddress(address)))),
    unit: (address) => addresses.has(address) || owners.has(address),
    manifest: (address, { schemas }) =>
      addresses.has(address) || owners.has(address) || (schemas !== undefined && kindsOf.has(schemas.itemKind)),
    problems: () => [],
  };
}

/** The manifests that can have units in scope: of a layered kind, all of them if any is. */
export function manifestsInScope(manifests: readonly Manifest[], scope: Scope): readonly Manifest[] {
  return kinds.flatMap((kind) => {
    const ofKind = manifests.filter((manifest) => manifest.kind === kind.name);
    const named = ofKind.filter(({ address }) => scope.manifest(address, kind));
    return kind.schemas !== undefined && named.length > 0 ? ofKind : named;
  });
}

/** Whether dimsync ignores a difference at this path of an object with these addresses: plan and apply then neither show nor send it. */
export type Ignored = (addresses: readonly Address[], path: Pointer) => boolean;

/** Whether the entry is in effect on that day. */
export const isCurrent = ({ until }: IgnoreEntry, today: string): boolean => until === undefined || until >= today;

/**
 * The `ignore` entries of the config that have not expired on that day, and a warning for each that
 * has. An entry's address may be a glob, and includes what `Account.addressesOf` says. Its path includes
 * everything below it, with a glob for each segment: `/schemas/*` + `/tables/audit_*`.
 */
export function ignoring(
  entries: readonly IgnoreEntry[],
  today: string,
): { readonly ignored: Ignored | undefined; readonly problems: readonly Problem[] } {
  const expired = entries.filter((entry) => !isCurrent(entry, today));
  const tests = entries
    .filter((entry) => isCurrent(entry, today))
    .map(({ address, path }) => ({
      address: namesMatcher([address]),
      segments: fromPointer(path).map((segment) => nameMatcher([segment])),
    }));
  const ignored: Ignored = (addresses, path) => {
    const names = fromPointer(path);
    return tests.some(
      ({ address, segments }) =>
        address(addresses) && segments.every((matches, index) => names[index] !== undefined && matches(names[index])),
    );
  };
  return {
    ignored: tests.length === 0 ? undefined : ignored,
    problems: expired.map(({ address, path, reason, until, place }) => {
      const message = `Differences of ${address} at ${path === "" ? "any path" : path} were ignored until ${until} (${reason}). They are shown and applied again. Remove the entry from dimsync.yaml, or set another date for the entry.`;
      return problemAt(below(place, ["until"]), { code: "W_UNUSED", severity: "warning", message, address });
    }),
  };
}

/** What of an object an `ignore` entry does not find, and what is there instead. */
interface Miss {
  readonly address: Address;
  /** The part of the entry's path above the missing name. */
  readonly above: Pointer;
  readonly name: string;
  readonly names: readonly string[];
}

/** The paths of `ignore` entries, looked for in the compared objects while these are in memory. */
export interface IgnoredPaths {
  readonly look: (unit: Pair, live: unknown, account: Addresses & Pick<Account, "list">) => void;
  /** Entries that match an object, and whose path no such object has. */
  readonly missing: ReadonlyMap<IgnoreEntry, Miss>;
}

export function ignoredPaths(entries: readonly IgnoreEntry[], today: string): IgnoredPaths {
  const missing = new Map<IgnoreEntry, Miss>();
  const open = new Map(
    entries
      .filter((entry) => isCurrent(entry, today) && entry.path !== "" && !isRelation(entry.address))
      .map((entry) => [entry, { isOf: namesMatcher([entry.address]), names: fromPointer(entry.path) }]),
  );
  return {
    missing,
    look(one, read, { addressesOf, list }) {
      if (open.size === 0) return;
      const { kind, unit } = one;
      const live = read ?? (kind.list === undefined ? undefined : list(kind.list).byId.get(unit.liveId ?? ""));
      const addresses = addressesOf(unit.address);
      for (const [entry, { isOf, names }] of open) {
        if (!isOf(addresses)) continue;
        const miss = missIn(one, live, names);
        if (miss === undefined) {
          open.delete(entry);
          missing.delete(entry);
        } else if (miss.above.length > (missing.get(entry)?.above.length ?? -1)) missing.set(entry, miss);
      }
    },
  };
}

/** Members of a node that a response may lack. */
const nodeFields: ReadonlySet<string> = new Set(["enabled", "hashed", "syncMode", "cursorField"]);

/** Undefined if the object, or what its manifest declares, has the path, or if that is not known. */
function missIn({ kind, unit: { address, manifest } }: Pair, live: unknown, names: readonly string[]): Miss | undefined {
  if (live === undefined) return undefined;
  const { spec } = manifest;
  const isNode = kind.schemas !== undefined && nodeFields.has(names.at(-1) ?? "");
  const roots =
    kind.schemas === undefined
      ? [live, spec, { spec }, ...Object.values(spec as object).filter(isObject)]
      : [{ schemas: kind.schemas.tree(live) }];
  const matchers = (isNode ? names.slice(0, -1) : names).map((name) => nameMatcher([name]));
  const misses = roots.map((root) => depthOfMiss(root, matchers, 0));
  if (misses.includes(undefined)) return undefined;
  const [deepest = { depth: 0, names: [] }] = misses.filter((one) => one !== undefined).sort((a, b) => b.depth - a.depth);
  return { address, above: toPointer(names.slice(0, deepest.depth)), name: names[deepest.depth] ?? "", names: deepest.names };
}

function depthOfMiss(
  value: unknown,
  matchers: readonly ((name: string) => boolean)[],
  depth: number,
): { readonly depth: number; readonly names: readonly string[] } | undefined {
  const matches = matchers[depth];
  // An absent value is unknown, and the entries of a list have no names.
  if (matches === undefined || value === undefined || Array.isArray(value)) return undefined;
  const members = isObject(value) ? Object.entries(value) : [];
  let deepest = { depth, names: members.map(([name]) => name) as readonly string[] };
  for (const [, member] of members.filter(([name]) => matches(name))) {
    const miss = depthOfMiss(member, matchers, depth + 1);
    if (miss === undefined) return undefined;
    if (miss.depth > deepest.depth) deepest = miss;
  }
  return deepest;
}

/** The paths of `ignore` entries that no object has. */
export const unmatchedPaths = (missing: IgnoredPaths["missing"]): readonly Problem[] =>
  [...missing].map(([{ place, reason }, { address, above, name, names }]) => {
    const where = above === "" ? "" : ` at ${above}`;
    const message = `${address} has no ${JSON.stringify(name)}${where}, so the entry ignores nothing (${reason}).${didYouMean(name, names)} Correct the path, or remove the entry.`;
    return problemAt(below(place, ["path"]), { code: "W_UNUSED", severity: "warning", message });
  });

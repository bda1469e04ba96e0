import { type Address, isRelation, kindOf, mayMatchKind, objectAddress, objectPattern } from "../base/model/address.ts";
import { fromPointer, type Pointer } from "../base/model/json/pointer.ts";
import type { Manifest } from "../base/model/manifest.ts";
import { below, type Problem, problemAt } from "../base/model/problem.ts";
import type { IgnoreEntry } from "../base/model/settings/config.ts";
import type { Account, Kind } from "../kinds/index.ts";
import { kinds, nameMatcher, namesMatcher } from "../kinds/index.ts";
import { unmatchedPattern } from "./checks/addresses.ts";

/** What of an account a scope needs. Without it, only a relation has another address, that of its tag. */
type Addresses = Pick<Account, "addressesOf">;

const unread: Addresses = { addressesOf: (address) => [address, objectAddress(address)] };

/** The addresses that a run covers. */
export interface Scope {
  /** The globs that it was made of. */
  readonly patterns?: { readonly only: readonly string[]; readonly exclude: readonly string[] };
  /** Whether a step at this address is in scope. */
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

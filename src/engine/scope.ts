import { kinds } from "../kinds/index.ts";
import { nameMatcher, namesMatcher } from "../kinds/patterns/names.ts";
import { type Address, manifestAddress } from "../model/address.ts";
import { fromPointer, type Pointer } from "../model/json/pointer.ts";
import type { Problem } from "../model/problem.ts";
import type { Resource } from "../model/resource.ts";
import type { IgnoreEntry } from "../model/settings/config.ts";
import { titles } from "../model/titles.ts";
import { didYouMean } from "../text/suggest.ts";

/** The addresses that a run covers. */
export interface Scope {
  /** Whether an item, manual step, blocked or deferred entry at this address is in scope. */
  readonly item: (address: Address) => boolean;
  /**
   * Whether the unit must be read and compared: it or a part of it (a relation of a tag) is in
   * scope.
   */
  readonly unit: (address: Address) => boolean;
  /** Whether the manifest at this address may have units in it, whose addresses are known only after reading (`SchemaConfig/shops@…`). */
  readonly manifest: (address: Address) => boolean;
  /**
   * Patterns that match nothing. Known once the parts of the compared manifests are known. Without
   * this, a mistyped `SchemaConfig/shops@shard-l` would look like an account without differences.
   */
  readonly problems: (manifests: readonly Address[], parts: readonly Address[]) => readonly Problem[];
}

export const everything: Scope = { item: () => true, unit: () => true, manifest: () => true, problems: () => [] };

/**
 * From `--only` and `--exclude` globs. A glob that names a manifest includes all its parts:
 * `Tag/pii` includes its relations, `SchemaConfig/shops` every integration.
 */
export function scopeOf(only: readonly string[], exclude: readonly string[], matcher: Matcher): Scope {
  const included = only.length === 0 ? () => true : matcher(only);
  const excluded = exclude.length === 0 ? () => false : matcher(exclude);
  const item = (address: Address): boolean => {
    const names = [address, manifestAddress(address)];
    return included(names) && !excluded(names);
  };
  const owners = matcher(only.flatMap((pattern) => (pattern.includes("#") ? [pattern.slice(0, pattern.indexOf("#"))] : [])));
  const unit = (address: Address): boolean =>
    item(address) || (only.some((pattern) => pattern.includes("#")) && owners([address]) && !excluded([address]));
  // A glob can only match an address that begins with `TEXT@` if its literal prefix is a prefix of
  // that text, or the other way round.
  const beginnings = only.map((pattern) => pattern.slice(0, /[*?[{!\\]|$/u.exec(pattern)?.index));
  return {
    item,
    unit,
    manifest: (address) =>
      unit(address) ||
      (!excluded([address]) && beginnings.some((text) => text.startsWith(`${address}@`) || `${address}@`.startsWith(text))),
    problems: (manifests, parts) => [
      ...only.flatMap((pattern) => unmatchedPattern("--only", pattern, manifests, parts, matcher)),
      ...exclude.flatMap((pattern) => unmatchedPattern("--exclude", pattern, manifests, parts, matcher)),
    ],
  };
}

type Matcher = (patterns: readonly string[]) => (names: readonly string[]) => boolean;

/** Patterns of whole manifests are checked before anything is read. */
function unmatchedPattern(
  flag: string,
  pattern: string,
  manifests: readonly Address[],
  parts: readonly Address[],
  matcher: Matcher,
): readonly Problem[] {
  const at = pattern.indexOf("@");
  if (at === -1) return [];
  const isOwner = matcher([pattern.slice(0, at)]);
  const isMatch = matcher([pattern.replace(/#.*$/su, "")]);
  if (!manifests.some((address) => isOwner([address])) || parts.some((address) => isMatch([address]))) return [];
  const actual = parts.find((address) => address.endsWith(pattern.slice(at)));
  const hint =
    actual === undefined
      ? didYouMean(pattern, parts)
      : ` The address for ${pattern.slice(at + 1)} is ${actual}: if several SchemaConfigs select an integration, its address has the name of the one with the highest priority.`;
  return [
    {
      code: "E_UNKNOWN_ADDRESS",
      severity: "error",
      summary: titles.E_UNKNOWN_ADDRESS,
      message: `${flag} ${JSON.stringify(pattern)} matches nothing that the manifests declare for this account.${hint}`,
    },
  ];
}

/** Exactly these addresses, except those that are done. */
export function scopeOfAddresses(addresses: ReadonlySet<Address>, settled: ReadonlySet<Address>): Scope {
  const owners = new Set([...addresses].filter((address) => address.includes("#")).map(manifestAddress));
  const manifests = new Set([...addresses].map(manifestAddress));
  return {
    // A relation that waited for an id gets another address once the id is known.
    item: (address) => !settled.has(address) && (addresses.has(address) || (address.includes("#") && owners.has(manifestAddress(address)))),
    unit: (address) => addresses.has(address) || owners.has(address),
    manifest: (address) => manifests.has(address),
    problems: () => [],
  };
}

/** The manifests that can have units in scope: of a layered kind, all of them if any is. */
export function manifestsInScope(resources: readonly Resource[], scope: Scope): readonly Resource[] {
  const named = new Set(resources.filter(({ address }) => scope.manifest(address)));
  return kinds.flatMap(({ name, isLayered }) => {
    const ofKind = resources.filter(({ kind }) => kind === name);
    return isLayered === true && ofKind.some((resource) => named.has(resource)) ? ofKind : ofKind.filter((resource) => named.has(resource));
  });
}

/**
 * Whether dimsync ignores a difference at this path: plan and apply then neither show nor send it.
 */
export type Ignored = (address: Address, path: Pointer) => boolean;

/**
 * The `ignore` entries of the config that have not expired on that day, and a warning for each that
 * has. An entry's address may be a glob and includes all parts of a manifest. Its path includes
 * everything below it, with a glob for each segment: `/schemas/*` + `/tables/audit_*`.
 */
export function ignoring(
  entries: readonly IgnoreEntry[],
  today: string,
): { readonly ignored: Ignored; readonly problems: readonly Problem[] } {
  const expired = entries.filter(({ until }) => until !== undefined && until < today);
  const tests = entries
    .filter((entry) => !expired.includes(entry))
    .map(({ address, path }) => ({
      address: namesMatcher([address]),
      segments: fromPointer(path).map((segment) => nameMatcher([segment])),
    }));
  return {
    ignored: (address, path) => {
      if (tests.length === 0) return false;
      const names = fromPointer(path);
      return tests.some(
        (test) =>
          test.address([address, manifestAddress(address)]) &&
          test.segments.every((matches, index) => names[index] !== undefined && matches(names[index])),
      );
    },
    problems: expired.map(({ address, path, reason, until, place }) => ({
      code: "W_IGNORE_EXPIRED",
      severity: "warning",
      summary: titles.W_IGNORE_EXPIRED,
      message: `Differences of ${address} at ${path === "" ? "any path" : path} were ignored until ${until} (${reason}). They are shown and applied again. Remove the entry from dimsync.yaml, or set another date for the entry.`,
      address,
      ...(place === undefined ? {} : { place: { ...place, pointer: `${place.pointer}/until` } }),
    })),
  };
}

import { kinds } from "../kinds/index.ts";
import { nameMatcher, namesMatcher } from "../kinds/patterns/names.ts";
import { type Address, manifestAddress } from "../model/address.ts";
import type { IgnoreEntry } from "../model/config.ts";
import { fromPointer, type Pointer } from "../model/pointer.ts";
import type { Problem } from "../model/problem.ts";
import type { Resource } from "../model/resource.ts";
import { didYouMean } from "../text/suggest.ts";

/** Which addresses a run is about. */
export interface Scope {
  /** Whether an item, a manual step, something blocked or deferred at this address belongs to it. */
  readonly item: (address: Address) => boolean;
  /** Whether the unit has to be read and compared: it or a part of it (a relation of a tag) belongs to it. */
  readonly unit: (address: Address) => boolean;
  /** Whether the manifest at this address may have units in it, whose addresses are known only after reading (`SchemaConfig/shops@…`). */
  readonly manifest: (address: Address) => boolean;
  /**
   * What is wrong with it, once it is known which parts the compared manifests have: a mistyped `SchemaConfig/shops@shard-l` would else look like an
   * account that needs nothing.
   */
  readonly problems: (manifests: readonly Address[], parts: readonly Address[]) => readonly Problem[];
}

export const everything: Scope = { item: () => true, unit: () => true, manifest: () => true, problems: () => [] };

/** From `--only` and `--exclude` globs. One that names a manifest means all its parts: `Tag/pii` its relations, `SchemaConfig/shops` every integration. */
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
  // A glob can match an address that begins with `TEXT@` only where its literal beginning agrees with that text, as far as both go.
  const beginnings = only.map((pattern) => pattern.slice(0, /[*?[{!\\]|$/u.exec(pattern)?.index));
  return {
    item,
    unit,
    manifest: (address) =>
      unit(address) ||
      (!excluded([address]) && beginnings.some((text) => text.startsWith(`${address}@`) || `${address}@`.startsWith(text))),
    problems: (manifests, parts) => [
      ...only.flatMap((pattern) => idle("--only", pattern, manifests, parts, matcher)),
      ...exclude.flatMap((pattern) => idle("--exclude", pattern, manifests, parts, matcher)),
    ],
  };
}

type Matcher = (patterns: readonly string[]) => (names: readonly string[]) => boolean;

/** Patterns of whole manifests are looked at before anything is read. */
function idle(
  flag: string,
  pattern: string,
  manifests: readonly Address[],
  parts: readonly Address[],
  matcher: Matcher,
): readonly Problem[] {
  const at = pattern.indexOf("@");
  if (at === -1) return [];
  const isOwner = matcher([pattern.slice(0, at)]);
  const isMeant = matcher([pattern.replace(/#.*$/su, "")]);
  if (!manifests.some((address) => isOwner([address])) || parts.some((address) => isMeant([address]))) return [];
  const twin = parts.find((address) => address.endsWith(pattern.slice(at)));
  const hint =
    twin === undefined
      ? didYouMean(pattern, parts)
      : ` The one of ${pattern.slice(at + 1)} is ${twin}: where several configurations select an integration, the one with the highest priority gives the name.`;
  return [
    {
      code: "E_UNKNOWN_ADDRESS",
      severity: "error",
      summary: "Unknown address",
      message: `${flag} ${JSON.stringify(pattern)} matches nothing that the manifests make of this account.${hint}`,
    },
  ];
}

/** Exactly these addresses, without those that are settled. */
export function scopeOfAddresses(addresses: ReadonlySet<Address>, settled: ReadonlySet<Address>): Scope {
  const owners = new Set([...addresses].filter((address) => address.includes("#")).map(manifestAddress));
  const manifests = new Set([...addresses].map(manifestAddress));
  return {
    // A relation that waited for an id has another address once the id is there.
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

/** Whether a difference at this place is not dimsync's business: plan and apply then neither show nor send it. */
export type Ignored = (address: Address, path: Pointer) => boolean;

/**
 * The `ignore` entries of the config that still hold on the day (product §2.1), and a warning for each that does not. An entry's address may be a glob
 * and means all parts of a manifest; its path means everything below it, with a glob for each segment: `/schemas/*` + `/tables/audit_*`.
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
      summary: "Ignore entry expired",
      message: `Differences of ${address} at ${path === "" ? "any path" : path} were ignored until ${until} (${reason}). They are shown and applied again; remove the entry from dimsync.yaml, or give it another day.`,
      address,
      ...(place === undefined ? {} : { place: { ...place, pointer: `${place.pointer}/until` } }),
    })),
  };
}

import type { Address } from "../model/address.ts";
import { manifestAddress } from "../model/address.ts";

/** Which addresses a run is about. */
export interface Scope {
  /** Whether an item, a manual step, something blocked or deferred at this address belongs to it. */
  readonly item: (address: Address) => boolean;
  /** Whether the unit has to be read and compared: it or a part of it (a relation of a tag) belongs to it. */
  readonly unit: (address: Address) => boolean;
  /** Whether the manifest at this address may have units in it, whose addresses are known only after reading (`SchemaConfig/shops@…`). */
  readonly manifest: (address: Address) => boolean;
}

export const everything: Scope = { item: () => true, unit: () => true, manifest: () => true };

/** From `--only` and `--exclude` globs. One that names a manifest means all its parts: `Tag/pii` its relations, `SchemaConfig/shops` every integration. */
export function scopeOf(
  only: readonly string[],
  exclude: readonly string[],
  matcher: (patterns: readonly string[]) => (names: readonly string[]) => boolean,
): Scope {
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
  };
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
  };
}

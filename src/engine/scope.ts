import type { Address } from "../model/address.ts";
import { manifestAddress } from "../model/address.ts";

/** Which addresses a run is about. */
export interface Scope {
  /** Whether an item, a manual step, something blocked or deferred at this address belongs to it. */
  readonly item: (address: Address) => boolean;
  /** Whether the unit has to be read and compared: it or a part of it (a relation of a tag) belongs to it. */
  readonly unit: (address: Address) => boolean;
}

export const everything: Scope = { item: () => true, unit: () => true };

/** From `--only` and `--exclude` globs. One that names a manifest means all its parts: `Tag/pii` its relations, `SchemaConfig/shops` every integration. */
export function scopeOf(
  only: readonly string[],
  exclude: readonly string[],
  matcher: (patterns: readonly string[]) => (text: string) => boolean,
): Scope {
  const included = only.length === 0 ? () => true : matcher(only);
  const excluded = exclude.length === 0 ? () => false : matcher(exclude);
  const item = (address: Address): boolean => {
    const whole = manifestAddress(address);
    return (included(address) || included(whole)) && !excluded(address) && !excluded(whole);
  };
  const owners = matcher(only.flatMap((pattern) => (pattern.includes("#") ? [pattern.slice(0, pattern.indexOf("#"))] : [])));
  return {
    item,
    unit: (address) => item(address) || (only.some((pattern) => pattern.includes("#")) && owners(address) && !excluded(address)),
  };
}

/** Exactly these addresses, without those that are settled. */
export function scopeOfAddresses(addresses: ReadonlySet<Address>, settled: ReadonlySet<Address>): Scope {
  const owners = new Set([...addresses].filter((address) => address.includes("#")).map(manifestAddress));
  return {
    // A relation that waited for an id has another address once the id is there.
    item: (address) => !settled.has(address) && (addresses.has(address) || (address.includes("#") && owners.has(manifestAddress(address)))),
    unit: (address) => addresses.has(address) || owners.has(address),
  };
}

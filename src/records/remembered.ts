import type { Address } from "../model/address.ts";
import type { JsonValue } from "../model/json/json.ts";

/** Values by address, then by a key within the object. Maps, because names of an account may be `__proto__`. */
export type ByAddress<T> = ReadonlyMap<Address, ReadonlyMap<string, T>>;

/** A value that the service accepted and did not keep. It is not sent again until the manifest or the account changes there. */
export interface NotKept {
  readonly wanted: JsonValue;
  /** What the account has instead; null if nothing is shown. */
  readonly live: JsonValue;
  /** ISO 8601: when that was noticed. */
  readonly since: string;
}

/** A value that was sent although the account does not show it. */
export interface SentValue {
  readonly value: JsonValue;
  /** ISO 8601 */
  readonly at: string;
}

/** What runs have learned about objects of the account. */
export interface Remembered {
  /** By the address of a SchemaConfig or Tag: the live ids that its selector covered, with the name of each in the account. */
  readonly covered: ByAddress<string>;
  /** By address and path: values that the service does not keep. */
  readonly notKept: ByAddress<NotKept>;
  /** By address and path of a table: the cursor column that the service has shown. */
  readonly cursors: ByAddress<string>;
  /** By address and path: protecting values that were sent, and whose live value is unknown. */
  readonly sentValues: ByAddress<SentValue>;
}

export const rememberedParts = ["covered", "notKept", "cursors", "sentValues"] as const;

export const nothingRemembered: Remembered = { covered: new Map(), notKept: new Map(), cursors: new Map(), sentValues: new Map() };

/** The known values with those of the addresses in `news`, each as a whole; an empty map removes the address. */
export function updated<T>(known: ByAddress<T>, news: ByAddress<T>): ByAddress<T> {
  const all = new Map(known);
  for (const [address, values] of news) {
    if (values.size === 0) all.delete(address);
    else all.set(address, values);
  }
  return all;
}

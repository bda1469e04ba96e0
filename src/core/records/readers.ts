import { isObject, type JsonValue, own, setOwn } from "../base/model/json/json.ts";

/** A stored text cannot be understood. The message is a clause that says why. */
export class ContentError extends Error {
  override readonly name = "ContentError";
}

/** Returns what of a value is kept, whatever else an object has. Throws ContentError. */
export type Reader<T> = (value: unknown) => T;

export const text: Reader<string> = (value) => {
  if (typeof value !== "string") throw new ContentError(`${shown(value)} must be a string`);
  return value;
};

export const count: Reader<number> = (value) => {
  if (typeof value !== "number" || !Number.isFinite(value)) throw new ContentError(`${shown(value)} must be a number`);
  return value;
};

export const optional =
  <T>(read: Reader<T>): Reader<T | undefined> =>
  (value) =>
    value === undefined ? undefined : read(value);

/** The same object if nothing of it is left out. */
export const listOf =
  <T>(read: Reader<T>): Reader<readonly T[]> =>
  (value) => {
    if (!Array.isArray(value)) throw new ContentError("a list is missing");
    const items = value.map((item: unknown) => read(item));
    return items.every((item, index) => item === value[index]) ? (value as readonly T[]) : items; // each is what the reader returned
  };

/** A map of such values. The same object if nothing of it is left out: records have thousands. */
export const mapOf =
  <T>(read: Reader<T>): Reader<Readonly<Record<string, T>>> =>
  (value) => {
    if (!isObject(value)) throw new ContentError("a map is missing");
    const copy: Record<string, T> = {};
    // Each member is what the reader of its type returned.
    if (Object.keys(value).every((key) => read(value[key]) === value[key])) return value as Readonly<Record<string, T>>;
    for (const key of Object.keys(value)) setOwn(copy, key, read(value[key]));
    return copy;
  };

/** A map with these members. The same object if nothing of it is left out. */
export const members = <T extends object>(readers: { readonly [K in keyof T]-?: Reader<T[K]> }): Reader<T> => {
  const known = Object.entries<Reader<unknown>>(readers);
  return (value) => {
    if (!isObject(value)) throw new ContentError("a map is missing");
    let isSame = true;
    let count = 0;
    for (const [key, read] of known) {
      const given = own(value, key);
      const member = read(given);
      isSame &&= member === given;
      if (member !== undefined) count += 1;
    }
    if (isSame && Object.keys(value).length === count) return value as T;
    const found = known.map(([key, read]) => [key, read(own(value, key))] as const);
    // Each member was read by the reader of its type.
    return Object.fromEntries(found.filter(([, member]) => member !== undefined)) as T;
  };
};

export const json: Reader<JsonValue> = (value) => {
  if (value === undefined) throw new ContentError("a value is missing");
  // It comes from JSON, or is written as JSON.
  return value as JsonValue;
};

export const oneOf =
  <T extends string>(values: readonly T[]): Reader<T> =>
  (value) => {
    const found = values.find((known) => known === value);
    if (found === undefined) throw new ContentError(`${shown(value)} must be one of ${values.join(", ")}`);
    return found;
  };

const shown = (value: unknown): string => (JSON.stringify(value) ?? "nothing").slice(0, 100);

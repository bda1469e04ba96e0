export type JsonScalar = string | number | boolean | null;
export type JsonValue = JsonScalar | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** A plain map: neither null nor an array. Its keys may be anything, `__proto__` and `constructor` included: read them with `own`. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The member `key` if the object itself has it: names that come from a database may equal those of Object.prototype. */
export function own<T>(object: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return object !== undefined && Object.hasOwn(object, key) ? object[key] : undefined;
}

/** A map that takes any key as an ordinary one (`record["__proto__"] = x` makes a member). */
export function emptyRecord<T>(): Record<string, T> {
  return Object.create(null) as Record<string, T>;
}

/** One text per value: keys sorted, no white space. Equal values give equal texts. Undefined members are left out, as in JSON. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => {
    if (!isObject(member)) return member;
    const sorted = emptyRecord<unknown>();
    for (const key of Object.keys(member).sort()) sorted[key] = member[key];
    return sorted;
  });
}

/** Deep equality of JSON values; the order of keys does not count. */
export function sameJson(a: unknown, b: unknown): boolean {
  return a === b || canonicalJson(a) === canonicalJson(b);
}

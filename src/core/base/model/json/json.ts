export type JsonScalar = string | number | boolean | null;
export type JsonValue = JsonScalar | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** A plain map: neither null nor an array. Its keys can be anything, including `__proto__` and `constructor`: read them with `own`. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The member `key` if the object itself has it: names that come from a database may be the same as those of Object.prototype. */
export function own<T>(object: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return object !== undefined && Object.hasOwn(object, key) ? object[key] : undefined;
}

/** What is at a path of keys, as far as every value on it is a plain map with that member; else undefined. */
export const memberAt = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((at, key) => (isObject(at) ? own(at, key) : undefined), value);

/** A map that accepts any key as an ordinary one (`record["__proto__"] = x` makes a member). */
export function emptyRecord<T>(): Record<string, T> {
  return Object.create(null) as Record<string, T>;
}

/** Sets a member whatever its name is: `record["__proto__"] = x` would set the prototype of an ordinary object. */
export function setOwn<T>(record: Record<string, T>, key: string, value: T): void {
  if (key === "__proto__") Object.defineProperty(record, key, { value, enumerable: true, configurable: true, writable: true });
  else record[key] = value;
}

/** The same text for equal values: sorted keys, no white space. Undefined members are omitted, as in JSON. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(inOrder(value));
}

/** The value with the keys of every map sorted. Maps that are already sorted are not copied. */
function inOrder(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    const ordered = items.map(inOrder);
    return ordered.every((item, index) => item === items[index]) ? items : ordered;
  }
  const members = value as Readonly<Record<string, unknown>>;
  if (!isSorted(members)) {
    const sorted = emptyCopy(members);
    for (const key of Object.keys(members).sort()) sorted[key] = inOrder(members[key]);
    return sorted;
  }
  let copy: Record<string, unknown> | undefined;
  for (const key in members) {
    const member = members[key];
    if (typeof member !== "object" || member === null) continue;
    const ordered = inOrder(member);
    if (ordered === member) continue;
    copy ??= Object.assign(emptyCopy(members), members);
    copy[key] = ordered;
  }
  return copy ?? members;
}

/** V8 writes ordinary objects faster than those without a prototype, which only `__proto__` needs. */
const emptyCopy = (members: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.hasOwn(members, "__proto__") ? emptyRecord<unknown>() : {};

/** Whether the keys are sorted and all its own. A loop allocates no list of keys, which matters for a hundred thousand small maps. */
function isSorted(members: Readonly<Record<string, unknown>>): boolean {
  let previous: string | undefined;
  for (const key in members) {
    if ((previous !== undefined && key < previous) || !Object.hasOwn(members, key)) return false;
    previous = key;
  }
  return true;
}

/** Deep equality of JSON values; the order of keys does not count. */
export function sameJson(a: unknown, b: unknown): boolean {
  // Nearly all values are scalars, and need no text.
  return a === b || (!isScalar(a) && !isScalar(b) && canonicalJson(a) === canonicalJson(b));
}

const isScalar = (value: unknown): boolean => typeof value === "string" || typeof value === "number" || typeof value === "boolean";

/** The members with a value, because optional members must not be undefined. */
export function defined<T extends Readonly<Record<string, unknown>>>(members: T): { readonly [K in keyof T]?: Exclude<T[K], undefined> } {
  // Only members that are optional in the type are left out.
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as ReturnType<typeof defined<T>>;
}

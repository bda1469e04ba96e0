/** A JSON object whose members have not been checked. */
export type UncheckedObject = Readonly<Record<string, unknown>>;

/** The member of that name, or undefined. Never an inherited one, so `constructor` and `__proto__` are ordinary names. */
export function own<T>(map: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(map, name) ? map[name] : undefined;
}

/** Sets a member under any name; plain assignment to `__proto__` would replace the prototype instead. */
export function put<T>(map: Record<string, T>, name: string, value: T): void {
  Object.defineProperty(map, name, { value, writable: true, enumerable: true, configurable: true });
}

/** A map with the same names and changed values; safe for every name. */
export function mapValues<T, U>(map: Readonly<Record<string, T>>, change: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, change(value)]));
}

export function isObject(value: unknown): value is UncheckedObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

import type { PackedLeaves } from "./packed-leaves.ts";
import type { Pointer } from "./pointer.ts";

// Members of objects that are made when they are read, so that a plan of a million changes need not hold a million objects. To others they are ordinary
// members: they are enumerable, keep their value once it was read, and JSON.stringify prints them. dimsync itself reads them with `readOnce`, which keeps
// nothing.

/** A value in the form in which it is kept, and what makes the value from it. */
export interface Lazy<S, V> {
  readonly source: S;
  readonly make: (source: S) => V;
  /** The members of the value, to print it without making it. */
  readonly members?: (source: S, order: KeyOrder) => Members;
  /** The value as JSON without white space, for the same purpose. */
  readonly json?: (source: S) => string;
}

/** The order of the keys: that of the map, or sorted. */
export type KeyOrder = "given" | "sorted";

/** The members of a map or list, one after the other. */
export interface ListedMembers {
  readonly isList: boolean;
  /** `below`: those of the member, if it is not made. */
  readonly each: Iterable<readonly [key: string | undefined, member: unknown, below?: Members]>;
}

/** The members of a map or list of leaves: `make` returns the same for all leaves of a kind, except for the pointer, which is in it once. */
export interface LeafMembers {
  readonly isList: boolean;
  readonly leaves: PackedLeaves<unknown>;
  readonly make: (pointer: Pointer, value: unknown) => readonly [key: string | undefined, member: unknown];
}

export type Members = ListedMembers | LeafMembers;

interface LazyGetter extends Lazy<unknown, unknown> {
  (): unknown;
}

/** Adds a member to the object. Returns the object. */
export function addLazy<T extends object, K extends string, S, V>(
  object: T,
  key: K,
  { source, make, members, json }: Lazy<S, V>,
): T & Readonly<Record<K, V>> {
  let known: { readonly value: V } | undefined;
  const getter = (): V => {
    known ??= { value: make(source) };
    return known.value;
  };
  Object.defineProperty(object, key, { get: Object.assign(getter, { source, make, members, json }), enumerable: true, configurable: true });
  Object.defineProperty(object, "toJSON", { value: plainCopy, enumerable: false, configurable: true });
  // The member is the one that was defined above.
  return object as T & Readonly<Record<K, V>>;
}

/** What JSON.stringify prints. */
function plainCopy(this: object): object {
  return plainMembers(this);
}

/** The members of an object, made for this reader. */
export const plainMembers = (object: object): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.keys(object).map((key) => [key, readOnce(object as Readonly<Record<string, unknown>>, key)]));

/** Whether the object has had lazy members. */
export const isLazy = (object: object): boolean => "toJSON" in object && object.toJSON === plainCopy;

/** The value of a member without keeping it. */
export function readOnce<T extends object, K extends keyof T & string>(object: T, key: K): T[K] {
  const lazy = lazyAt(object, key);
  // It makes what the member's own getter returns.
  return lazy === undefined ? object[key] : (lazy.make(lazy.source) as T[K]);
}

/** The form in which a lazy member is kept; undefined for an ordinary one. */
export const sourceAt = (object: object, key: string): unknown => lazyAt(object, key)?.source;

/** The members of a lazy member that can be printed without being made. */
export function membersAt(object: object, key: string, order: KeyOrder): Members | undefined {
  const lazy = lazyAt(object, key);
  return lazy?.members?.(lazy.source, order);
}

/** The JSON of a lazy member that can be printed without being made. */
export function jsonAt(object: object, key: string): string | undefined {
  const lazy = lazyAt(object, key);
  return lazy?.json?.(lazy.source);
}

function lazyAt(object: object, key: string): LazyGetter | undefined {
  const get: unknown = Object.getOwnPropertyDescriptor(object, key)?.get;
  return typeof get === "function" && "make" in get && "source" in get ? (get as LazyGetter) : undefined;
}

/** The members of both objects, those of the second in place of those of the first. Lazy members stay lazy, unlike with `{ ...a, ...b }`. */
export const merged = <A extends object, B extends object>(a: A, b: B): Omit<A, keyof B> & B =>
  // The descriptors are those of these members.
  Object.defineProperties({}, { ...Object.getOwnPropertyDescriptors(a), ...Object.getOwnPropertyDescriptors(b) }) as Omit<A, keyof B> & B;

/** The object without some members. Lazy members stay lazy. */
export function without<T extends object, K extends keyof T & string>(object: T, keys: readonly K[]): Omit<T, K> {
  const descriptors: Record<string, PropertyDescriptor> = Object.getOwnPropertyDescriptors(object);
  for (const key of keys) delete descriptors[key];
  return Object.defineProperties({}, descriptors) as Omit<T, K>;
}

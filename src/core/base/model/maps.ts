/** The value of the key. If the map has none, what `make` returns becomes the value. */
export function getOrAdd<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** The names of a union in this order. It does not compile if one is missing, or if there is another one. */
export const everyName = <Name extends string>(names: Readonly<Record<Name, true>>): readonly Name[] => Object.keys(names) as Name[]; // the keys

/** A function that makes its result when it is called first. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** The values whose key an earlier one has, each after the first value with its key. */
export function repeated<T>(values: Iterable<T>, keyOf: (value: T) => string): readonly (readonly [first: T, other: T])[] {
  const firsts = new Map<string, T>();
  const found: (readonly [T, T])[] = [];
  for (const value of values) {
    const first = getOrAdd(firsts, keyOf(value), () => value);
    if (first !== value) found.push([first, value]);
  }
  return found;
}

/** The values by their key, the keys in the order in which they occur first. Node has `Map.groupBy` only from version 21 on. */
export function groupBy<T, K>(values: Iterable<T>, keyOf: (value: T) => K): ReadonlyMap<K, readonly [T, ...T[]]> {
  const groups = new Map<K, [T, ...T[]]>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}

/** Appends all items. With `push(...items)`, each is an argument, and too many overflow the stack. */
export function addAll<T>(list: T[], items: Iterable<T>): void {
  for (const item of items) list.push(item);
}

/** The name, or the first of NAME-2, NAME-3 and so on that is not taken. */
export function freeName(name: string, isTaken: (name: string) => boolean): string {
  let free = name;
  for (let number = 2; isTaken(free); number++) free = `${name}-${number}`;
  return free;
}

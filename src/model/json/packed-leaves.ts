import { byText } from "../address.ts";
import type { Pointer } from "./pointer.ts";

// A plan of a fleet can have millions of changes by a few rules. As objects they take some hundred bytes each, most of them for pointers. Packed they take
// some ten: neighbours share the beginning of their pointers, and everything but the pointer is one of few values.

/** Values at JSON Pointers, in their order. Made by `newPacker`, read with `eachLeaf`. */
export interface PackedLeaves<T> {
  readonly length: number;
  readonly runs: readonly LeafRun[];
  /** By leaf: the segment after the parent, "email". Escaped as in pointers. */
  readonly names: readonly string[];
  /** By leaf: the position in `kinds`. */
  readonly kindAt: Uint8Array | Uint16Array | Uint32Array;
  /** In the order of their first leaf. */
  readonly kinds: readonly LeafKind<T>[];
}

/** Neighbours with the same parent. */
export interface LeafRun {
  /** "/schemas/public/tables/users/columns/" */
  readonly parent: string;
  /** The position after its last leaf. */
  readonly end: number;
}

/** What leaves have in common that differ only in their node. */
export interface LeafKind<T> {
  /** The end of the pointer: "/hashed". */
  readonly suffix: string;
  readonly value: T;
  readonly count: number;
}

export interface Packer<T> {
  /** The number of a kind of leaves; for each suffix and value it is asked for once. */
  readonly kind: (suffix: string, value: T) => number;
  /** Adds the leaf at parent + name + the suffix of its kind. */
  readonly add: (parent: string, name: string, kind: number) => void;
  readonly packed: () => PackedLeaves<T>;
}

export function newPacker<T>(): Packer<T> {
  const runs: { parent: string; end: number }[] = [];
  const names: string[] = [];
  const kindAt: number[] = [];
  const kinds: { suffix: string; value: T; count: number }[] = [];
  return {
    kind: (suffix, value) => kinds.push({ suffix, value, count: 0 }) - 1,
    add: (parent, name, kind) => {
      const of = kinds[kind];
      if (of !== undefined) of.count++;
      names.push(name);
      kindAt.push(kind);
      const last = runs.at(-1);
      if (last?.parent === parent) last.end++;
      else runs.push({ parent, end: names.length });
    },
    packed: () => {
      const Numbers = kinds.length <= 0x100 ? Uint8Array : kinds.length <= 0x10000 ? Uint16Array : Uint32Array;
      // A copy has no room to grow.
      return { length: names.length, runs, names: names.slice(), kindAt: Numbers.from(kindAt), kinds };
    },
  };
}

/** Packs leaves. Equal values may be different objects. `intern` returns the same string for equal ones. */
export function packLeaves<T>(leaves: readonly (readonly [Pointer, T])[], intern: (text: string) => string): PackedLeaves<T> {
  const packer = newPacker<T>();
  const known = new Map<string, number>();
  let parent = "";
  for (const [pointer, value] of leaves) {
    const end = Math.max(0, pointer.lastIndexOf("/"));
    const start = end === 0 ? 0 : pointer.lastIndexOf("/", end - 1) + 1;
    const suffix = pointer.slice(end);
    const key = `${suffix}\n${JSON.stringify(value)}`;
    const kind = known.get(key) ?? packer.kind(intern(suffix), value);
    known.set(key, kind);
    if (parent.length !== start || !pointer.startsWith(parent)) parent = intern(pointer.slice(0, start));
    packer.add(parent, intern(pointer.slice(start, end)), kind);
  }
  return packer.packed();
}

/** Returns the first of equal strings: a part of a long string would keep all of it in memory. */
export function newIntern(): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    const first = known.get(text);
    if (first !== undefined) return first;
    const own = JSON.parse(JSON.stringify(text)) as string;
    known.set(own, own);
    return own;
  };
}

/** The first leaves. */
export const firstLeaves = <T>(leaves: PackedLeaves<T>, most: number): PackedLeaves<T> =>
  leaves.length <= most
    ? leaves
    : { ...leaves, length: most, runs: leaves.runs.map(({ parent, end }) => ({ parent, end: Math.min(end, most) })) };

/** Calls `visit` for each leaf in order. The pointer is parent + name + kind.suffix. */
export function eachLeaf<T>(
  { runs, names, kindAt, kinds }: PackedLeaves<T>,
  visit: (parent: string, name: string, kind: LeafKind<T>) => void,
): void {
  let at = 0;
  for (const { parent, end } of runs)
    for (; at < end; at++) {
      const [name, kind] = [names[at], kinds[kindAt[at] ?? 0]];
      if (name !== undefined && kind !== undefined) visit(parent, name, kind);
    }
}

/** The leaves as a list of what `make` returns. */
export function unpacked<T, U>(leaves: PackedLeaves<T>, make: (pointer: Pointer, value: T) => U): U[] {
  const all: U[] = [];
  eachLeaf(leaves, (parent, name, { suffix, value }) => all.push(make(parent + name + suffix, value)));
  return all;
}

/** The same pointers with other values. `map` is called once for each kind. */
export const withValues = <T, U>(leaves: PackedLeaves<T>, map: (value: T) => U): PackedLeaves<U> => ({
  ...leaves,
  kinds: leaves.kinds.map((kind) => ({ ...kind, value: map(kind.value) })),
});

/** How many leaves have such a value. */
export const countLeaves = <T>({ kinds }: PackedLeaves<T>, test: (value: T) => boolean): number =>
  kinds.reduce((sum, { value, count }) => sum + (test(value) ? count : 0), 0);

/** The leaves in the order of their pointers. */
export function sortedLeaves<T>(leaves: PackedLeaves<T>): PackedLeaves<T> {
  if (isSorted(leaves)) return leaves;
  // Sorting the runs is often enough: the columns of a table, and what is set for the table itself.
  const byRun = sortedRuns(leaves);
  if (isSorted(byRun)) return byRun;
  const all: Placed<T>[] = [];
  eachLeaf(leaves, (parent, name, kind) => all.push({ parent, name, kind }));
  const pointerOf = ({ parent, name, kind }: Placed<T>): Pointer => parent + name + kind.suffix;
  return repacked(
    all
      .map((leaf) => [pointerOf(leaf), leaf] as const)
      .sort(([a], [b]) => byText(a, b))
      .map(([, leaf]) => leaf),
  );
}

interface Placed<T> {
  readonly parent: string;
  readonly name: string;
  readonly kind: LeafKind<T>;
}

function repacked<T>(leaves: Iterable<Placed<T>>): PackedLeaves<T> {
  const packer = newPacker<T>();
  const numbers = new Map<LeafKind<T>, number>();
  for (const { parent, name, kind } of leaves) {
    const number = numbers.get(kind) ?? packer.kind(kind.suffix, kind.value);
    numbers.set(kind, number);
    packer.add(parent, name, number);
  }
  return packer.packed();
}

function isSorted<T>({ runs, names, kindAt, kinds }: PackedLeaves<T>): boolean {
  const suffixAt = (at: number): string => kinds[kindAt[at] ?? 0]?.suffix ?? "";
  const endAt = (at: number): string => `${names[at]}${suffixAt(at)}`;
  // Few names begin with another name, and otherwise suffixes do not matter.
  const isInOrder = (at: number, next: number): boolean => {
    const [one = "", other = ""] = [names[at], names[next]];
    if (one === other) return suffixAt(at) <= suffixAt(next);
    const isClear = one < other ? !other.startsWith(one) : !one.startsWith(other);
    return isClear ? one < other : endAt(at) <= endAt(next);
  };
  let from = 0;
  let last = "";
  for (const { parent, end } of runs) {
    if (parent + endAt(from) < last) return false;
    for (let at = from + 1; at < end; at++) if (!isInOrder(at - 1, at)) return false;
    last = parent + endAt(end - 1);
    from = end;
  }
  return true;
}

/** The runs in the order of their first leaves. */
function sortedRuns<T>({ runs, names, kindAt, kinds }: PackedLeaves<T>): PackedLeaves<T> {
  const places = runs.map(({ parent, end }, index) => {
    const from = runs[index - 1]?.end ?? 0;
    return { parent, from, end, first: `${parent}${names[from]}${kinds[kindAt[from] ?? 0]?.suffix}` };
  });
  places.sort((a, b) => byText(a.first, b.first));
  const leaves = function* (): Generator<Placed<T>> {
    for (const { parent, from, end } of places)
      for (let at = from; at < end; at++) {
        const kind = kinds[kindAt[at] ?? 0];
        if (kind !== undefined) yield { parent, name: names[at] ?? "", kind };
      }
  };
  return repacked(leaves());
}

import { describe, expect, test } from "vitest";
import {
  countLeaves,
  eachLeaf,
  firstLeaves,
  newIntern,
  newPacker,
  packLeaves,
  sortedLeaves,
  unpacked,
  withValues,
} from "../../../src/model/json/packed-leaves.ts";

type Leaves = readonly (readonly [string, unknown])[];

const pack = (leaves: Leaves) => packLeaves(leaves, newIntern());
const entries = (leaves: ReturnType<typeof pack>): Leaves => unpacked(leaves, (pointer, value) => [pointer, value] as const);

const lists: Readonly<Record<string, Leaves>> = {
  "no leaves": [],
  "members of the root, and the root itself": [
    ["/id", "a"],
    ["/name", 1],
    ["", null],
  ],
  "columns of two tables": [
    ["/schemas/public/tables/users/columns/email/hashed", true],
    ["/schemas/public/tables/users/columns/phone/hashed", true],
    ["/schemas/public/tables/users/enabled", false],
    ["/schemas/public/tables/orders/columns/email/hashed", true],
  ],
  "the same parent again later": [
    ["/a/b/c", 1],
    ["/x/y/z", 1],
    ["/a/b/d", 1],
  ],
  "a parent that begins like another": [
    ["/a/b/c", 1],
    ["/a/bb/c", 1],
    ["/a/b/c/d", 1],
  ],
  "empty, escaped and unusual names": [
    ["//", 1],
    ["/a~1b/~0/c", 2],
    ["/\ud800/ü/\u0000", 3],
    ["/__proto__/constructor/x", 4],
  ],
  "more values than one byte counts": Array.from({ length: 70_000 }, (_, i) => [`/a/c${i}/x`, i] as const),
};

describe("packed and unpacked", () => {
  test.each(Object.entries(lists))("%s", (_sentence, leaves) => {
    expect(entries(pack(leaves))).toEqual(leaves);
  });
});

describe("packed leaves", () => {
  const packed = pack(lists["columns of two tables"] ?? []);

  test("have each value once, with its count", () => {
    expect(packed.kinds).toEqual([
      { suffix: "/hashed", value: true, count: 3 },
      { suffix: "/enabled", value: false, count: 1 },
    ]);
    expect(countLeaves(packed, (value) => value === true)).toBe(3);
  });

  test("have each parent once in a row", () => {
    expect(packed.runs.map(({ parent }) => parent)).toEqual([
      "/schemas/public/tables/users/columns/",
      "/schemas/public/tables/",
      "/schemas/public/tables/orders/columns/",
    ]);
  });

  test("get other values, one for each kind", () => {
    const seen: unknown[] = [];
    const numbers = withValues(packed, (value) => seen.push(value));
    expect(seen).toEqual([true, false]);
    expect(unpacked(numbers, (_, value) => value)).toEqual([1, 1, 2, 1]);
  });

  test("are cut after the first", () => {
    expect(entries(firstLeaves(packed, 2))).toEqual(entries(packed).slice(0, 2));
    expect(firstLeaves(packed, 2).length).toBe(2);
    expect(firstLeaves(packed, 9)).toBe(packed);
  });

  test("are sorted by pointer, and stay the same value if they are", () => {
    const sorted = sortedLeaves(packed);
    expect(entries(sorted)).toEqual([...entries(packed)].sort(([a], [b]) => (a < b ? -1 : 1)));
    expect(sortedLeaves(sorted)).toBe(sorted);
  });

  test.each<readonly [string, readonly string[]]>([
    ["names that begin with another one", ["/a/users/hashed", "/a/users-2/hashed", "/a/users/enabled", "/a/us/hashed", "/a/users0/hashed"]],
    ["a name and a longer one", ["/a/users/hashed", "/a/users-2/hashed"]],
    ["one name after the other with and without order", ["/a/b/hashed", "/a/b/enabled", "/a/c/hashed"]],
    ["tables and their columns", ["/t/a/enabled", "/t/a/columns/x/enabled", "/t/a/columns/y/enabled", "/t/b/enabled"]],
    ["parents in another order", ["/b/x/e", "/a/y/e", "/a/x/e"]],
  ])("are sorted: %s", (_sentence, pointers) => {
    for (const list of [pointers, [...pointers].reverse(), [...pointers].sort()]) {
      const sorted = sortedLeaves(pack(list.map((pointer) => [pointer, 1])));
      expect(entries(sorted).map(([pointer]) => pointer)).toEqual([...pointers].sort());
    }
  });

  test("show the parts of each pointer", () => {
    const parts: string[] = [];
    eachLeaf(firstLeaves(packed, 1), (parent, name, { suffix }) => parts.push(parent, name, suffix));
    expect(parts).toEqual(["/schemas/public/tables/users/columns/", "email", "/hashed"]);
  });
});

test("a packer keeps what it was given", () => {
  const packer = newPacker<number>();
  const kind = packer.kind("/x", 7);
  packer.add("/a/", "b", kind);
  packer.add("/a/", "c", kind);
  expect(unpacked(packer.packed(), (pointer, value) => `${pointer}=${value}`)).toEqual(["/a/b/x=7", "/a/c/x=7"]);
});

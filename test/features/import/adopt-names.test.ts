// An import takes the names that manifests already have.
import { expect, test } from "vitest";
import { nameAll, slugOf } from "../../../src/features/import/adopt.ts";

test.each([
  ["Straße in Łódź, Ørsted & Æther", "strasse-in-lodz-orsted-aether"],
  ["Orders", "orders"],
  ["Orders (EU)", "orders-eu"],
  ["Größe", "grosse"],
  ["Café Übung", "cafe-ubung"],
  ["日本", ""],
  ["../..", ""],
  ["a_b.c-d", "a_b.c-d"],
  ["--x--", "x"],
  [" x ", "x"],
  ["x".repeat(100), "x".repeat(60)],
])("the slug of %j is %j", (name, slug) => {
  expect(slugOf(name)).toBe(slug);
});

const names = (live: readonly (readonly [id: string, name: string])[], taken: readonly string[] = []): Readonly<Record<string, string>> =>
  Object.fromEntries(
    nameAll(
      live.map(([id, name]) => ({ id, name })),
      new Set(taken),
      "integration",
    ),
  );

test.each<readonly [string, readonly (readonly [string, string])[], readonly string[], Readonly<Record<string, string>>]>([
  [
    "different names stay plain",
    [
      ["1", "A"],
      ["2", "B"],
    ],
    [],
    { 1: "a", 2: "b" },
  ],
  [
    "two live names with one slug both get their id appended",
    [
      ["1", "A"],
      ["2", "a"],
    ],
    [],
    { 1: "a-1", 2: "a-2" },
  ],
  ["a slug that a manifest already has gets the id appended", [["1", "A"]], ["a"], { 1: "a-1" }],
  ["a name without usable characters becomes the kind and the id", [["8f1c", "日本"]], [], { "8f1c": "integration-8f1c" }],
  ["if that is taken too, a number is appended", [["1", "A"]], ["a", "a-1"], { 1: "a-1-2" }],
  [
    "ids without usable characters are numbered",
    [
      ["日", "ü"],
      ["本", "Ü"],
    ],
    [],
    { 日: "u", 本: "u-2" },
  ],
])("%s, in any order", (_, live, taken, expected) => {
  expect(names(live, taken)).toEqual(expected);
  expect(names([...live].reverse(), taken)).toEqual(expected);
});

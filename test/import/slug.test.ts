import { expect, test } from "vitest";
import { escapeGlob, nameOfPattern } from "../../src/import/escape-glob.ts";
import { nameAll, slugOf } from "../../src/import/names.ts";
import { nameMatcher } from "../../src/kinds/patterns/names.ts";

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
])("%j is named %j", (name, slug) => {
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
    "names that come to the same take the id along, both of them",
    [
      ["1", "A"],
      ["2", "a"],
    ],
    [],
    { 1: "a-1", 2: "a-2" },
  ],
  ["a name that a manifest has takes the id along", [["1", "A"]], ["a"], { 1: "a-1" }],
  ["a name without letters is the kind and the id", [["8f1c", "日本"]], [], { "8f1c": "integration-8f1c" }],
  ["where even that is taken there is a number", [["1", "A"]], ["a", "a-1"], { 1: "a-1-2" }],
  [
    "ids without letters are numbered",
    [
      ["日", "ü"],
      ["本", "Ü"],
    ],
    [],
    { 日: "u", 本: "u-2" },
  ],
])("%s, whatever the order", (_, live, taken, expected) => {
  expect(names(live, taken)).toEqual(expected);
  expect(names([...live].reverse(), taken)).toEqual(expected);
});

test.each(["users", "a*b", "[a]", "{a,b}", "!x", "\\", "\\*", "!", "a?b", "100%", "a,b", "}", "__proto__"])(
  "the pattern for %j matches it, only it, and leads back to it",
  (name) => {
    const pattern = escapeGlob(name) ?? "";
    const matches = nameMatcher([pattern]);
    expect(matches(name)).toBe(true);
    expect(["axb", "a", "b", "x", "*", "ab", "users2", "\\x"].filter((other) => other !== name && matches(other))).toEqual([]);
    expect(nameOfPattern(pattern)).toBe(name);
  },
);

test.each(["*", "a*", "?", "[ab]", "!x"])("%j is no name", (pattern) => {
  expect(nameOfPattern(pattern)).toBeUndefined();
});

test("the empty name has no pattern", () => {
  expect(escapeGlob("")).toBeUndefined();
});

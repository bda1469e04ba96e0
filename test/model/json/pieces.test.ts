import { describe, expect, test } from "vitest";
import { canonicalJson } from "../../../src/model/json/json.ts";
import { canonicalPieces, jsonPieces } from "../../../src/model/json/pieces.ts";
import { fullPlan } from "../../render/full-plan.ts";

const same = (keys: readonly string[]): readonly string[] => keys;

const values: Readonly<Record<string, object>> = {
  "an empty map": {},
  "an empty list": [],
  "empty ones at every depth": { a: [], b: {}, c: [[], {}, { d: [{}, [{ e: [] }]] }] },
  "undefined members, and undefined in lists": { a: undefined, b: [undefined, null], c: { d: undefined } },
  "strings that need escapes": { 'quo"te': "line\nbreak \\ \u0000 \u2028 ü \ud83d\ude00", "": " " },
  "numbers as keys": { 10: "a", 2: "b", x: { 3: 1, 1: 2 } },
  "members with names of Object.prototype": JSON.parse('{ "__proto__": { "constructor": 1 }, "toString": [2] }') as object,
  "values with toJSON": { at: new Date(0), deep: [{ secret: { toJSON: () => "[secret]" } }] },
  "more levels than are streamed": { a: { b: { c: { d: { e: { f: [{ g: "h\ni" }] } } } } } },
  "a plan": fullPlan,
};

describe("the pieces together are the text of JSON.stringify", () => {
  test.each(Object.entries(values))("%s", (_sentence, value) => {
    expect([...jsonPieces(value, { inOrder: same, order: "given", space: "  " })].join("")).toBe(JSON.stringify(value, undefined, 2));
    expect([...jsonPieces(value, { inOrder: same, order: "given", space: "" })].join("")).toBe(JSON.stringify(value));
    expect([...canonicalPieces(value)].join("")).toBe(canonicalJson(value));
  });
});

test("a long list has many pieces, and none is long", () => {
  const value = {
    items: [{ changes: Array.from({ length: 20_000 }, (_, i) => ({ path: `/columns/c${i}/hashed`, before: false, after: true })) }],
  };
  const lengths = [...jsonPieces(value, { inOrder: same, order: "given", space: "  " })].map(({ length }) => length);
  expect(lengths.length).toBeGreaterThan(20);
  expect(Math.max(...lengths)).toBeLessThan(100_000);
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonForm } from "../../../src/model/json/form.ts";
import { canonicalJson } from "../../../src/model/json/json.ts";
import { mapOrder } from "../../../src/model/json/pieces.ts";
import { reprinted } from "../../../src/model/json/reprint.ts";
import { runs } from "../../support/sample.ts";

const given: JsonForm = { inOrder: (keys) => keys, order: "given", space: "  " };
const sorted: JsonForm = { inOrder: (keys) => mapOrder([...keys].sort()), order: "sorted", space: "" };

const column = { enabled: true, hashed: false };

const values: Readonly<Record<string, unknown>> = {
  "a scalar": -1.5e-7,
  "a string": 'quo"te \\ back\\slash\\',
  "an empty map": {},
  "an empty list": [],
  "empty ones in others": { a: [], b: {}, c: [[], {}, [{}]] },
  "short maps that are the same, at two depths": { a: column, b: column, c: { d: column, e: column }, f: [column, [column]] },
  "short maps with other maps after them": { a: { b: {}, c: { d: 1 } }, e: { b: {}, c: { d: 2 } } },
  "strings with brackets, quotes and backslashes": { "}": "{", '{"a":"}': ["]", '"', "\\", '\\"', "\\\\"], x: { y: "}" }, z: { y: '"}' } },
  "strings that need escapes": { 'quo"te': "line\nbreak \u0000 \u2028 ü \ud83d\ude00 \ud800" },
  "numbers as keys": { 10: "a", 2: "b", x: { 3: 1, 1: 2 } },
  "members with names of Object.prototype": JSON.parse('{ "__proto__": { "constructor": 1 }, "toString": [null, true] }'),
};

describe("the text is that of the value", () => {
  test.each(Object.entries(values))("%s", (_sentence, value) => {
    const json = JSON.stringify(value);
    expect(reprinted(json, given, "")).toBe(JSON.stringify(value, undefined, 2));
    expect(reprinted(json, sorted, "")).toBe(canonicalJson(value));
  });

  test("any value", () => {
    const text = fc.oneof(fc.string(), fc.stringMatching(/^[ab"\\{}[\],:]{0,3}$/u));
    const { value } = fc.letrec((again) => ({
      value: fc.oneof(
        text,
        fc.jsonValue(),
        fc.constant(column),
        fc.array(again("value"), { maxLength: 4 }),
        fc.dictionary(text, again("value"), { maxKeys: 5 }),
      ),
    }));
    fc.assert(
      fc.property(value, (one) => {
        const json = JSON.stringify(one);
        // As it is after parsing: -0 is 0.
        const parsed: unknown = JSON.parse(json);
        expect(reprinted(json, given, "")).toBe(JSON.stringify(parsed, undefined, 2));
        expect(reprinted(json, sorted, "")).toBe(canonicalJson(parsed));
      }),
      { numRuns: runs(500, 20_000) },
    );
  });
});

test("lines are indented, and strings are quoted as the form does", () => {
  const form: JsonForm = { ...given, quoted: (text) => JSON.stringify(text).replaceAll("ü", "\\u00fc") };
  expect(reprinted('{"ü":["ü"]}', form, "  ")).toBe('{\n    "\\u00fc": [\n      "\\u00fc"\n    ]\n  }');
});

// Any value can be printed as YAML and read back.
import { expect, test } from "vitest";
import { parse } from "yaml";
import { blockLines, inlineYaml } from "../../../../src/core/base/yaml/print.ts";
import fc from "../../../support/fast-check.ts";
import { runs } from "../../../support/sample.ts";
import { json } from "./values.ts";

test.each<readonly [sentence: string, value: Parameters<typeof blockLines>[0], lines: readonly string[]]>([
  ["small maps and lists of scalars are on one line", { a: { b: [1, "x"] }, c: [] }, ["a: { b: [1, x] }", "c: []"]],
  ["nested maps are lines", { a: { b: { c: true } } }, ["a:", "  b: { c: true }"]],
  [
    "lists that do not fit on a line have an item per line",
    { a: { b: Array.from({ length: 40 }, (_, index) => `n${index}`) } },
    ["a:", "  b:", ...Array.from({ length: 40 }, (_, index) => `    - n${index}`)],
  ],
  [
    "items of a list begin after the dash",
    { a: [{ b: 1, c: { d: { e: 2 } } }, "x", [1]] },
    ["a:", "  - b: 1", "    c:", "      d: { e: 2 }", "  - x", "  - - 1"],
  ],
  [
    "quotes only if necessary",
    { "a b": "yes", "1": "2027-01-31", ü: "é", "a:": "x@example.com" },
    ['"1": "2027-01-31"', 'a b: "yes"', "ü: é", '"a:": x@example.com'],
  ],
  ["invisible characters as escapes", { a: "\u007f\u2028\u0007" }, ['a: "\\u007f\\u2028\\u0007"']],
])("%s", (_sentence, value, lines) => {
  expect(blockLines(value)).toEqual(lines);
});

test("a printed value reads back as the same value", () => {
  fc.assert(
    fc.property(json, (value) => {
      const options = { stringKeys: true } as const;
      expect(parse(inlineYaml(value), options)).toEqual(parse(JSON.stringify(value), options));
      expect(parse(blockLines({ value }).join("\n"), options)).toEqual(parse(JSON.stringify({ value }), options));
    }),
    { numRuns: runs(100, 5_000) },
  );
});

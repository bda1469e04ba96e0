import { describe, expect, test } from "vitest";
import { atOnce } from "../../src/model/runtime/event-loop.ts";
import { formatYaml, type MemberOrder } from "../../src/yaml/format.ts";
import { formatLargeYaml } from "../../src/yaml/format-large.ts";
import fc from "../support/fast-check.ts";
import { runs } from "../support/sample.ts";
import { mutatedManifest, yamlLines } from "./fast/texts.ts";

/** As the schema of SchemaConfig orders members: those of `spec`, of a schema and of a table. */
const order: MemberOrder = (kind, pointer) => {
  if (kind !== "SchemaConfig") return [];
  if (pointer === "") return ["apiVersion", "kind", "metadata", "spec"];
  if (pointer === "/spec") return ["integration", "schemas", "expect"];
  if (/^\/spec\/schemas\/[^/]+$/u.test(pointer)) return ["enabled", "tables"];
  return /^\/spec\/schemas\/[^/]+\/tables\/[^/]+$/u.test(pointer) ? ["enabled", "columns"] : [];
};

/** Formats in groups of this size; undefined if the text cannot be cut. */
const inGroups = (text: string, size: number): string | undefined =>
  atOnce(formatLargeYaml(text, order, { group: size, whole: Math.min(size, text.length - 1) }));

const tables = (count: number, table: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => table(index)).join("");
const head = "kind: SchemaConfig\nspec:\n  schemas:\n    public:\n      tables: # all\n";

describe("a text is formatted in groups, with the same result as the whole:", () => {
  test.each<readonly [sentence: string, text: string]>([
    ["tables", head + tables(20, (index) => `        t${index}: {columns: {a: {hashed:   true}}}\n`)],
    [
      "more members after the map",
      `${head + tables(20, (index) => `         t${index}:\n           enabled: true\n`)}      # of the flag\n      other: true\n  other: x\n`,
    ],
    [
      "members of which one is larger than a group",
      head +
        tables(3, (one) => `        t${one}:\n          columns:\n${tables(20, (index) => `            c${index}: {hashed: true}\n`)}`),
    ],
    [
      "comments and empty lines",
      head + tables(20, (index) => `${index % 3 === 0 ? "\n        # of the table\n" : ""}        t${index}:\n          enabled:  true\n`),
    ],
    ["a kind without an order", `kind: x\nall:\n${tables(30, (index) => `  "${index}": [a,b]\n`)}`],
  ])("%s", (_sentence, text) => {
    const formatted = inGroups(text, 250);
    expect(formatted).toBe(formatYaml(text, order));
    expect(formatted).not.toBe(text);
  });
});

describe("a text is not cut", () => {
  test.each<readonly [sentence: string, text: string]>([
    [
      "with an alias, because members then keep their order",
      `${head + tables(20, (index) => `        t${index}: { columns: ${index === 0 ? "&a {}" : "*a"} }\n`)}`,
    ],
    ["of two documents", `${head + tables(20, (index) => `        t${index}: {}\n`)}---\na: b\n`],
    ["with members of a known order", `kind: SchemaConfig\nspec:\n${tables(30, (index) => `  member${index}: x\n`)}`],
    ["that is not valid", `${head + tables(20, (index) => `        t${index}: {}\n`)}        t1: {}\n`],
    ["with an empty line between all members", head + tables(20, (index) => `        t${index}: {}\n\n`)],
  ])("%s", (_sentence, text) => {
    expect(inGroups(text, 250)).toBeUndefined();
  });
});

/** A tree with all that people write in one: comments, empty lines, braces, quotes, lists and long strings. */
const value = (indent: string) =>
  fc.constantFrom(
    ...Array.from({ length: 20 }, () => " true\n"),
    " {enabled: true,hashed:  false}\n",
    ` { enabled: true, # why\n${indent}    hashed: false\n${indent}  }\n`,
    "\n",
    " # beside\n",
    ` |\n${indent}  some\n\n${indent}  text: x\n`,
    ` >-\n${indent}  folded\n${indent}  text\n`,
    ` "a\n${indent}   b: c"\n`,
    ` plain\n${indent}  text\n`,
    `\n${indent}- a\n${indent}-   b: c\n${indent}    d: e\n`,
    `\n${indent}    enabled:  true\n${indent}    columns:\n${indent}      email: {hashed: true}\n${indent}      # last\n`,
    `\n${indent} columns: { a: {hashed: true}, b: {hashed: true}, c: {hashed: true}, d: {hashed: true}, e: {hashed: true}, f: {hashed: true} }\n${indent} enabled: true\n`,
    ` 'it''s' # beside\n`,
  );
const between = (indent: string) =>
  fc.oneof(
    { weight: 9, arbitrary: fc.constant("") },
    { weight: 2, arbitrary: fc.constantFrom("\n", `${indent}# above\n`, `\n${indent}# above\n\n`, "# outside\n", `${indent}  # deeper\n`) },
  );
const members = (indent: string, most: number) =>
  fc
    .array(fc.tuple(between(indent), fc.constantFrom("", '"', "'"), value(indent)), { minLength: 8, maxLength: most })
    .map((all) => all.map(([above, quote, text], index) => `${above}${indent}${quote}t${index}${quote}:${text}`).join(""));
const tree = fc
  .tuple(fc.constantFrom("SchemaConfig", "x"), fc.constantFrom("    ", "      ", "       "), fc.constantFrom("", "# top\n\n", "---\n"))
  .chain(([kind, indent, top]) =>
    fc
      .tuple(
        members(indent, 30),
        between(indent),
        fc.constantFrom(
          "",
          "  integration: shop\n",
          "   # of the member\n  integration: shop\n",
          "\n  integration:\n    id: x\n# end\n",
          "apiVersion: v1\n",
        ),
      )
      .map(([text, above, tail]) => `${top}kind: ${kind}\nspec:\n  schemas: # all\n${above}${text}${tail}`),
  );

test("formatting in groups gives the result of formatting the whole, for any text", () => {
  let cut = 0;
  let all = 0;
  fc.assert(
    fc.property(fc.oneof({ weight: 3, arbitrary: tree }, mutatedManifest, yamlLines), fc.constantFrom(100, 200, 300, 600), (text, size) => {
      const formatted = inGroups(text, size);
      all += 1;
      if (formatted === undefined) return;
      if (text.length > size) cut += 1;
      expect(formatted).toBe(formatYaml(text, order));
    }),
    { numRuns: runs(40, 20_000) },
  );
  expect(cut).toBeGreaterThan(all / 20);
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { canonicalJson, type JsonValue } from "../../src/model/json.ts";
import { applyEdits, valueEdits } from "../../src/yaml/diff.ts";
import { editYaml } from "../../src/yaml/edit.ts";
import { inlineYaml, yamlLines } from "../../src/yaml/print.ts";

const change = (text: string, after: JsonValue): string => {
  const edited = editYaml(text, 0, valueEdits(parse(text) as JsonValue, after));
  return typeof edited === "string" ? edited : `unmergeable at ${edited.path.join("/")}`;
};

test.each<readonly [sentence: string, before: string, after: JsonValue, text: string]>([
  ["a scalar changes where it stands", "a: 1 # one\nb: 2\n", { a: 3, b: 2 }, "a: 3 # one\nb: 2\n"],
  ["a value gets the quotes that it needs", "a: x\n", { a: "yes" }, 'a: "yes"\n'],
  ["a reference in a text is written as a literal", "a: x\n", { a: "\u0024{y}" }, 'a: "$\u0024{y}"\n'],
  ["a key without a value gets one", "a:\nb: 1\n", { a: { x: 1 }, b: 1 }, "a: { x: 1 }\nb: 1\n"],
  [
    "a member is added behind the last one",
    "m:\n  a: 1 # one\n# tail\n",
    { m: { a: 1, b: { c: 2, d: { e: 3 } } } },
    "m:\n  a: 1 # one\n  b:\n    c: 2\n    d: { e: 3 }\n# tail\n",
  ],
  ["a member is added to a map in braces", "m: {a: 1} # m\n", { m: { a: 1, b: 2 } }, "m: {a: 1, b: 2} # m\n"],
  ["a member is added to an empty map", "m: {}\n", { m: { b: 2 } }, "m: { b: 2 }\n"],
  [
    "a member is taken out with its line",
    "m:\n  a: 1\n  # of b\n  b: 2\n  c: 3\n",
    { m: { a: 1, c: 3 } },
    "m:\n  a: 1\n  # of b\n  c: 3\n",
  ],
  ["the first and the last member of braces are taken out", "m: { a: 1, b: 2, c: 3 }\n", { m: { b: 2 } }, "m: { b: 2 }\n"],
  ["an item is put into a wrapped list", "l: [a, c,\n    d] # l\n", { l: ["a", "b", "c", "d"] }, "l: [a, b, c,\n    d] # l\n"],
  ["items are taken out at the beginning and the end", "l: [a, b, c, d]\n", { l: ["b", "c"] }, "l: [b, c]\n"],
  ["items are replaced", "l: [a, b, c]\n", { l: ["x", "b", "z"] }, "l: [x, b, z]\n"],
  [
    "an item of a block list is put where it belongs",
    "l:\n  - a # one\n  # two\n  - c\n",
    { l: ["a", "b", "c"] },
    "l:\n  - a # one\n  - b\n  # two\n  - c\n",
  ],
  [
    "all items of a block list are replaced",
    "l:\n  # l\n  - a: 1\n  - b # b\nz: 1\n",
    { l: [{ c: 2 }], z: 1 },
    "l:\n  # l\n  - c: 2 # b\nz: 1\n",
  ],
  [
    "an item that moves is taken out and put in again, and the others stay",
    "l:\n  - { id: a } # a\n  - { id: b }\n  # c\n  - { id: c } # c\n  - { id: d }\n",
    { l: [{ id: "a" }, { id: "c" }, { id: "d" }, { id: "b" }] },
    "l:\n  - { id: a } # a\n  # c\n  - { id: c } # c\n  - { id: d }\n  - id: b\n",
  ],
  ["items that stand there twice", "l: [a, a, b]\n", { l: ["a", "b", "b"] }, "l: [a, b, b]\n"],
  [
    "all members of a map in lines are replaced by lines",
    "m:\r\n  a: 1\r\n  b: 2\r\n",
    { m: { c: { d: { e: 1 } }, f: 2 } },
    "m:\r\n  c:\r\n    d: { e: 1 }\r\n  f: 2\r\n",
  ],
  ["a first item is put before the others", "l:\n- b\n", { l: ["a", "b"] }, "l:\n- a\n- b\n"],
  [
    "items with an id are changed inside",
    "l:\n  - id: r # r\n    n: [1]\n",
    { l: [{ id: "r", n: [1, 2] }] },
    "l:\n  - id: r # r\n    n: [1, 2]\n",
  ],
  ["line breaks stay as they are", "a: 1\r\nm:\r\n  x: 1\r\n", { a: 1, m: { x: 1, z: 2 } }, "a: 1\r\nm:\r\n  x: 1\r\n  z: 2\r\n"],
  ["a file without a last line break gets none in the wrong place", "m:\n  x: 1", { m: { x: 1, z: 2 } }, "m:\n  x: 1\n  z: 2\n"],
  ["an anchor that nobody else uses stays", "a: &x { k: 1 }\n", { a: { k: 2 } }, "a: &x { k: 2 }\n"],
  [
    "a value behind an alias is written out, and the anchor left alone",
    "a: &x { k: 1 }\nb: *x\n",
    { a: { k: 1 }, b: { k: 2 } },
    "a: &x { k: 1 }\nb: { k: 2 }\n",
  ],
  ["a value behind an anchor that others use is refused", "a: &x { k: 1 }\nb: *x\n", { a: { k: 2 }, b: { k: 1 } }, "unmergeable at a/k"],
  ["a list that is emptied is an empty list", "l:\n  - a\nb: 1\n", { l: [], b: 1 }, "l:\n  []\nb: 1\n"],
  ["block texts are replaced", "t: |\n  a\n  b\nz: 1\n", { t: "c", z: 1 }, "t: c\nz: 1\n"],
  [
    "braces that would grow beyond a line become lines, and what is inside stays in braces",
    `t:\n  a: { columns: { ${"x".repeat(40)}: { hashed: true } } }\n  b: { columns: {} } # b\n`,
    { t: { a: { columns: { ["x".repeat(40)]: { hashed: false }, ["y".repeat(40)]: { hashed: false } } }, b: { columns: {} } } },
    `t:\n  a:\n    columns:\n      ${"x".repeat(40)}: { hashed: false }\n      ${"y".repeat(40)}: { hashed: false }\n  b: { columns: {} } # b\n`,
  ],
  [
    "braces with a comment behind them stay braces",
    `a: { ${"x".repeat(60)}: 1 } # a\n`,
    { a: { ["x".repeat(60)]: 1, ["y".repeat(60)]: 2 } },
    `a: { ${"x".repeat(60)}: 1, ${"y".repeat(60)}: 2 } # a\n`,
  ],
  [
    "hostile keys are keys",
    '"__proto__": { "a/b": 1 }\n',
    JSON.parse('{"__proto__":{"a/b":2,"constructor":3}}') as JsonValue,
    '"__proto__": { "a/b": 2, constructor: 3 }\n',
  ],
])("%s", (_, before, after, text) => {
  expect(change(before, after)).toBe(text);
});

test("only the document that is meant is changed", () => {
  const text = "a: 1\n---\n# second\na: 1\n---\na: 1\n";
  expect(editYaml(text, 1, valueEdits({ a: 1 }, { a: 2 }))).toBe("a: 1\n---\n# second\na: 2\n---\na: 1\n");
});

const scalar = fc.oneof(
  fc.string({ maxLength: 6, unit: "binary" }),
  fc.string({ maxLength: 6 }),
  fc.constantFrom("yes", "~", "1e3", "- a", "a: b", "#", "\u0024{x}", "__proto__", " x "),
  fc.boolean(),
  fc.integer(),
  fc.constant(null),
);
const json = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    scalar,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.constantFrom("a", "b", "c", "id"), fc.string({ maxLength: 4 })), tie("value"), { maxKeys: 4 }),
  ),
})).value;
const map = fc.dictionary(fc.constantFrom("a", "b", "c"), json, { minKeys: 1 });

test("what is printed reads back alike", () => {
  fc.assert(
    fc.property(json, (value) => {
      const options = { stringKeys: true } as const;
      expect(parse(inlineYaml(value), options)).toEqual(parse(JSON.stringify(value), options));
      expect(parse(yamlLines({ value }).join("\n"), options)).toEqual(parse(JSON.stringify({ value }), options));
    }),
    { numRuns: 500 },
  );
});

test("edits make one value of another", () => {
  fc.assert(
    fc.property(json, json, (a, b) => {
      expect(canonicalJson(applyEdits(a, valueEdits(a, b)))).toBe(canonicalJson(b));
    }),
    { numRuns: 500 },
  );
});

test("any printed map can be edited into any other, or it is refused", () => {
  fc.assert(
    fc.property(map, map, fc.boolean(), (before, after, isBlock) => {
      const text = isBlock ? `${yamlLines(before).join("\n")}\n` : `${inlineYaml(before)}\n`;
      const options = { stringKeys: true } as const;
      const read = parse(text, options) as JsonValue;
      const wanted = parse(JSON.stringify(after), options) as JsonValue;
      const edited = editYaml(text, 0, valueEdits(read, wanted));
      if (typeof edited !== "string") return;
      const plain = (value: JsonValue): string => canonicalJson(value).replaceAll("$\u0024{", "\u0024{");
      expect(plain(parse(edited, options) as JsonValue)).toBe(plain(wanted));
    }),
    { numRuns: 1000 },
  );
});

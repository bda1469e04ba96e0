// YAML is read with bounded work, and what is wrong in it is named with its place.
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { canonicalJson, type JsonValue } from "../../../../src/core/base/model/json/json.ts";
import { hiddenCharacters } from "../../../../src/core/base/yaml/hidden.ts";
import { read, type YamlText } from "../../../../src/core/base/yaml/read.ts";
import fc, { anyCodePoint } from "../../../support/fast-check.ts";
import { runs } from "../../../support/sample.ts";

const values = ({ documents }: YamlText) => documents.map(({ index, value }) => ({ index, value }));

const only = (text: string): unknown => {
  const { documents, problems } = read(text);
  expect(problems).toEqual([]);
  expect(documents).toHaveLength(1);
  return documents[0]?.value;
};

describe("YAML 1.2 core", () => {
  const rows: Readonly<Record<string, readonly [text: string, value: unknown]>> = {
    "yes, no, on and off are strings": ["[yes, no, on, off, y]", ["yes", "no", "on", "off", "y"]],
    "true and false in three spellings": ["[true, False, TRUE]", [true, false, true]],
    "numbers, also hexadecimal and octal": ["[1, -2, 1.5, 1e3, 0x10, 0o10]", [1, -2, 1.5, 1000, 16, 8]],
    "a leading zero is decimal, and sexagesimal is a string": ["[010, 1:30]", [10, "1:30"]],
    "dates are strings": ["a: 2027-01-31", { a: "2027-01-31" }],
    nothing: ["[~, null, '']", [null, null, ""]],
    "a %YAML 1.1 line changes nothing": ["%YAML 1.1\n---\na: yes", { a: "yes" }],
    anchors: ["{ a: &x [1], b: *x }", { a: [1], b: [1] }],
    "keys are strings as written": [
      "{ 1.0: a, 0x10: b, true: c, ~: d, null: e }",
      { "1.0": "a", "0x10": "b", true: "c", "~": "d", null: "e" },
    ],
  };
  test.each(Object.entries(rows))("%s", (_name, [text, value]) => {
    expect(only(text)).toEqual(value);
  });
  test("names like __proto__ are own members", () => {
    const names = ["__proto__", "constructor", "toString", "hasOwnProperty", "a/b", "a.b", "100%", "..", " x ", "ü", "", "<<"];
    const value = only(names.map((name) => `${JSON.stringify(name)}: { enabled: true }`).join("\n"));
    expect(Object.keys(value as object)).toEqual(names);
  });
  test("documents are counted from 0, and empty ones are counted but left out", () => {
    expect(read("---\n---\na: 1\n---\n# c\n---\nb: 2\n").documents).toEqual([
      { index: 1, value: { a: 1 }, isInert: true },
      { index: 3, value: { b: 2 }, isInert: true },
    ]);
    expect(read("")).toEqual({ documents: [], problems: [] });
  });
  test("a thousand aliases of one value are allowed", () => {
    expect(only(`a: &x { b: 1 }\nc: [${Array(1000).fill("*x").join(", ")}]`)).toMatchObject({ a: { b: 1 } });
  });
});

const key = fc.oneof(fc.string(), fc.constantFrom("__proto__", "constructor", "a/b", "~", "1", "1.0", "true", "- a", "#", "a: b"));
const scalar = fc.oneof(
  fc.string({ unit: anyCodePoint }).map((text) => text.replaceAll(/[\p{Cc}\p{Cn}\ufeff\u2028\u2029\ufffe\uffff]/gu, " ")),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).filter((number) => !Number.isInteger(number) || Number.isSafeInteger(number)),
  fc.boolean(),
  fc.constant(null),
  fc.constantFrom("yes", "1", "null", "~", "2027-01-31", "0x1", "a: b", "- a", "# a", "'", '"', "{", "*a", "&a", "!a", "%a", "@a", "`a"),
);
const tree = fc.letrec<{ readonly value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    scalar,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(key, tie("value"), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value;

test("any tree printed as YAML is read as the same tree", () => {
  fc.assert(
    fc.property(tree, fc.constantFrom("QUOTE_DOUBLE" as const, "QUOTE_SINGLE" as const, "PLAIN" as const), (value, defaultStringType) => {
      const expected = canonicalJson({ value }); // as text, in which -0 is 0, as in JSON
      expect(canonicalJson(only(stringify({ value }, { version: "1.2", defaultStringType })))).toBe(expected);
      expect(canonicalJson(only(JSON.stringify({ value }, undefined, 1)))).toBe(expected);
    }),
    { numRuns: runs(50, 2_000) },
  );
});

test.each([
  ["a tag", "a: !!str 1\n"],
  ["a dollar sign", "a: $x\n"],
  ["a number that is too large", "a: 12345678901234567890\n"],
])("a text with %s is not inert", (_sentence, text) => {
  expect(read(text).documents.map(({ isInert }) => isInert)).not.toContain(true);
});

test("a broken document does not hide the others, and problems have the offsets of the file", () => {
  const text = "a: 1\n---\nb: !x 1\n---\nc: 0x1f\n---\nd: !y 3\n---\ne: 3\n";
  const { documents, problems } = read(text);
  expect(values({ documents, problems })).toEqual([
    { index: 0, value: { a: 1 } },
    { index: 2, value: { c: 31 } },
    { index: 4, value: { e: 3 } },
  ]);
  expect(problems.map(({ document, offset }) => [document, text.slice(offset, offset + 5)])).toEqual([
    [1, "!x 1\n"],
    [3, "!y 3\n"],
  ]);
});

describe("a syntax error is", () => {
  const rows: Readonly<Record<string, readonly [text: string, offset: number]>> = {
    "a marker behind |": ["a: | ---\n  x\nb: 1\n", 5],
    "a marker behind >-": ["spec: >- ---\n  x\nkind: Tag\n", 9],
    "a marker behind | and a tab": ["a: |\t---\n x\nb: 1\n", 5],
    "a marker behind | in a list": ["a:\n  - |2 ---\n  - y\nb: 2\n", 10],
    "a marker behind | behind a marker": ["--- | ---\nb: 1\n", 6],
    "a marker behind | in a file with directives": ["%YAML 1.2\n---\na: | ---\n  x\nb: 1\n", 19],
    "the end of a document behind |": ["a: | ...\nb: 1\n", 5],
    "a lone CR in quotes": ["a: 'x\ry'\n", 5],
    "a lone CR": ["a: 1 # x\rb: 2\n", 8],
    "a lone CR behind a marker": ["a: !x 1\n---\rb: 1\n", 11],
    NEL: ["a: x\u0085b: 2\n", 4],
    "LS in a comment": ["# c\u2028a: 1\nb: 2\n", 3],
    "PS in a block": ["a: |\n  x\u2029y\nb: 2\n", 8],
    "LS before a marker": ["a: x\u2028---\n---\nb: 1\n", 4],
    "LS between quotes of two comments": ["# it's\u2028\n# it's\n", 6],
  };
  test.each(Object.entries(rows))("%s", (_name, [text, offset]) => {
    expect(read(text)).toMatchObject({ documents: [], problems: [{ code: "E_YAML_SYNTAX", offset }] });
  });
  test.each([
    ["markers in text, comments and names", "a: ---\nb: x --- y\n# | ---\nc: 'x ---'\nd: |\n  a\n  ---\n---\n---: 1\n"],
    ["line breaks of other readers in quotes", `a: "x\u2028y"\nb: 'x\u0085y'\n---\nc: [ "\u2029" ]\n`],
  ])("not %s", (_name, text) => {
    expect(read(text).problems).toEqual([]);
  });
});

test("hidden characters are found in comments, names and patterns, with their places", () => {
  const text = `a: em\u200bail # \u202ex\nb: "*ph\u043ene*"\nc: имя_column\nd: 🏳️‍🌈 日本語 é naïve Ω-meter\n`;
  expect(hiddenCharacters(text).map(({ offset, message }) => [offset, /U\+[0-9A-F]+/u.exec(message)?.[0]])).toEqual([
    [5, "U+200B"],
    [12, "U+202E"],
    [22, "U+043E"],
  ]);
});

test("the values that aliases repeat are bounded, and shared", () => {
  const nested = [..."bcdefghijklmnop"].map(
    (name, index) => `${name}: &${name} [*${"abcdefghijklmno"[index]}, *${"abcdefghijklmno"[index]}]\n`,
  );
  expect(read(`a: &a [1]\n${nested.join("")}`).problems).toEqual([]);
  const wide = (name: string, of: string) => `${name}: &${name} [${Array(100).fill(`*${of}`).join(", ")}]\n`;
  const text = `a: &a [1]\n${wide("b", "a")}${wide("c", "b")}${wide("d", "c")}`;
  const { documents, problems } = read(text);
  expect(documents).toEqual([]);
  expect(problems).toMatchObject([{ code: "E_YAML_SYNTAX" }]);
  expect(text.slice(problems[0]?.offset).split(/[,\]]/u, 1)).toEqual(["*c"]);
});

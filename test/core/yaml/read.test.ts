import { describe, expect, test } from "vitest";
import { parseAllDocuments, stringify } from "yaml";
import { canonicalJson, type JsonValue } from "../../../src/core/model/json/json.ts";
import { documentRanges } from "../../../src/core/yaml/document-ranges.ts";
import { disputedLineBreaks, hiddenCharacters } from "../../../src/core/yaml/hidden.ts";
import { parserOptions } from "../../../src/core/yaml/parse.ts";
import { read, type YamlText } from "../../../src/core/yaml/read.ts";
import fc, { anyCodePoint } from "../../support/fast-check.ts";
import { runs } from "../../support/sample.ts";
import { blocksAndAnchors, mutatedManifest, yamlLines } from "./fast/texts.ts";
import { byLibraryAlone } from "./library-alone.ts";
import { bySecondReader, shapesOf } from "./second-reader.ts";

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

describe("what only the library reads, in a file of more than 2 MiB", () => {
  const plain = Array.from({ length: 1_100 }, (_, index) => `key_${index}: { note: ${"long ".repeat(400)}, enabled: true }\n`).join("");
  const lineOf = (text: string): number | undefined => {
    const { documents, problems } = read(text);
    expect(documents).toEqual([]);
    expect(problems.map(({ code }) => code)).toEqual(["E_YAML_TOO_LARGE"]);
    return text.slice(0, problems[0]?.offset).split("\n").length;
  };
  const rows: Readonly<Record<string, string>> = {
    "a tag": "tagged: !!binary x\n",
    "a syntax error": "a: b: c\n",
    "an unusual number": "mask: 0x1F\n",
    "a key after a question mark": "? a\n: b\n",
  };
  test.each(Object.entries(rows))("%s is found on its line, without the library", (_name, line) => {
    expect(lineOf(`${plain}${line}more: 1\n`)).toBe(1_101);
  });
  test("so is a syntax error between Windows line breaks", () => {
    expect(lineOf(`${plain}a: b: c\n`.replaceAll("\n", "\r\n"))).toBe(1_101);
  });
  test("a key that is there twice is found on its line, or where its map ends", () => {
    expect(lineOf(`a:\n  b: 1\n  b: 2\n${plain}`)).toBe(3);
  });
  test("other documents of the file keep their values, and small ones are read by the library until 2 MiB", () => {
    const { documents, problems } = read(`a: 0x1F\n---\n${plain}mask: 0x1F\n---\nc: 1\n---\nd: 0x1F\n`);
    expect(documents).toMatchObject([
      { index: 0, value: { a: 31 } },
      { index: 2, value: { c: 1 } },
    ]);
    expect(problems.map(({ code, document }) => [code, document])).toEqual([
      ["E_YAML_TOO_LARGE", 1],
      ["E_YAML_TOO_LARGE", 3],
    ]);
  });
  test("a file with directives is not split", () => {
    expect(lineOf(`%YAML 1.2\n---\n${plain}`)).toBe(1);
  });
  test("a plain file of that size is read", () => {
    expect(read(plain).problems).toEqual([]);
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

test("with the library alone, a text has the same values", () => {
  const text = "b: 1\na: { c: [x, 'y'] }\n---\nd:\n";
  expect(values(read(text, { parser: "library" }))).toEqual(values(read(text)));
});

test("a document that needs the library does not slow the others, and problems have the offsets of the file", () => {
  const text = "a: 1\n---\nb: !x 1\n---\nc: 0x1f\n---\nd: !y 3\n---\ne: 3\n";
  const { documents, problems } = read(text);
  expect(documents.map(({ index, value, isInert }) => [index, value, isInert])).toEqual([
    [0, { a: 1 }, true],
    [2, { c: 31 }, false],
    [4, { e: 3 }, true],
  ]);
  expect(problems.map(({ document, offset }) => [document, text.slice(offset, offset + 5)])).toEqual([
    [1, "!x 1\n"],
    [3, "!y 3\n"],
  ]);
});

const ownValues = (text: string): unknown => {
  const own = read(text);
  return own.problems.length > 0 ? undefined : values(own);
};

describe("a syntax error is", () => {
  const rows: Readonly<Record<string, readonly [text: string, offset: number]>> = {
    "a marker behind |, which would drop the rest of the document": ["a: | ---\n  x\nb: 1\n", 5],
    "a marker behind >-": ["spec: >- ---\n  x\nkind: Tag\n", 9],
    "a marker behind | and a tab": ["a: |\t---\n x\nb: 1\n", 5],
    "a marker behind | in a list": ["a:\n  - |2 ---\n  - y\nb: 2\n", 10],
    "a marker behind | behind a marker": ["--- | ---\nb: 1\n", 6],
    "a marker behind | in a file with directives": ["%YAML 1.2\n---\na: | ---\n  x\nb: 1\n", 19],
    "the end of a document behind |": ["a: | ...\nb: 1\n", 5],
    "a lone CR": ["a: 1 # x\rb: 2\n", 8],
    "a lone CR behind a marker": ["a: !x 1\n---\rb: 1\n", 11],
    NEL: ["a: x\u0085b: 2\n", 4],
    "LS in a comment": ["# c\u2028a: 1\nb: 2\n", 3],
    "PS in a block": ["a: |\n  x\u2029y\nb: 2\n", 8],
    "LS before a marker": ["a: x\u2028---\n---\nb: 1\n", 4],
    "LS between quotes of two comments": ["# it's\u2028\n# it's\n", 6],
  };
  test.each(Object.entries(rows))("%s", (_name, [text, offset]) => {
    for (const parser of [undefined, "library"] as const)
      expect(read(text, { parser })).toMatchObject({ documents: [], problems: [{ code: "E_YAML_SYNTAX", offset }] });
  });
  test.each([
    ["markers in text, comments and names", "a: ---\nb: x --- y\n# | ---\nc: 'x ---'\nd: |\n  a\n  ---\n---\n---: 1\n"],
    ["line breaks of other readers in quotes", `a: "x\u2028y"\nb: 'x\u0085y'\n`],
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

describe("a text of several documents is read as by the library, with", () => {
  test.each([
    ["a lone CR before the marker", "a: 'x\r---'\n---\nb: 1\n"],
    ["a no-break space before the marker", "\u00a0\n---\nb: 0x1\n"],
    ["a tab where a value is missing", "a:\n\t\n---\nb: 1\n"],
    ["a byte order mark before a directive", "\ufeff%YAML 1.2\n---\na: 0x1\n---\nb: 1\n"],
    ["a byte order mark after the end of a document", "a: 1\n...\n\ufeff---\nb: 0x1\n"],
    [
      "aliases in aliases",
      `a: &a { x: 1 }\n${[..."bcdefghijklmnop"].map((name, index) => `${name}: &${name} [*${"abcdefghijklmno"[index]}]\n`).join("")}`,
    ],
    ["an unclosed quote", `a: "x\n---\nb: 1\n`],
    ["an unclosed bracket", "a: [x,\n---\nb: 1\n"],
    ["a block scalar at the end", "a: |+\n  x\n\n---\nb: 0x1\n"],
    ["a marker inside a block scalar", "a: |\n  x\n  ---\n  y\n--- # c\nb: 0x1\n"],
    ["a word that begins like a marker", "a: 0x1\n---b: 1\n"],
    ["content on the line of the marker", "--- a\n--- |\n x\n---\nb: 0x1\n"],
    ["indented comments before the first marker", " # c\n\t\n---\na: 0x1\n---\n# d\n"],
  ])("%s", (_name, text) => {
    expect(ownValues(text)).toEqual(byLibraryAlone(text));
    expect(values(read(text))).toEqual(values(read(text, { parser: "library" })));
  });

  test("as many uses of an alias as the library allows", () => {
    const uses = (count: number) => `a: &x 1\nb:\n${"  - *x\n".repeat(count)}`;
    expect(read(uses(9_999)).problems).toEqual([]);
    expect(read(uses(10_000)).problems).toMatchObject([{ code: "E_ALIAS_EXPANSION" }]);
  });

  test("two thousand documents that need the library, in linear time", () => {
    const one = 'kind: Tag\nspec:\n  description: "\\x41\n    b"\n';
    const { documents, problems } = read(`${`${one}---\n`.repeat(2_000)}a: !x 1\n`);
    expect(documents).toHaveLength(2_000);
    expect(problems).toMatchObject([{ document: 2_000, offset: one.length * 2_000 + 8_003 }]);
  });

  const separator = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom("---\n", "--- # c\n", "# c\n---\n") },
    {
      weight: 2,
      arbitrary: fc.constantFrom(
        "---\r",
        "\u2028---\n",
        "\u2029---\n",
        "\r---\n",
        "...\n",
        "...\n---\n",
        " ---\n",
        "---\t\n",
        "--- ",
        "\t\n---\n",
        "---x\n",
        "\ufeff---\n",
        "%YAML 1.2\n---\n",
      ),
    },
  );
  test("what is read has the maps and lists that a second reader finds, or that reader refuses it because it is stricter", () => {
    let compared = 0;
    fc.assert(
      fc.property(fc.oneof(yamlLines, mutatedManifest, blocksAndAnchors), (text) => {
        const { documents, problems } = read(text);
        const shapes = shapesOf(documents.map(({ value }) => value));
        if (problems.length > 0 || shapes.length === 0) return;
        const second = bySecondReader(text);
        if (second === undefined) return;
        compared++;
        expect(shapes).toEqual(second);
      }),
      { numRuns: runs(200, 20_000) },
    );
    expect(compared).toBeGreaterThan(0);
    // A text whose end was once dropped: if it were read, the second reader would throw.
    const dropped = "a: | ---\n  x\nguards: {}\n";
    expect(read(dropped).problems).toMatchObject([{ code: "E_YAML_SYNTAX" }]);
    expect(() => bySecondReader(dropped)).toThrow();
  });

  test("any documents and separators", () => {
    let answered = 0;
    const numRuns = runs(100, 40_000);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(separator, fc.oneof(yamlLines, mutatedManifest, blocksAndAnchors, fc.constantFrom("a: 0x1\n", "", "# c"))), {
          minLength: 2,
          maxLength: 4,
        }),
        fc.constantFrom("", "\n"),
        (parts, end) => {
          const text = parts.map(([mark, part]) => `${mark}${part}${end}`).join("");
          if (disputedLineBreaks(text, text.length).length > 0) return;
          const expected = byLibraryAlone(text);
          expect(ownValues(text)).toEqual(expected);
          if (expected === undefined) return;
          answered++;
          expect(documentRanges(text)).toHaveLength(Math.max(1, parseAllDocuments(text, parserOptions).length));
        },
      ),
      { numRuns },
    );
    expect(answered).toBeGreaterThan(numRuns / 30);
  });
});

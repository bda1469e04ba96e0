import { describe, expect, test } from "vitest";
import { parsePlainYaml } from "../../../../src/core/yaml/fast/transcode.ts";
import { numberedText, readByLibrary } from "../../../../src/core/yaml/library.ts";
import fc from "../../../support/fast-check.ts";
import { runs } from "../../../support/sample.ts";
import { brokenFlows } from "./flow-texts.ts";
import { blocksAndAnchors, foldedScalars, mutatedManifest, yamlLines } from "./texts.ts";

/** The documents as JSON, keys in their order; `-0` and `__proto__` are distinguishable from 0 and an absent member. */
function asText(documents: readonly { readonly index: number; readonly value: unknown }[]): string {
  return JSON.stringify(documents, (_key, value: unknown) => (Object.is(value, -0) ? "minus zero" : value));
}

/** The values by the YAML library; undefined if it finds a problem. */
function byLibrary(text: string): string | undefined {
  const { documents, problems } = readByLibrary(numberedText(text));
  return problems.length > 0 ? undefined : asText(documents);
}

function byFastPath(text: string): string | undefined {
  const documents = parsePlainYaml(text);
  return documents === undefined ? undefined : asText(documents);
}

describe("the fast path reads", () => {
  const rows: readonly (readonly [sentence: string, text: string, value: unknown])[] = [
    ["block maps in block maps", "a:\n  b:\n    c: d\n  e: f\n", { a: { b: { c: "d" }, e: "f" } }],
    ["flow maps on one line", "email: { enabled: true, hashed: false }\n", { email: { enabled: true, hashed: false } }],
    [
      "long lists as import writes them",
      "rules:\n  - match:\n      table:\n        [a, b, c,\n         d, e]\n    ignore: true\n",
      { rules: [{ match: { table: ["a", "b", "c", "d", "e"] }, ignore: true }] },
    ],
    [
      "brackets over several lines with comments, empty lines and a comma at the end",
      "a: [ # all\n    b, 'c', # d, ]\n\n    # e\n    [ f ] # g\n    , h,\n  ]\n",
      { a: ["b", "c", ["f"], "h"] },
    ],
    [
      "braces over several lines that end below their key",
      "a: {\n  b:\n    1,\n  c: { d: x,\n    y: 2 }\n}\n",
      { a: { b: 1, c: { d: "x", y: 2 } } },
    ],
    ["brackets below a dash", "-\n  [a,\n b]\n- {c: d,\n}\n", [["a", "b"], { c: "d" }]],
    ["lists deeper than their key", "a:\n  - x\n  - y\n", { a: ["x", "y"] }],
    ["lists in the same column as their key", "a:\n- x\n-\n- y\nb: 1\n", { a: ["x", null, "y"], b: 1 }],
    ["maps that begin after a dash", "- id: a\n  set: { hashed: true }\n- id: b\n", [{ id: "a", set: { hashed: true } }, { id: "b" }]],
    ["quoted keys and values", `"a b": 'it''s'\n'c: d': "tab\\t\\"\\\\"\n`, { "a b": "it's", "c: d": 'tab\t"\\' }],
    [
      "the words of YAML 1.2 core",
      "a: ~\nb: Null\nc: TRUE\nd: False\ne: yes\nf: nulls\n",
      { a: null, b: null, c: true, d: false, e: "yes", f: "nulls" },
    ],
    ["plain numbers", "a: 0\nb: -12\nc: 1.50\nd: 123456789012345\n", { a: 0, b: -12, c: 1.5, d: 123456789012345 }],
    [
      "text that looks like a number",
      "a: 1h\nb: 2027-03-31\nc: 10.0.0.1\nd: 1_000\ne: 12:30\n",
      { a: "1h", b: "2027-03-31", c: "10.0.0.1", d: "1_000", e: "12:30" },
    ],
    ["keys as strings", "1.0: a\ntrue: b\n~: c\n", { "1.0": "a", true: "b", "~": "c" }],
    ["names that every object has", "__proto__: { constructor: x }\n", JSON.parse('{"__proto__":{"constructor":"x"}}')],
    ["comments and empty lines", "# a\n\na: b # c\n  # d\nc: # e\n  d: f#g\n\n", { a: "b", c: { d: "f#g" } }],
    ["members without a value", "a:\nb:\n  c:\n", { a: null, b: { c: null } }],
    ["text beyond ASCII", "ü: „ß“ 😀\n", { ü: "„ß“ 😀" }],
    ["Windows line breaks", "a:\r\n  b: c\r\n", { a: { b: "c" } }],
    ["a text without a last line break", "a: b", { a: "b" }],
    [
      "literal block scalars",
      'a: | # why\n  one\n   two "x"\n\n  three\n\n\nb:\n  - |-\n   four\n  # c\n  - 5\n',
      { a: 'one\n two "x"\n\nthree\n', b: ["four", 5] },
    ],
    ["folded block scalars", "a: >\n\n  one\n  two\n\n\n  three\nb: >-\n  four\n  five", { a: "\none two\n\nthree\n", b: "four five" }],
    [
      "plain text, on deeper lines",
      "a: b  \n  c - d\n\n   e #f\ng:\n  - h\n\n\n     i\n  - 12\n    13 # j\nk:\n  - l: m\n     n\n  -\n   o\n   p\n",
      { a: "b c - d\ne", g: ["h\n\ni", "12 13"], k: [{ l: "m n" }, "o p"] },
    ],
    [
      "quoted text over several lines",
      `a: "b  \n   c\\n\n\n  \\" d"\nb: '  \n e''\n \n '\nc:\n  "f: g\n  # h"\nd: [ 'i\n  j', { k: "l\n    m" } ]\n`,
      { a: 'b c\n\n" d', b: " e'\n", c: "f: g # h", d: ["i j", { k: "l m" }] },
    ],
    [
      "anchors and aliases",
      "a: &x { c: 1, b: [2] }\nd: *x\ne: &y\n  - &z f\n  - *x\ng: [*z, *y]\n",
      { a: { c: 1, b: [2] }, d: { c: 1, b: [2] }, e: ["f", { c: 1, b: [2] }], g: ["f", ["f", { c: 1, b: [2] }]] },
    ],
    ["an anchor of a value on the next line", "a: &x\n  [1]\nb: &y\n- c\nd: [*x, *y]\n", { a: [1], b: ["c"], d: [[1], ["c"]] }],
  ];
  test.each(rows)("%s", (_sentence, text, value) => {
    expect(parsePlainYaml(text)).toStrictEqual([{ index: 0, value }]);
    expect(byFastPath(text)).toBe(byLibrary(text));
  });

  test("several documents, empty ones counted", () => {
    const text = "# first\n---\na: 1\n--- # none\n---\nb: 2\n---\n";
    expect(parsePlainYaml(text)).toStrictEqual([
      { index: 0, value: { a: 1 } },
      { index: 2, value: { b: 2 } },
    ]);
    expect(byFastPath(text)).toBe(byLibrary(text));
  });
});

describe("the fast path leaves to the library", () => {
  const rows: readonly (readonly [sentence: string, text: string])[] = [
    ["a duplicate key", "a: 1\nb: 2\na: 1\n"],
    ["a value below a comment that is not indented", "a:\n#b\n\n    text\nc: 1\n"],
    ["a duplicate key among twenty", `${[..."tsrqponmlkjihgfedcba"].map((key) => `${key}: 1\n`).join("")}k: 2\n`],
    ["a duplicate key in braces", "a: { b: 1, b: 2 }\n"],
    ["a duplicate key in two notations", `a: 1\n"a": 2\n`],
    ["anchors in braces", "a: { b: &x 1 }\n"],
    ["anchors of keys", "&x a: 1\n"],
    ["anchors of nothing", "a: &x\nb: 1\n"],
    ["anchors that are defined twice", "a: &x 1\nb: &x 2\n"],
    ["anchors with unusual names", "a: &x.y 1\n"],
    ["aliases without an anchor", "a: *x\n"],
    ["aliases inside the value that they refer to", "a: &x\n  b: *x\n"],
    ["aliases inside the value with the same anchor again", "a: &x 1\nb: &x\n  c: *x\n"],
    ["aliases as keys", "a: &x b\n*x : c\n"],
    ["aliases that repeat more than the text", `a: &x [${"long, ".repeat(50)}]\nb: &y [*x, *x, *x]\nc: [*y, *y]\n`],
    ["tags", "a: !!str 1\n"],
    ["block scalars with explicit indentation", "a: |2\n  text\n"],
    ["block scalars that keep line breaks", "a: |+\n  text\n\n"],
    ["block scalars without text", "a: |\nb: 1\n"],
    ["block scalars with tabs", "a: |\n  b\tc\n"],
    ["block scalars with more spaces in an empty line", "a: |\n  b\n    \n  c\n"],
    ["block scalars that begin with too many spaces", "a: |\n    \n  b\n"],
    ["more-indented lines in folded scalars", "a: >\n  b\n    c\n"],
    ["plain text over several lines that is not deeper", "a:\n  b: c\n  d\n"],
    ["plain text over several lines with a comment between", "a: b\n  # c\n  d\n"],
    ["a key on the second line of a plain text", "a: b\n  c: d\n"],
    ["quoted text over several lines that is not deeper", `a: "b\nc"\n`],
    ["quoted text with an escaped line break", `a: "b\\\n  c"\n`],
    ["a tab at the start of a line of text", "a: b\n \tc\n"],
    ["a key over several lines", `"a\n b": c\n`],
    ["brackets that are not indented", "a: [\nb ]\n"],
    ["inner brackets that end below the key", "a: [[\n  b\n], c]\n"],
    ["brackets that end above the key", "a:\n  b: [\n    c\n ]\n"],
    ["brackets on the next line that are not deeper", "a:\n[b]\n"],
    ["brackets that are a key on the next line", "a:\n  [b]: c\n"],
    ["unclosed brackets", "a: [b,\n  c\n"],
    ["plain text over several lines in brackets", "a: [b\n  c]\n"],
    ["a key without its colon on the line", "a: {b\n  : c}\n"],
    ["an entry that is a map without braces", `a: ["b"\n  : c]\n`],
    ["two commas", "a: [b,\n  , c]\n"],
    ["a single comma", "a: [\n  ,]\n"],
    ["comments directly after a comma", "a: [b,# c\n  d]\n"],
    ["comments at the start of a line in brackets", "a: [[b]\n# c\n  , d]\n"],
    ["the start of a document in brackets", "a: [b,\n---\n  c]\n"],
    ["tabs in brackets", "a: [b,\n\tc]\n"],
    ["a duplicate key over several lines", "a: { b: 1,\n  b: 2 }\n"],
    ["complex keys", "? a\n: b\n"],
    ["members without a value in braces", "a: { b, c: }\n"],
    ["octal, hexadecimal, infinite and long numbers", "a: 0o7\n"],
    ["a number with leading zeros", "a: 007\n"],
    ["a number with an exponent", "a: 1e3\n"],
    ["a number that a double rounds", "a: 12345678901234567890\n"],
    ["minus zero", "a: -0\n"],
    ["infinity", "a: .inf\n"],
    ["escapes that JSON does not have", `a: "\\x41"\n`],
    ["tabs", "a:\tb\n"],
    ["directives", "%YAML 1.2\n---\na: b\n"],
    ["the document end marker", "a: b\n...\n"],
    ["content after the document start marker", "--- a\n"],
    ["a document that is a single scalar", "text\n"],
    ["a colon in plain text", "a: b: c\n"],
    ["indentation that matches no level", "a:\n    b: 1\n  c: 2\n"],
    ["merge keys", "<<: { a: 1 }\n"],
    ["a byte order mark", "\ufeffa: b\n"],
    ["a lone surrogate", "a: \ud800\n"],
    ["very deep nesting", `a: ${"[".repeat(100)}${"]".repeat(100)}\n`],
  ];
  test.each(rows)("%s", (_sentence, text) => {
    expect(parsePlainYaml(text)).toBeUndefined();
  });
});

describe("if the fast path reads a text, it agrees with the library, on", () => {
  const numRuns = runs(400, 80_000);
  test.each([
    ["lines made of ordinary and unusual pieces", yamlLines],
    ["manifests with problems", mutatedManifest],
    ["flow collections over several lines", brokenFlows],
    ["block scalars, anchors and aliases", blocksAndAnchors],
    ["scalars over several lines", foldedScalars],
  ])("%s", (_sentence, lines) => {
    const texts = fc.tuple(lines, fc.boolean()).map(([text, isWindows]) => (isWindows ? text.replaceAll("\n", "\r\n") : text));
    let answered = 0;
    fc.assert(
      fc.property(texts, (text) => {
        const fast = byFastPath(text);
        if (fast === undefined) return;
        answered++;
        expect(fast).toBe(byLibrary(text));
      }),
      { numRuns },
    );
    // A fast path that reads nothing would agree, too.
    expect(answered).toBeGreaterThan(numRuns / 30);
  });
});

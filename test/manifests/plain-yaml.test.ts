import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson } from "../../src/model/json.ts";
import { parsePlainYaml } from "../../src/yaml/fast/transcode.ts";
import { parseAnyValues } from "../../src/yaml/read.ts";
import { brokenFlows } from "./plain-yaml-flow-texts.ts";
import { mutatedManifest, yamlLines } from "./plain-yaml-texts.ts";

/** The documents as text: what JSON has, in the order of keys, `-0` and `__proto__` told apart from 0 and nothing. */
function shown(documents: readonly { readonly index: number; readonly value: unknown }[]): string {
  return JSON.stringify(documents, (_key, value: unknown) => (Object.is(value, -0) ? "minus zero" : value));
}

/** What the YAML library makes of it; undefined where it finds a mistake. */
function byLibrary(text: string): string | undefined {
  const { documents, faults } = parseAnyValues(text);
  return faults.length > 0 ? undefined : shown(documents);
}

function byFastPath(text: string): string | undefined {
  const documents = parsePlainYaml(text);
  return documents === undefined ? undefined : shown(documents);
}

describe("the fast path reads", () => {
  const rows: readonly (readonly [sentence: string, text: string, value: unknown])[] = [
    ["block maps in block maps", "a:\n  b:\n    c: d\n  e: f\n", { a: { b: { c: "d" }, e: "f" } }],
    ["maps in braces on one line", "email: { enabled: true, hashed: false }\n", { email: { enabled: true, hashed: false } }],
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
    ["lists in the column of their key", "a:\n- x\n-\n- y\nb: 1\n", { a: ["x", null, "y"], b: 1 }],
    ["maps that begin behind a dash", "- id: a\n  set: { hashed: true }\n- id: b\n", [{ id: "a", set: { hashed: true } }, { id: "b" }]],
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
    ["keys as their text", "1.0: a\ntrue: b\n~: c\n", { "1.0": "a", true: "b", "~": "c" }],
    ["names that an object has anyway", "__proto__: { constructor: x }\n", JSON.parse('{"__proto__":{"constructor":"x"}}')],
    ["comments and empty lines", "# a\n\na: b # c\n  # d\nc: # e\n  d: f#g\n\n", { a: "b", c: { d: "f#g" } }],
    ["members without a value", "a:\nb:\n  c:\n", { a: null, b: { c: null } }],
    ["text beyond ASCII", "ü: „ß“ 😀\n", { ü: "„ß“ 😀" }],
    ["line breaks of Windows", "a:\r\n  b: c\r\n", { a: { b: "c" } }],
    ["a text without a last line break", "a: b", { a: "b" }],
  ];
  test.each(rows)("%s", (_sentence, text, value) => {
    expect(parsePlainYaml(text)).toStrictEqual([{ index: 0, value }]);
    expect(byFastPath(text)).toBe(byLibrary(text));
  });

  test("several documents, with the places of empty ones kept", () => {
    const text = "# first\n---\na: 1\n--- # none\n---\nb: 2\n---\n";
    expect(parsePlainYaml(text)).toStrictEqual([
      { index: 0, value: { a: 1 } },
      { index: 2, value: { b: 2 } },
    ]);
    expect(byFastPath(text)).toBe(byLibrary(text));
  });
});

describe("the fast path steps aside for", () => {
  const rows: readonly (readonly [sentence: string, text: string])[] = [
    ["a key given twice", "a: 1\nb: 2\na: 1\n"],
    ["a key given twice in braces", "a: { b: 1, b: 2 }\n"],
    ["a key given twice in two notations", `a: 1\n"a": 2\n`],
    ["anchors and aliases", "a: &x 1\nb: *x\n"],
    ["tags", "a: !!str 1\n"],
    ["block scalars", "a: |\n  text\n"],
    ["plain text over several lines", "a: b\n  c\n"],
    ["quoted text over several lines", `a: "b\n  c"\n`],
    ["brackets that aren't indented", "a: [\nb ]\n"],
    ["inner brackets that end below the key", "a: [[\n  b\n], c]\n"],
    ["brackets that end above the key", "a:\n  b: [\n    c\n ]\n"],
    ["brackets on a line below that aren't deeper", "a:\n[b]\n"],
    ["brackets that are a key on a line below", "a:\n  [b]: c\n"],
    ["brackets that never end", "a: [b,\n  c\n"],
    ["plain text over several lines in brackets", "a: [b\n  c]\n"],
    ["quoted text over several lines in brackets", `a: ["b\n  c"]\n`],
    ["a key without its colon on the line", "a: {b\n  : c}\n"],
    ["an entry that is a map without braces", `a: ["b"\n  : c]\n`],
    ["two commas", "a: [b,\n  , c]\n"],
    ["only a comma", "a: [\n  ,]\n"],
    ["comments right behind a comma", "a: [b,# c\n  d]\n"],
    ["comments at the start of a line in brackets", "a: [[b]\n# c\n  , d]\n"],
    ["the start of a document in brackets", "a: [b,\n---\n  c]\n"],
    ["tabs in brackets", "a: [b,\n\tc]\n"],
    ["a key given twice over several lines", "a: { b: 1,\n  b: 2 }\n"],
    ["complex keys", "? a\n: b\n"],
    ["members without a value in braces", "a: { b, c: }\n"],
    ["octal, hexadecimal, infinite and long numbers", "a: 0o7\n"],
    ["a number with leading zeros", "a: 007\n"],
    ["a number with an exponent", "a: 1e3\n"],
    ["a number that a double rounds", "a: 12345678901234567890\n"],
    ["minus zero", "a: -0\n"],
    ["infinity", "a: .inf\n"],
    ["escapes that JSON doesn't have", `a: "\\x41"\n`],
    ["tabs", "a:\tb\n"],
    ["directives", "%YAML 1.2\n---\na: b\n"],
    ["the end mark of a document", "a: b\n...\n"],
    ["content behind the start mark", "--- a\n"],
    ["a document that is only text", "text\n"],
    ["a colon in plain text", "a: b: c\n"],
    ["indentation that fits nothing", "a:\n    b: 1\n  c: 2\n"],
    ["merge keys", "<<: { a: 1 }\n"],
    ["a byte order mark", "\ufeffa: b\n"],
    ["half a character", "a: \ud800\n"],
    ["nesting beyond reason", `a: ${"[".repeat(100)}${"]".repeat(100)}\n`],
  ];
  test.each(rows)("%s", (_sentence, text) => {
    expect(parsePlainYaml(text)).toBeUndefined();
  });
});

/** The canonical JSON of each document by the fast path; undefined where it leaves sorting to others. */
function sorted(text: string): readonly (readonly [fast: string | undefined, canonical: string])[] {
  const documents = parsePlainYaml(text, (json) => Buffer.from(json).toString()) ?? [];
  return documents.map(({ digest, value }) => [digest, canonicalJson(value)]);
}

describe("the JSON for the digest has", () => {
  const rows: readonly (readonly [sentence: string, text: string, json: string])[] = [
    [
      "keys in order at every level",
      "c: { b: 1, a: { y: z, x: w } }\nb:\n  - { e: 1, d: 2 }\na:\n",
      '{"a":null,"b":[{"d":2,"e":1}],"c":{"a":{"x":"w","y":"z"},"b":1}}',
    ],
    ["a key before those that it begins", '"a b": 1\nab: 2\na: 3\na!: 4\n', '{"a":3,"a b":1,"a!":4,"ab":2}'],
    ["numbers and slashes as JavaScript writes them", `a: 1.50\nb: 0.000000001\nc: "\\/"\n`, '{"a":1.5,"b":1e-9,"c":"/"}'],
  ];
  test.each(rows)("%s", (_sentence, text, json) => {
    expect(sorted(text)).toEqual([[json, json]]);
  });

  test("each document's own, whatever stands before", () => {
    expect(sorted("b: 1\na: 2\n---\nd: 1\nc: 2\n")).toEqual(['{"a":2,"b":1}', '{"c":2,"d":1}'].map((json) => [json, json]));
  });

  test.each([
    ["keys that begin with a digit", "b: 1\n10: 1\n9: 1\n"],
    ["keys beyond ASCII", "b: 1\nü: 1\n"],
    ["escapes", `b: 1\n'"': 1\n`],
    ["escapes in double quotes", `b: 1\n"\\\\": 1\n`],
    ["quotes in plain text", 'b: 1\na"a: 1\n'],
  ])("nothing where there are %s", (_sentence, text) => {
    expect(sorted(text)).toMatchObject([[undefined, expect.any(String)]]);
  });
});

describe("where the fast path answers, it agrees with the library, on", () => {
  const runs = 8000;
  test.each([
    ["lines made of plain and nasty pieces", yamlLines],
    ["manifests with mistakes", mutatedManifest],
    ["flow collections over several lines", brokenFlows],
  ])("%s", (_sentence, texts) => {
    let answered = 0;
    let inOrder = 0;
    fc.assert(
      fc.property(texts, (text) => {
        const fast = byFastPath(text);
        if (fast === undefined) return;
        answered++;
        expect(fast).toBe(byLibrary(text));
        for (const [json, canonical] of sorted(text)) {
          if (json === undefined) continue;
          inOrder++;
          expect(json).toBe(canonical);
        }
      }),
      { numRuns: runs },
    );
    // A fast path that never answers would agree too.
    expect(answered).toBeGreaterThan(runs / 20);
    expect(inOrder).toBeGreaterThan(runs / 40);
  });
});

// An edit changes the values that it names and nothing else, or is refused.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Document, isScalar, type Node, parse, parseAllDocuments, parseDocument, visit } from "yaml";
import { canonicalJson, isObject, type JsonValue, own, sameJson } from "../../../../src/core/base/model/json/json.ts";
import { type Edit, editYaml } from "../../../../src/core/base/yaml/edit.ts";
import { blockLines, inlineYaml } from "../../../../src/core/base/yaml/print.ts";
import fc, { anyCodePoint } from "../../../support/fast-check.ts";
import { runs } from "../../../support/sample.ts";
import { map } from "./values.ts";

/** The edits that turn one map into another; lists are set whole. */
const valueEdits = (before: object, after: object, path: readonly string[] = []): readonly Edit[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key): readonly Edit[] => {
    const [old, value] = [before, after].map((all) => own(all as Readonly<Record<string, JsonValue>>, key));
    if (isObject(old) && isObject(value) && Object.keys(value).length > 0) return valueEdits(old, value, [...path, key]);
    return old !== undefined && value !== undefined && sameJson(old, value) ? [] : [{ path: [...path, key], value }];
  });

const change = (text: string, after: JsonValue): string => {
  const edited = editYaml(text, 0, valueEdits(parse(text) as object, after as object));
  return edited.refused.length === 0 ? edited.text : `refused at ${edited.refused.map(({ edit }) => edit.path.join("/")).join(", ")}`;
};

describe("a file is edited like this:", () => {
  test.each<readonly [sentence: string, before: string, after: JsonValue, text: string]>([
    ["a scalar changes in place", "a: 1 # one\nb: 2\n", { a: 3, b: 2 }, "a: 3 # one\nb: 2\n"],
    ["a value gets the quotes that it needs", "a: x\n", { a: "yes" }, 'a: "yes"\n'],
    ["a reference in a string is escaped", "a: x\n", { a: "\u0024{y}" }, 'a: "$\u0024{y}"\n'],
    ["a key without a value gets one", "a:\nb: 1\n", { a: { x: 1 }, b: 1 }, "a: { x: 1 }\nb: 1\n"],
    [
      "a member is added after the last one",
      "m:\n  a: 1 # one\n# tail\n",
      { m: { a: 1, b: { c: 2, d: { e: 3 } } } },
      "m:\n  a: 1 # one\n  b:\n    c: 2\n    d: { e: 3 }\n# tail\n",
    ],
    ["a member is added to a map in braces", "m: {a: 1} # m\n", { m: { a: 1, b: 2 } }, "m: {a: 1, b: 2} # m\n"],
    ["a member is added to an empty map", "m: {}\n", { m: { b: 2 } }, "m: { b: 2 }\n"],
    [
      "a member is removed with the comment above it",
      "m:\n  a: 1\n  # of b\n  b: 2\n  c: 3\n",
      { m: { a: 1, c: 3 } },
      "m:\n  a: 1\n  c: 3\n",
    ],
    ["the first and the last member of braces are removed", "m: { a: 1, b: 2, c: 3 }\n", { m: { b: 2 } }, "m: { b: 2 }\n"],
    [
      "all members of a map in lines are replaced by lines",
      "m:\r\n  a: 1\r\n  b: 2\r\n",
      { m: { c: { d: { e: 1 } }, f: 2 } },
      "m:\r\n  c:\r\n    d: { e: 1 }\r\n  f: 2\r\n",
    ],
    ["line breaks stay as they are", "a: 1\r\nm:\r\n  x: 1\r\n", { a: 1, m: { x: 1, z: 2 } }, "a: 1\r\nm:\r\n  x: 1\r\n  z: 2\r\n"],
    ["a file without a final line break still has none", "m:\n  x: 1", { m: { x: 1, z: 2 } }, "m:\n  x: 1\n  z: 2"],
    ["an anchor without an alias stays", "a: &x { k: 1 }\n", { a: { k: 2 } }, "a: &x { k: 2 }\n"],
    [
      "an edited alias is written out, and its anchor does not change",
      "a: &x { k: 1 }\nb: *x\n",
      { a: { k: 1 }, b: { k: 2 } },
      "a: &x { k: 1 }\nb: { k: 2 }\n",
    ],
    ["a value with an anchor that an alias uses is refused", "a: &x { k: 1 }\nb: *x\n", { a: { k: 2 }, b: { k: 1 } }, "refused at a/k"],
    ["an emptied list is on the line of its key", "l:\n  - a\nb: 1\n", { l: [], b: 1 }, "l: []\nb: 1\n"],
    ["block scalars are replaced", "t: |\n  a\n  b\nz: 1\n", { t: "c", z: 1 }, "t: c\nz: 1\n"],
    [
      "braces that would exceed a line become lines; inner braces stay",
      `t:\n  a: { columns: { ${"x".repeat(40)}: { hashed: true } } }\n  b: { columns: {} } # b\n`,
      { t: { a: { columns: { ["x".repeat(40)]: { hashed: false }, ["y".repeat(40)]: { hashed: false } } }, b: { columns: {} } } },
      `t:\n  a:\n    columns:\n      ${"x".repeat(40)}: { hashed: false }\n      ${"y".repeat(40)}: { hashed: false }\n  b: { columns: {} } # b\n`,
    ],
    [
      "the same, with a comment after them",
      `a: { ${"x".repeat(60)}: 1 } # a\n`,
      { a: { ["x".repeat(60)]: 1, ["y".repeat(60)]: 2 } },
      `a:\n  ${"x".repeat(60)}: 1\n  ${"y".repeat(60)}: 2 # a\n`,
    ],
    [
      "keys such as __proto__ are ordinary keys",
      '"__proto__": { "a/b": 1 }\n',
      JSON.parse('{"__proto__":{"a/b":2,"constructor":3}}') as JsonValue,
      '"__proto__": { "a/b": 2, constructor: 3 }\n',
    ],
  ])("%s", (_, before, after, text) => {
    expect(change(before, after)).toBe(text);
  });
});

const set = (path: string, value: JsonValue): Edit => ({ path: path.split("."), value });

describe("values are set at a path:", () => {
  const rows: readonly (readonly [what: string, before: string, edits: readonly Edit[], after: string])[] = [
    ["a literal in place", "a: true # why\nb: 1\n", [set("a", false)], "a: false # why\nb: 1\n"],
    ["a literal in a flow map", "t: { a: { x: true, y: 1 } } # c\n", [set("t.a.x", false)], "t: { a: { x: false, y: 1 } } # c\n"],
    [
      "a new tree, in the file's own indentation",
      "s:\n   a:\n      x: 1\n",
      [set("s.t.u.v", false)],
      "s:\n   a:\n      x: 1\n   t:\n      u: { v: false }\n",
    ],
    ["a new tree in a file without an example of indentation", "a: 1\n", [set("s.t.u.v", false)], "a: 1\ns:\n  t:\n    u: { v: false }\n"],
    ["new siblings", "s:\n  a: 1\n", [set("s.b", true), set("s.c", false)], "s:\n  a: 1\n  b: true\n  c: false\n"],
    [
      "new inner and outer keys at one place",
      "s:\n  t:\n    a: 1\n",
      [set("s.z", true), set("s.t.b", true)],
      "s:\n  t:\n    a: 1\n    b: true\n  z: true\n",
    ],
    [
      "after a block scalar",
      "s:\n  a: |\n    one\n\n    two\nz: 1\n",
      [set("s.b", true)],
      "s:\n  a: |\n    one\n\n    two\n  b: true\nz: 1\n",
    ],
    ["a string in single quotes", "a: 'it''s'\n", [set("a", "it's new")], "a: 'it''s new'\n"],
    ["a map that becomes a string", "o: { user: dana@example.com } # o\n", [set("o", "u-5")], "o: u-5 # o\n"],
    [
      "a member of an item, beside comments and variables",
      'l:\n  # first\n  - { a: "$' + '{var.x}", m: full } # 7\n  - a: 1 # ours\n    # why\n    m: full\n    c: $' + "{var.c}\n",
      [set("l.1.m", "incremental")],
      'l:\n  # first\n  - { a: "$' + '{var.x}", m: full } # 7\n  - a: 1 # ours\n    # why\n    m: incremental\n    c: $' + "{var.c}\n",
    ],
    ["an alias as a value", "a: &x true\nb: *x\n", [set("b", false)], "a: &x true\nb: false\n"],
    [
      "inside an alias, which is written out",
      "a: &m { x: 1 }\nb: *m\n",
      [set("b.x", 2), set("b.z", 3)],
      "a: &m { x: 1 }\nb: { x: 2, z: 3 }\n",
    ],
    ["below a key without a value", "a:\nb: 1\n", [set("a.x.u", 1), set("a.z", 2)], "a:\n  x: { u: 1 }\n  z: 2\nb: 1\n"],
    [
      "a map in the config file",
      "targets: {}\n# guards\nguards: { maxCreates: 1 }\n",
      [set("records", { type: "git", ref: "refs/x" })],
      "targets: {}\n# guards\nguards: { maxCreates: 1 }\nrecords: { type: git, ref: refs/x }\n",
    ],
    [
      "a scalar that becomes a large map",
      "a: 1 # one\nb: 2\n",
      [set("a", { x: { u: { z: 1 } } })],
      "a:\n  x:\n    u: { z: 1 } # one\nb: 2\n",
    ],
    [
      "unusual names",
      "t:\n  a: 1\n",
      [
        { path: ["t", "__proto__", "a/b", "100%"], value: true },
        { path: ["t", " x "], value: false },
      ],
      't:\n  a: 1\n  __proto__:\n    a/b: { "100%": true }\n  " x ": false\n',
    ],
    [
      "names that YAML would read as values",
      "t: { }\n",
      [set("t.true", true), set("t.1", true), set("t.~", true)],
      't: { "true": true, "1": true, "~": true }\n',
    ],
  ];
  test.each(rows)("%s", (_what, before, edits, after) => {
    expect(editYaml(before, 0, edits)).toEqual({ text: after, refused: [] });
  });
});

describe("an edit is refused, and the text stays:", () => {
  const rows: readonly (readonly [what: string, text: string, edit: Edit, why: RegExp])[] = [
    ["a variable", "a: $" + "{var.on}\n", set("a", false), /comes from \$\{var\.on\}/u],
    ["a variable for a whole map", "t: $" + "{var.tree}\n", set("t.a", false), /comes from \$\{var\.tree\}/u],
    ["a value whose anchor is used", "a: &x true\nb: *x\n", set("a", false), /anchor &x/u],
    ["a map whose anchor is used", "a: &m { x: 1 }\nb: *m\n", set("a.x", 2), /anchor &m/u],
    ["a plain value where a map is needed", "a: 1\n", set("a.x", 2), /plain value/u],
    ["a document that is not valid YAML", "a: 1: 2\n", set("a", 2), /cannot be read/u],
    ["an item that the list does not have", "l: [1]\n", set("l.3", 2), /no such item/u],
  ];
  test.each(rows)("%s", (_what, text, one, why) => {
    const edited = editYaml(text, 0, [one]);
    expect(edited.text).toBe(text);
    expect(edited.refused).toEqual([{ edit: one, why: expect.stringMatching(why) }]);
  });

  test("the other edits are made", () => {
    const edited = editYaml("a: $" + "{var.on}\nb: true\n", 0, [set("a", false), set("b", false)]);
    expect(edited.text).toBe("a: $" + "{var.on}\nb: false\n");
    expect(edited.refused).toHaveLength(1);
  });
});

test("a document that does not exist is refused", () => {
  expect(editYaml("a: 1\n", 3, [set("a", 2)]).refused).toHaveLength(1);
});

test("only the given document changes", () => {
  const text = "a: 1\n---\n# second\na: 1\n---\na: 1\n";
  expect(editYaml(text, 1, valueEdits({ a: 1 }, { a: 2 })).text).toBe("a: 1\n---\n# second\na: 2\n---\na: 1\n");
});

test("with any names, the new values are set, and all other values and lines stay", () => {
  const name = fc.oneof(
    fc.string({ unit: anyCodePoint, maxLength: 6 }),
    fc.constantFrom("true", "1", "", "a: b", "- x", "#", "constructor"),
  );
  fc.assert(
    fc.property(fc.uniqueArray(name, { minLength: 1, maxLength: 6 }), fc.boolean(), (names, isFlow) => {
      const text = isFlow ? "s: { keep: { x: 1 } } # c\nz: 1 # d\n" : "s:\n  keep:\n    x: 1 # c\n  # tail\nz: 1 # d\n";
      const edits = names.map((each): Edit => ({ path: ["s", each, "hashed"], value: true }));
      const edited = editYaml(
        text,
        0,
        edits.filter(({ path }) => path[1] !== "keep"),
      );
      expect(edited.refused).toEqual([]);
      const value = parseDocument(edited.text, { stringKeys: true, uniqueKeys: false }).toJS({ mapAsMap: true }) as Map<
        string,
        Map<string, Map<string, unknown>>
      >;
      for (const each of names) expect(value.get("s")?.get(each)?.get("hashed")).toBe(true);
      if (!isFlow) for (const line of text.split("\n")) expect(edited.text.split("\n")).toContain(line);
    }),
  );
});

test("a thousand new values in one file", () => {
  const text = `s:\n${Array.from({ length: 250 }, (_, index) => `  t${index}:\n    a: { x: 1 }\n`).join("")}`;
  const edits = Array.from(
    { length: 1_000 },
    (_, index): Edit => ({ path: ["s", `t${index % 250}`, `c${index}`, "hashed"], value: false }),
  );
  const edited = editYaml(text, 0, edits);
  expect(edited.refused).toEqual([]);
  expect(edited.text.match(/hashed: false/gu)).toHaveLength(1_000);
});

test("any printed map can be edited into any other, or the edit is refused", () => {
  fc.assert(
    fc.property(map, map, fc.boolean(), (before, after, isBlock) => {
      const text = isBlock ? `${blockLines(before).join("\n")}\n` : `${inlineYaml(before)}\n`;
      const options = { stringKeys: true } as const;
      const read = parse(text, options) as JsonValue;
      const wanted = parse(JSON.stringify(after), options) as JsonValue;
      const edited = editYaml(text, 0, valueEdits(read as object, wanted as object));
      if (edited.refused.length > 0) return;
      const plain = (value: JsonValue): string => canonicalJson(value).replaceAll("$\u0024{", "\u0024{");
      expect(plain(parse(edited.text, options) as JsonValue)).toBe(plain(wanted));
    }),
    { numRuns: runs(25, 10_000) },
  );
});

/** What an edit must keep: the comments of a document; and its names, anchors, aliases and quoted scalars in their order. */
function formOf(document: Document.Parsed): readonly string[] {
  const form: string[] = (document.toString().match(/(?<=^|\s)#.*/gmu) ?? []).map(String).sort();
  visit(document, {
    Pair: (_, { key }) => void form.push(`key ${String(key)}`),
    Alias: (_, { source }) => void form.push(`*${source}`),
    Node: (_, node: Node) => {
      if ("anchor" in node && node.anchor !== undefined) form.push(`&${node.anchor}`);
      if (isScalar(node) && node.type !== "PLAIN") form.push(`${node.type} ${String(node.value)}`);
    },
  });
  return form;
}

/** The paths of the scalars of a value below lists and maps that are not empty. */
const leavesOf = (value: JsonValue, path: readonly string[] = []): readonly (readonly string[])[] =>
  typeof value !== "object" || value === null
    ? [path]
    : Array.isArray(value)
      ? value.flatMap((item: JsonValue, index) => leavesOf(item, [...path, String(index)]))
      : Object.entries(value).flatMap(([key, member]) => leavesOf(member as JsonValue, [...path, key]));

describe("what an edit does not touch keeps its comments, order, anchors and quotes, in", () => {
  const yamlFilesIn = (folder: string): readonly string[] =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).flatMap((name) =>
      /\.ya?ml$/u.test(name) && !name.includes("node_modules") ? [readFileSync(join(folder, name), "utf8")] : [],
    );
  const real = ["examples", "test/scenarios", "test/core", "docs"].flatMap((folder) => {
    try {
      return yamlFilesIn(join(import.meta.dirname, "../../../..", folder));
    } catch {
      return [];
    }
  });
  const commented = map.map((value) =>
    blockLines({ first: { second: value, third: [value, "x"] }, ...value })
      .map((line, index) =>
        index % 3 === 0 ? `${line} # c${index}` : index % 5 === 0 ? `${/^ */u.exec(line)?.[0] ?? ""}# d${index}\n${line}` : line,
      )
      .join("\n"),
  );
  const changed = (text: string, index: number, at: number): void => {
    const options = { stringKeys: true, uniqueKeys: false } as const;
    const documents = parseAllDocuments(text, options);
    const document = documents[index];
    if (document === undefined || document.errors.length > 0 || typeof document.toJS() !== "object" || document.toJS() === null) return;
    const leaves = leavesOf(document.toJS() as JsonValue);
    const path = leaves[at % Math.max(leaves.length, 1)];
    if (path === undefined || path.length === 0) return;
    const value = typeof document.getIn(path) === "string" ? "other" : false;
    const edited = editYaml(text, index, [
      { path, value },
      { path: ["added by the test"], value: true },
    ]);
    if (edited.refused.length > 0) return;
    // The same change of the tree alone.
    const old = document.getIn(path, true);
    if (isScalar(old)) old.value = value;
    document.setIn(["added by the test"], true);
    const after = parseAllDocuments(edited.text, options);
    const withoutPlain = (form: readonly string[]): readonly string[] => form.filter((one) => !/ (?:other|false)$/u.test(one));
    expect(withoutPlain(after.flatMap(formOf))).toEqual(withoutPlain(documents.flatMap(formOf)));
  };
  test("real files", () => {
    expect(real.length).toBeGreaterThan(10);
    for (const [at, text] of real.entries()) for (let index = 0; index < 3; index++) changed(text, index, at * 7 + index);
  });
  test("generated files", () => {
    fc.assert(
      fc.property(commented, fc.nat(), (text, at) => changed(`${text}\n`, 0, at)),
      { numRuns: runs(50, 10_000) },
    );
  });
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseDocument } from "yaml";
import { editYaml, type Wish } from "../../src/drift/yaml-edit.ts";

const wish = (path: string, value: Wish["value"], document = 0): Wish => ({ document, path: path.split("."), value });

describe("the text is edited as a person would", () => {
  const rows: readonly (readonly [what: string, before: string, wishes: readonly Wish[], after: string])[] = [
    ["a literal in place", "a: true # why\nb: 1\n", [wish("a", false)], "a: false # why\nb: 1\n"],
    ["a literal in a flow map", "t: { a: { x: true, y: 1 } } # c\n", [wish("t.a.x", false)], "t: { a: { x: false, y: 1 } } # c\n"],
    ["a key that a flow map lacks", "t: { a: 1 } # c\n", [wish("t.b.x", true)], "t: { a: 1, b: { x: true } } # c\n"],
    ["a key that an empty flow map lacks", "t: {}\n", [wish("t.b", true)], "t: { b: true }\n"],
    [
      "a key that a block lacks, before its comments",
      "t:\n    a: 1 # one\n    # b: 2\nz: 0\n",
      [wish("t.c", true)],
      "t:\n    a: 1 # one\n    c: true\n    # b: 2\nz: 0\n",
    ],
    [
      "a tree that is not there, in the file's own indentation",
      "s:\n   a:\n      x: 1\n",
      [wish("s.t.u.v", false)],
      "s:\n   a:\n      x: 1\n   t:\n      u: { v: false }\n",
    ],
    ["a tree without any model", "a: 1\n", [wish("s.t.u.v", false)], "a: 1\ns:\n  t:\n    u: { v: false }\n"],
    ["siblings in one insertion", "s:\n  a: 1\n", [wish("s.b", true), wish("s.c", false)], "s:\n  a: 1\n  b: true\n  c: false\n"],
    [
      "inner and outer keys at one place",
      "s:\n  t:\n    a: 1\n",
      [wish("s.z", true), wish("s.t.b", true)],
      "s:\n  t:\n    a: 1\n    b: true\n  z: true\n",
    ],
    ["a file without a last line break", "s:\n  a: 1", [wish("s.b", true)], "s:\n  a: 1\n  b: true"],
    ["a file with the line breaks of Windows", "s:\r\n  a: 1 # x\r\n", [wish("s.b", true)], "s:\r\n  a: 1 # x\r\n  b: true\r\n"],
    [
      "after a text of several lines",
      "s:\n  a: |\n    one\n\n    two\nz: 1\n",
      [wish("s.b", true)],
      "s:\n  a: |\n    one\n\n    two\n  b: true\nz: 1\n",
    ],
    ["a text of several lines itself", "a: |\n  one\n  two\nb: 1\n", [wish("a", "new")], "a: new\nb: 1\n"],
    ["a text in single quotes", "a: 'it''s'\n", [wish("a", "it's new")], "a: 'it''s new'\n"],
    [
      "a text that would be something else without quotes",
      "a: x\nb: y\n",
      [wish("a", "yes"), wish("b", "a: #b")],
      'a: "yes"\nb: "a: #b"\n',
    ],
    ["a text that looks like a substitution", "a: x\n", [wish("a", "$" + "{var.b}")], 'a: "$$' + '{var.b}"\n'],
    ["a map that becomes a text", "o: { user: dana@example.com } # o\n", [wish("o", "u-5")], "o: u-5 # o\n"],
    ["a value in a list", "l:\n  - { a: 1 }\n  - a: 2 # two\n", [wish("l.1.a", 3)], "l:\n  - { a: 1 }\n  - a: 3 # two\n"],
    ["the second document", "a: 1\n---\n# two\na: 1\n", [wish("a", 2, 1)], "a: 1\n---\n# two\na: 2\n"],
    ["an alias as a value", "a: &x true\nb: *x\n", [wish("b", false)], "a: &x true\nb: false\n"],
    [
      "names that mean something elsewhere",
      "t:\n  a: 1\n",
      [
        { document: 0, path: ["t", "__proto__", "a/b", "100%"], value: true },
        { document: 0, path: ["t", " x "], value: false },
      ],
      't:\n  a: 1\n  __proto__:\n    "a/b": { "100%": true }\n  " x ": false\n',
    ],
    [
      "names that YAML would read as values",
      "t: { }\n",
      [wish("t.true", true), wish("t.1", true), wish("t.~", true)],
      't: { "true": true, "1": true, "~": true  }\n',
    ],
  ];
  test.each(rows)("%s", (_what, before, wishes, after) => {
    expect(editYaml(before, wishes)).toEqual({ text: after, refused: [] });
  });
});

describe("what an edit would change elsewhere, or can't change at all, is refused and the text stays", () => {
  const rows: readonly (readonly [what: string, text: string, wish: Wish, why: RegExp])[] = [
    ["a variable", "a: $" + "{var.on}\n", wish("a", false), /comes from \$\{var\.on\}/u],
    ["a variable for a whole map", "t: $" + "{var.tree}\n", wish("t.a", false), /comes from \$\{var\.tree\}/u],
    ["a value that others take by its anchor", "a: &x true\nb: *x\n", wish("a", false), /anchor &x/u],
    ["a map that others take by its anchor", "a: &m { x: 1 }\nb: *m\n", wish("a.x", 2), /anchor &m/u],
    ["the inside of an alias", "a: &m { x: 1 }\nb: *m\n", wish("b.x", 2), /alias \*m/u],
    ["a plain value where a map is needed", "a: 1\n", wish("a.x", 2), /plain value/u],
    ["a document that isn't there", "a: 1\n", wish("a", 2, 3), /can't be read/u],
    ["an entry that a list lacks", "l: [1]\n", wish("l.3", 2), /no such entry/u],
  ];
  test.each(rows)("%s", (_what, text, one, why) => {
    const edited = editYaml(text, [one]);
    expect(edited.text).toBe(text);
    expect(edited.refused).toEqual([{ wish: one, why: expect.stringMatching(why) }]);
  });

  test("the others are granted all the same", () => {
    const edited = editYaml("a: $" + "{var.on}\nb: true\n", [wish("a", false), wish("b", false)]);
    expect(edited.text).toBe("a: $" + "{var.on}\nb: false\n");
    expect(edited.refused).toHaveLength(1);
  });
});

test("whatever the names, the new values are there, all others stay and so does every line of before", () => {
  const name = fc.oneof(fc.string({ unit: "binary", maxLength: 6 }), fc.constantFrom("true", "1", "", "a: b", "- x", "#", "constructor"));
  fc.assert(
    fc.property(fc.uniqueArray(name, { minLength: 1, maxLength: 6 }), fc.boolean(), (names, isFlow) => {
      const text = isFlow ? "s: { keep: { x: 1 } } # c\nz: 1 # d\n" : "s:\n  keep:\n    x: 1 # c\n  # tail\nz: 1 # d\n";
      const wishes = names.map((each): Wish => ({ document: 0, path: ["s", each, "hashed"], value: true }));
      const edited = editYaml(
        text,
        wishes.filter(({ path }) => path[1] !== "keep"),
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

test("ten thousand new values in one file are one pass", () => {
  const text = `s:\n${Array.from({ length: 1000 }, (_, index) => `  t${index}:\n    a: { x: 1 }\n`).join("")}`;
  const wishes = Array.from(
    { length: 10_000 },
    (_, index): Wish => ({ document: 0, path: ["s", `t${index % 1000}`, `c${index}`, "hashed"], value: false }),
  );
  const edited = editYaml(text, wishes);
  expect(edited.refused).toEqual([]);
  expect(edited.text.match(/hashed: false/gu)).toHaveLength(10_000);
});

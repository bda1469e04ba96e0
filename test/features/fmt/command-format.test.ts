import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import type { Schema } from "../../../src/core/manifests/schema/lookup.ts";
import { schemaText } from "../../../src/core/manifests/schema/lookup.ts";
import { read } from "../../../src/core/yaml/read.ts";
import { formatManifests } from "../../../src/features/fmt/command.ts";
import fc from "../../support/fast-check.ts";
import { runs } from "../../support/sample.ts";

const schemaOf = (kind: string): Schema | undefined => {
  const text = schemaText(kind);
  return text === undefined ? undefined : (JSON.parse(text) as Schema);
};
const format = (text: string): string => formatManifests(text, schemaOf);
const values = (text: string) => read(text).documents.map(({ value }) => value);

const rows: readonly (readonly [what: string, before: string, after: string])[] = [
  [
    "members in the order of the schema",
    "spec: {name: PII}\nkind: Tag\nmetadata: {labels: {b: x, a: y}, name: pii}\napiVersion: dimsync/v1\n",
    "apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: pii, labels: { b: x, a: y } }\nspec: { name: PII }\n",
  ],
  [
    "the comment at the top stays at the top",
    "# yaml-language-server: $schema=x\nkind: Tag\napiVersion: dimsync/v1\n",
    "# yaml-language-server: $schema=x\napiVersion: dimsync/v1\nkind: Tag\n",
  ],
  [
    "comments move with the member below them, or beside them",
    "apiVersion: dimsync/v1\nkind: Tag\nmetadata:\n  # of the labels\n  labels: { a: b } # beside\n  # of the name\n  name: pii\n",
    "apiVersion: dimsync/v1\nkind: Tag\nmetadata:\n  # of the name\n  name: pii\n  # of the labels\n  labels: { a: b } # beside\n",
  ],
  [
    "a comment beside a key stays with it, those below go with the member",
    "apiVersion: dimsync/v1\nkind: Tag\nmetadata: # of all\n  # of the labels\n  labels: { a: b }\n  # of the name\n  name: pii\n",
    "apiVersion: dimsync/v1\nkind: Tag\nmetadata:\n  # of all\n  # of the name\n  name: pii\n  # of the labels\n  labels: { a: b }\n",
  ],
  [
    "two spaces; blank lines and quotes stay unchanged",
    "apiVersion: dimsync/v1\nkind: Tag\n\nmetadata:\n      name:    \"pii\"\nspec:\n    resources:\n    - asset:   a\n    - asset: 'b'\n",
    "apiVersion: dimsync/v1\nkind: Tag\n\nmetadata:\n  name: \"pii\"\nspec:\n  resources:\n    - asset: a\n    - asset: 'b'\n",
  ],
  ["an empty line in brackets stays, and the last bracket is in the column of the first", "a: [\n\n    b ]\n", "a:\n  [\n\n    b\n  ]\n"],
  ["lists without padding, maps with padding", "a: [ 1,2 ]\nb: {c: [ {d: e} ]}\n", "a: [1, 2]\nb: { c: [{ d: e }] }\n"],
  [
    "long values are wrapped",
    `a: { b: ${"x".repeat(60)}, c: ${"y".repeat(60)} }\n`,
    `a:\n  b: ${"x".repeat(60)}\n  c: ${"y".repeat(60)}\n`,
  ],
  ["several documents", "a:   1\n---\nb:   2\n", "a: 1\n---\nb: 2\n"],
  [
    "names of the user stay in the user's order",
    "kind: SchemaConfig\nspec:\n  schemas: { z: {}, a: {} }\n",
    "kind: SchemaConfig\nspec:\n  schemas: { z: {}, a: {} }\n",
  ],
  ["unknown members come last", "kind: Tag\nsurprise: 1\napiVersion: dimsync/v1\n", "apiVersion: dimsync/v1\nkind: Tag\nsurprise: 1\n"],
  [
    "anchors stay before their aliases",
    "kind: Tag\nspec: { name: &n x }\nmetadata: { name: *n }\n",
    "kind: Tag\nspec: { name: &n x }\nmetadata: { name: *n }\n",
  ],
  ["invalid YAML stays unchanged", "a: [1\nb:   2\n", "a: [1\nb:   2\n"],
  ["an empty file stays unchanged", "", ""],
  ["line ends become line feeds", "kind: Tag\r\napiVersion: dimsync/v1\r\n", "apiVersion: dimsync/v1\nkind: Tag\n"],
  [
    "line ends in comments of several lines do, too",
    "# a\r\n# b\r\nspec:\r\n  # c\r\n  # d\r\n  name: x\r\n  # e\r\n  # f\r\n",
    "# a\n# b\nspec:\n  # c\n  # d\n  name: x\n  # e\n  # f\n",
  ],
];

describe("fmt", () => {
  test.each(rows)("%s", (_, before, after) => {
    expect(format(before)).toBe(after);
    expect(format(after)).toBe(after);
  });

  test.each([
    "examples/quickstart/manifests/orders.yaml",
    "examples/quickstart/manifests/returns.yaml",
    "test/core/manifests/every-kind.yaml",
  ])("%s keeps its values and all its comments", (file) => {
    const text = readFileSync(file, "utf8");
    const formatted = format(text);
    expect(values(formatted)).toEqual(values(text));
    expect(format(formatted)).toBe(formatted);
    const comments = (of: string) => [...of.matchAll(/(?:^|\s)# ?(.*)$/gmu)].map(([, comment]) => comment).sort();
    expect(comments(formatted)).toEqual(comments(text));
  });
});

const key = fc.oneof(
  fc.constantFrom(
    "kind",
    "spec",
    "metadata",
    "apiVersion",
    "name",
    "rules",
    "match",
    "set",
    "__proto__",
    "a/b",
    " x ",
    "100%",
    "ü",
    "1.0",
    "true",
    "~",
  ),
  fc.string({ maxLength: 6 }),
);
const scalar = fc.oneof(
  fc.string({ maxLength: 90 }),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.constantFrom("a\nb\n", "# x", "- y", "'", "yes", "01"),
);
const { value: anyValue } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    scalar,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(key, tie("value"), { maxKeys: 5, noNullPrototype: false }),
  ),
}));
const anyManifest = fc
  .record({
    kind: fc.constantFrom("Tag", "SchemaConfig", "Integration", "Config", "x"),
    rest: fc.dictionary(key, anyValue, { maxKeys: 5 }),
    flow: fc.boolean(),
    comment: fc.boolean(),
  })
  .map(({ kind, rest, flow, comment }) => {
    const text = stringify({ ...rest, kind }, { collectionStyle: flow ? "flow" : "any", lineWidth: 0 });
    return comment && !flow ? text.replace(/^(?=\S)/mu, "# a comment\n") : text;
  });

test("fmt never changes a value, and does not change its own output", () => {
  fc.assert(
    fc.property(fc.array(anyManifest, { minLength: 1, maxLength: 3 }), (documents) => {
      const text = documents.join("---\n");
      const formatted = format(text);
      expect(values(formatted)).toEqual(values(text));
      expect(format(formatted)).toBe(formatted);
    }),
    { numRuns: runs(25, 1_500) },
  );
});

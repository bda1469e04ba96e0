// New and changed documents are written at their places.
import { expect, test } from "vitest";
import { documentRanges } from "../../../src/core/base/yaml/document-ranges.ts";
import { createFileSet } from "../../../src/features/import/writer.ts";

const place = (document: number) => ({ file: "a.yaml", document, pointer: "" });

test.each<readonly [sentence: string, text: string, documents: readonly string[]]>([
  ["one document", "a: 1\n", ["a: 1\n"]],
  ["dashes before the first", "# h\n--- # c\na: 1\n---\nb: 1", ["# h\n--- # c\na: 1\n", "---\nb: 1"]],
  ["an empty document", "---\n---\na: 1\n", ["---\n", "---\na: 1\n"]],
  [
    "directives",
    "# h\r\n%YAML 1.2\r\n---\r\na: 1\r\n# t\r\n---\r\nb: 1\r\n",
    ["# h\r\n%YAML 1.2\r\n---\r\na: 1\r\n# t\r\n", "---\r\nb: 1\r\n"],
  ],
  ["ends of documents", "a: 1\n# t\n...\n# u\nb: 1\n", ["a: 1\n# t\n...\n", "# u\nb: 1\n"]],
])("documents are found where there are %s", (_, text, documents) => {
  expect(documentRanges(text).map(([start, end]) => text.slice(start, end))).toEqual(documents);
});

test("a change and a new document are written at their places, with the line breaks of the file", () => {
  const text = "%YAML 1.2\r\n---\r\nmetadata: { name: a }\r\n---\r\nmetadata: { name: b } # two\r\n---\r\nspec: {}\r\n";
  const files = createFileSet(() => text);
  expect(files.setMetadata("a.yaml", place(1), ["id", "x"])).toBe(true);
  files.append("a.yaml", [{ address: "Tag/t", text: "kind: Tag\n" }], "");
  const [change] = files.take();
  expect(change?.after.split("\r\n")).toEqual([
    ...["%YAML 1.2", "---", "metadata: { name: a }", "---", "metadata: { name: b, id: x } # two"],
    ...["---", "spec: {}", "---", "kind: Tag", ""],
  ]);
});

test("every document of a new file names the schema, because editors apply the line to one document", () => {
  const files = createFileSet(() => undefined);
  const documents = ["Tag/a", "Tag/b", "Tag/c"].map((address) => ({ address, text: "kind: Tag\n" }) as const);
  files.append("a.yaml", documents, "# yaml-language-server: $schema=s.json\n");
  expect(files.take()[0]?.after).toBe(Array(3).fill("# yaml-language-server: $schema=s.json\nkind: Tag\n").join("---\n"));
});

test("many documents of one file are changed", () => {
  const count = 50;
  const one = `metadata: { name: a }\n# ${"x".repeat(300)}\n`;
  const files = createFileSet(() => Array.from({ length: count }, () => one).join("---\n"));
  for (let index = 0; index < count; index++) expect(files.setMetadata("a.yaml", place(index), ["id", "x"])).toBe(true);
  expect(files.take()[0]?.after.match(/id: x/gu)).toHaveLength(count);
});

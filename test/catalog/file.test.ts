import { expect, test } from "vitest";
import { readCatalog } from "../../src/catalog/file.ts";
import { makeLocate } from "../../src/manifests/locate.ts";

const head = "apiVersion: dimsync/v1\nkind: Catalog\n";

/** "LINE:COLUMN message" of each problem. */
function problemsOf(text: string): readonly string[] {
  const { catalog, problems } = readCatalog(text, { file: "dimsync.catalog.yaml", parser: undefined });
  expect(catalog === undefined).toBe(problems.length > 0);
  const locate = makeLocate("/", () => text);
  return problems.map(({ code, message, place }) => {
    expect(code).toBe("E_CATALOG_FILE");
    const { line, column } = place === undefined ? {} : locate(place);
    return `${line}:${column} ${message}`;
  });
}

test("a group names integrations and, by schema and table, columns", () => {
  const text = `${head}targets:\n  prod:\n    - integrations: [orders]\n      schemas: { public: { users: [email, id] } }\n  dev: []\n`;
  expect(problemsOf(text)).toEqual([]);
  const { catalog } = readCatalog(text, { file: "c.yaml", parser: undefined });
  expect(catalog).toEqual(
    new Map([
      ["prod", [{ integrations: ["orders"], tables: new Map([["public", new Map([["users", new Set(["email", "id"])]])]]) }]],
      ["dev", []],
    ]),
  );
});

test.each<[string, string, string]>([
  ["an empty file", "", "The file must be a map"],
  ["another kind", "apiVersion: dimsync/v1\nkind: Bindings\ntargets: {}\n", "2:7 `kind` must be Catalog."],
  ["another version", "apiVersion: dimsync/v2\nkind: Catalog\ntargets: {}\n", "1:13 `apiVersion` must be dimsync/v1."],
  ["no targets", head, "`targets` must be a map"],
  ["a target that is a map", `${head}targets:\n  prod: {}\n`, "4:9 A target must be a list of groups"],
  ["a group that is a name", `${head}targets:\n  prod:\n    - orders\n`, "5:7 A group must be a map"],
  [
    "an unknown key",
    `${head}targets:\n  prod:\n    - { integrations: [a], schemas: {}, tables: {} }\n`,
    "5:41 Unknown key. The keys here are integrations, schemas.",
  ],
  [
    "no integrations",
    `${head}targets:\n  prod:\n    - { integrations: [], schemas: {} }\n`,
    "5:23 This must be a non-empty list of integrations",
  ],
  [
    "a schema that is a list",
    `${head}targets:\n  prod:\n    - { integrations: [a], schemas: { public: [users] } }\n`,
    "5:47 A schema must be a map of tables",
  ],
  [
    "a column that is listed twice",
    `${head}targets:\n  prod:\n    - integrations: [a]\n      schemas:\n        public:\n          users: [id, email, id]\n`,
    '8:30 "id" is in this list twice.',
  ],
  [
    "a column that is a number",
    `${head}targets:\n  prod:\n    - integrations: [a]\n      schemas:\n        public:\n          users: [id, 5]\n`,
    "8:23 A name must be a string. Put it in quotes.",
  ],
  ["two documents", `${head}targets: {}\n---\na: 1\n`, "The file must be a single document."],
  ["a merge conflict", `${head}<<<<<<< HEAD\ntargets: {}\n=======\n`, "Resolve the merge conflict"],
])("%s is a problem at its place", (_what, text, message) => {
  expect(problemsOf(text).join("\n")).toContain(message);
});

test("all problems are reported at once", () => {
  expect(problemsOf(`${head}targets:\n  a: 1\n  b: 2\n`)).toHaveLength(2);
});

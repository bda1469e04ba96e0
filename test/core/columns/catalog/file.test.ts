// A catalog file means what it says, and its problems are reported all at once.
import { expect, test } from "vitest";
import { catalogText, reviewedIn } from "../../../../src/core/columns/catalog/blocks.ts";
import { readCatalog } from "../../../../src/core/columns/catalog/file.ts";
import { makeLocate } from "../../../../src/core/manifests/locate.ts";

const head = "apiVersion: dimsync/v1\nkind: Catalog\n";

/** "LINE:COLUMN message" of each problem. */
function problemsOf(text: string): readonly string[] {
  const { catalog, problems } = readCatalog(text, { file: "dimsync.catalog.yaml" });
  expect(catalog === undefined).toBe(problems.length > 0);
  const locate = makeLocate("/", () => text);
  return problems.map(({ code, message, place }) => {
    expect(code).toBe("E_CATALOG_FILE");
    const { line, column } = place === undefined ? {} : locate(place);
    return `${line}:${column} ${message}`;
  });
}

test("a block names integrations and, by table, columns; the last block with a table counts", () => {
  const text = `${head}reviewed:
  - integrations: { "8f1c": Orders, 51a1: Shop }
    tables: { public/users: [email, id], public/old: [id], a~1b/c.d: [x] }
  - { integrations: { 51a1: Shop EU }, tables: { public/users: [id], public/old: [] } }
`;
  expect(problemsOf(text)).toEqual([]);
  const { catalog = [] } = readCatalog(text, { file: "c.yaml" });
  const odd = ["a/b", new Map([["c.d", new Set(["x"])]])] as const;
  expect(reviewedIn(catalog)).toEqual(
    new Map([
      [
        "8f1c",
        {
          name: "Orders",
          tables: new Map<string, unknown>([
            [
              "public",
              new Map([
                ["users", new Set(["email", "id"])],
                ["old", new Set(["id"])],
              ]),
            ],
            odd,
          ]),
        },
      ],
      ["51a1", { name: "Shop EU", tables: new Map<string, unknown>([["public", new Map([["users", new Set(["id"])]])], odd]) }],
    ]),
  );
});

const block = (tables: string): string => `${head}reviewed:\n  - integrations: { a: A }\n    tables: ${tables}\n`;

test.each<[string, string, string]>([
  ["an empty file", "", "The file must be a map"],
  ["another kind", "apiVersion: dimsync/v1\nkind: Bindings\nreviewed: []\n", "2:7 `kind` must be Catalog."],
  ["another version", "apiVersion: dimsync/v2\nkind: Catalog\nreviewed: []\n", "1:13 `apiVersion` must be dimsync/v1."],
  ["no blocks", head, "`reviewed` must be a list of blocks"],
  ["the form of before", `${head}targets: {}\nreviewed: []\n`, "3:1 Unknown key. The keys here are apiVersion, kind, reviewed."],
  ["a block that is a name", `${head}reviewed:\n  - orders\n`, "4:5 A block must be a map"],
  [
    "an unknown key",
    `${head}reviewed:\n  - { integrations: { a: A }, tables: {}, schemas: {} }\n`,
    "4:43 Unknown key. The keys here are integrations, tables.",
  ],
  [
    "no integrations",
    `${head}reviewed:\n  - { integrations: {}, tables: {} }\n`,
    "4:21 This must be a map of integrations: the name by the id",
  ],
  ["integrations without names", `${head}reviewed:\n  - { integrations: [a], tables: {} }\n`, "4:21 This must be a map of integrations"],
  ["a name that is a number", `${head}reviewed:\n  - { integrations: { a: 5 }, tables: {} }\n`, "4:26 A name must be a string."],
  ["tables that are a list", block("[users]"), "5:13 `tables` must be a map of tables"],
  ["a table without its schema", block("{ users: [id] }"), "5:15 A table must be written as SCHEMA/TABLE."],
  ["columns that are a map", block("{ public/users: { id: true } }"), "5:29 This must be a list of columns."],
  ["a column that is listed twice", block("{ public/users: [id, email, id] }"), '5:41 "id" is in this list twice.'],
  ["a column that is a number", block("{ public/users: [id, 5] }"), "5:34 A name must be a string. Put it in quotes."],
  ["two documents", `${head}reviewed: []\n---\na: 1\n`, "The file must be a single document."],
  ["a merge conflict", `${head}<<<<<<< HEAD\nreviewed: []\n=======\n`, "Resolve the merge conflict"],
])("%s is a problem at its place", (_what, text, message) => {
  expect(problemsOf(text).join("\n")).toContain(message);
});

test("all problems are reported at once", () => {
  expect(problemsOf(`${head}reviewed:\n  - a\n  - b\n`)).toHaveLength(2);
});

test("names of any length can be read again", () => {
  const long = "x".repeat(3_000);
  const tables = new Map([
    [long, new Map([[long, new Set([long])]])],
    ["public", new Map([["users", new Set(["id"])]])],
  ]);
  const reviewed = new Map([["8f1c", { name: long, tables }]]);
  const text = catalogText(reviewed);
  expect(problemsOf(text)).toEqual([]);
  expect(reviewedIn(readCatalog(text, { file: "c.yaml" }).catalog ?? [])).toEqual(reviewed);
});

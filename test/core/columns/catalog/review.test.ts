// A column is new until the catalog has it, and known under the id of its integration.
import { describe, expect, test } from "vitest";
import type { LiveSchemas } from "../../../../src/core/base/model/live.ts";
import { type CatalogBlock, reviewedIn } from "../../../../src/core/columns/catalog/blocks.ts";
import { newReview } from "../../../../src/core/columns/catalog/review.ts";

const orders = { address: "Schemas/orders", name: "Orders", id: "8f1c" };
const column = { enabled: true, hashed: false };

/** The schema `public` with these columns by table; undefined: the service returned none. */
const liveOf = (tables: Readonly<Record<string, readonly string[] | undefined>>): LiveSchemas => ({
  public: {
    enabled: true,
    tables: Object.fromEntries(
      Object.entries(tables).map(([table, names]) => [
        table,
        { enabled: true, ...(names === undefined ? {} : { columns: Object.fromEntries(names.map((name) => [name, column])) }) },
      ]),
    ),
  },
});

const block = (ids: readonly string[], tables: Readonly<Record<string, readonly string[]>>): CatalogBlock => ({
  integrations: new Map(ids.map((id) => [id, `name of ${id}`])),
  tables: new Map(Object.entries(tables).map(([table, names]) => [`public/${table}`, new Set(names)])),
});

const file = "dimsync.catalog.yaml";
const compare = (catalog: readonly CatalogBlock[], live: LiveSchemas) => newReview({ catalog, file }).compare(orders, live);

describe("with the catalog file", () => {
  test.each<[string, CatalogBlock[], LiveSchemas, { readonly isReviewed?: boolean; readonly added: unknown; readonly gone: unknown }]>([
    [
      "a column more and one less",
      [block(["8f1c"], { users: ["id", "fax"] })],
      liveOf({ users: ["id", "email"] }),
      {
        added: [{ schema: "public", table: "users", columns: ["email"] }],
        gone: [{ schema: "public", table: "users", columns: ["fax"] }],
      },
    ],
    [
      "an integration that no block names",
      [block(["51a1"], { users: ["id"] })],
      liveOf({ users: ["id"] }),
      { isReviewed: false, added: [], gone: [] },
    ],
    ["a table whose columns are not known", [block(["8f1c"], { users: ["id"] })], liveOf({ users: undefined }), { added: [], gone: [] }],
    [
      "a table that is gone",
      [block(["8f1c"], { users: ["id"], old: ["id"] })],
      liveOf({ users: ["id"] }),
      { added: [], gone: [{ schema: "public", table: "old", columns: ["id"], isTableGone: true }] },
    ],
    [
      "names of Object.prototype",
      [block(["8f1c"], { constructor: ["toString"] })],
      liveOf({ constructor: ["toString", "valueOf"] }),
      { added: [{ schema: "public", table: "constructor", columns: ["valueOf"] }], gone: [] },
    ],
  ])("%s", (_what, reviewed, live, expected) => {
    expect(compare(reviewed, live)).toEqual({ isReviewed: true, ...expected });
  });

  test("keeps the compared columns, and those of tables that are not known", () => {
    const review = newReview({ catalog: [block(["8f1c"], { users: ["id"], old: ["x"] })], file });
    review.compare(orders, liveOf({ users: ["email"], old: undefined }));
    const tables = reviewedIn([block(["8f1c"], { users: ["email"], old: ["x"] })]).get("8f1c")?.tables;
    expect(review.compared()).toEqual(new Map([["8f1c", { ...orders, tables }]]));
  });

  test("an id that the account does not have is a warning at its place, once", () => {
    const review = newReview({ catalog: [block(["51a1"], {}), block(["8f1c", "int-9"], {}), block(["int-9"], {})], file });
    expect(review.account()).toBeUndefined();
    const live = [{ id: "8f1c", name: "Orders" }];
    expect(review.problems(live)).toMatchObject([
      { code: "W_CATALOG_UNKNOWN_ID", severity: "warning", place: { file, pointer: "/reviewed/0/integrations/51a1", on: "key" } },
      {
        message: expect.stringContaining('no integration with the id int-9 ("name of int-9")'),
        place: { pointer: "/reviewed/1/integrations/int-9" },
      },
    ]);
    expect(review.account()).toBe(live);
  });
});

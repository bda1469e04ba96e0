import { describe, expect, test } from "vitest";
import { newReview } from "../../src/catalog/review.ts";
import type { SeenColumns } from "../../src/model/columns.ts";
import type { LiveSchemas } from "../../src/model/live.ts";

const orders = { address: "Schemas/orders", name: "orders", liveId: "8f1c" };
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

const group = (integrations: readonly string[], tables: Readonly<Record<string, readonly string[]>>) => ({
  integrations,
  tables: new Map([["public", new Map(Object.entries(tables).map(([table, names]) => [table, new Set(names)]))]]),
});

const compare = (reviewed: ReturnType<typeof group>[], live: LiveSchemas) => newReview({ reviewed, seen: undefined }).compare(orders, live);

describe("with the catalog file", () => {
  test.each<[string, ReturnType<typeof group>[], LiveSchemas, { readonly added: unknown; readonly gone: unknown }]>([
    [
      "the same columns in another order",
      [group(["orders"], { users: ["id", "email"] })],
      liveOf({ users: ["email", "id"] }),
      { added: [], gone: [] },
    ],
    [
      "a column more and one less",
      [group(["orders"], { users: ["id", "fax"] })],
      liveOf({ users: ["id", "email"] }),
      {
        added: [{ schema: "public", table: "users", columns: ["email"] }],
        gone: [{ schema: "public", table: "users", columns: ["fax"] }],
      },
    ],
    [
      "columns of two groups",
      [group(["orders", "shop"], { users: ["id"] }), group(["orders"], { users: ["email"] })],
      liveOf({ users: ["id", "email"] }),
      { added: [], gone: [] },
    ],
    [
      "an integration that no group names",
      [group(["shop"], { users: ["id"] })],
      liveOf({ users: ["id"] }),
      { added: [{ schema: "public", table: "users", columns: ["id"] }], gone: [] },
    ],
    ["a table whose columns are not known", [group(["orders"], { users: ["id"] })], liveOf({ users: undefined }), { added: [], gone: [] }],
    [
      "a table that is gone",
      [group(["orders"], { users: ["id"], old: ["id"] })],
      liveOf({ users: ["id"] }),
      { added: [], gone: [{ schema: "public", table: "old", columns: ["id"] }] },
    ],
    [
      "names of Object.prototype",
      [group(["orders"], { constructor: ["toString"] })],
      liveOf({ constructor: ["toString", "valueOf"] }),
      { added: [{ schema: "public", table: "constructor", columns: ["valueOf"] }], gone: [] },
    ],
  ])("%s", (_what, reviewed, live, expected) => {
    expect(compare(reviewed, live)).toEqual(expected);
  });

  test("keeps the compared columns, and those of tables that are not known", () => {
    const review = newReview({ reviewed: [group(["orders"], { users: ["id"], old: ["x"] })], seen: undefined });
    review.compare(orders, liveOf({ users: ["email"], old: undefined }));
    expect(review.compared()).toEqual(new Map([["orders", group([], { users: ["email"], old: ["x"] }).tables]]));
  });
});

describe("with the records", () => {
  const seen: SeenColumns = {
    at: "2026-11-03T08:00:00.000Z",
    groups: [
      { integrations: ["8f1c", "51a1"], schemas: { public: { users: ["id"] } } },
      { integrations: ["8f1c"], after: "2026-10-20T08:00:00.000Z", schemas: { public: { users: ["email"] } } },
    ],
  };
  const live = liveOf({ users: ["id", "email", "phone"] });

  test("without a file, columns are new since the last recording", () => {
    const review = newReview({ reviewed: undefined, seen });
    expect(review.compare(orders, live).added).toEqual([{ schema: "public", table: "users", columns: ["phone"] }]);
    expect(review.since(orders, { schema: "public", table: "users", column: "phone" })).toBe("2026-11-03T08:00:00.000Z");
  });

  test("without a file, nothing is new in an integration that was never recorded", () => {
    const other = { ...orders, liveId: "new" };
    expect(newReview({ reviewed: undefined, seen }).compare(other, live)).toEqual({ added: [], gone: [] });
  });

  test.each<[string, string | undefined]>([
    ["phone", "2026-11-03T08:00:00.000Z"],
    ["email", "2026-10-20T08:00:00.000Z"],
    ["id", undefined],
  ])("with a file, %s was added after %s", (name, after) => {
    const review = newReview({ reviewed: [], seen });
    expect(review.compare(orders, live).added[0]?.columns).toEqual(["id", "email", "phone"]);
    expect(review.since(orders, { schema: "public", table: "users", column: name })).toBe(after);
  });
});

// Columns cost a request for each table, so only the necessary ones are read.
import { expect, test } from "vitest";
import type { LiveSchemas } from "../../../../src/core/base/model/live.ts";
import type { SchemaConfigSpec } from "../../../../src/core/base/model/manifest.ts";
import { tablesToRead, unmanagedTables } from "../../../../src/core/kinds/schema-config/coverage.ts";
import { config, rulesOf, schema, table } from "./fleet.ts";

const live: LiveSchemas = {
  public: schema({ orders: table(undefined), users: table(undefined, { syncMode: "full" }), off: table(undefined, { enabled: false }) }),
  sales: schema({ orders: table(undefined) }, { enabled: false }),
};
const every = ["public.orders", "public.users", "sales.orders"];
const hash = { hashed: true };
const ignoreOrders = { match: { table: "orders" }, ignore: true };

test.each<[string, readonly SchemaConfigSpec[], readonly string[]]>([
  ["a table that an earlier rule ignores", [{ rules: [ignoreOrders, { match: { column: "email" }, set: hash }] }], every],
  [
    "a table that only the SchemaConfig with lower priority ignores",
    [{ rules: [ignoreOrders] }, { rules: [{ match: { column: "email" }, set: hash }] }],
    every,
  ],
  [
    "an ignored table with an expect entry",
    [{ rules: [ignoreOrders], expect: [{ match: { schema: "public", table: "orders", column: "id" }, isPrimaryKey: true }] }],
    ["public.orders"],
  ],
  [
    "an ignored table if minMatches counts its columns",
    [{ rules: [{ match: { column: "email" }, set: hash, minMatches: 2 }, ignoreOrders] }],
    every,
  ],
])("%s", (_sentence, specs, expected) => {
  const rules = rulesOf(specs.map((spec, priority) => config({ ...spec, priority }, `c${priority}`)));
  const read = tablesToRead(rules, live, undefined).map((path) => path.join("."));
  expect(read.sort()).toEqual([...expected].sort());
});

test("tables with unknown columns are listed as unmanaged, except ignored ones", () => {
  const rules = rulesOf([
    config({
      rules: [
        { match: { column: "email" }, set: hash },
        { match: { schema: "sales" }, ignore: true },
        { match: { table: "users" }, ignore: true },
      ],
    }),
  ]);
  expect(unmanagedTables(rules, live)).toEqual([{ schema: "public", table: "orders" }]);
});

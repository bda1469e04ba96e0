import { expect, test } from "vitest";
import { tablesToRead, unmanagedTables } from "../../../src/kinds/schema-config/coverage.ts";
import type { LiveSchemas } from "../../../src/model/live.ts";
import type { SchemaConfigSpec } from "../../../src/model/resource.ts";
import { config, rulesOf, schema, table } from "./fleet.ts";

// GET columns costs a request for each table, so what isn't needed isn't read (product §3.1).

const live: LiveSchemas = {
  public: schema({ orders: table(undefined), users: table(undefined, { syncMode: "full" }), off: table(undefined, { enabled: false }) }),
  sales: schema({ orders: table(undefined) }, { enabled: false }),
};
const every = ["public.orders", "public.users", "sales.orders"];
const hash = { hashed: true };
const ignoreOrders = { match: { table: "orders" }, ignore: true };

test.each<[string, readonly SchemaConfigSpec[], readonly string[]]>([
  ["nothing where only tables are spoken of", [{ rules: [{ match: { table: "*" }, set: { enabled: true } }] }], []],
  [
    "those of the tables that a rule names",
    [{ rules: [{ match: { table: "orders", column: "email" }, set: hash }] }],
    ["public.orders", "sales.orders"],
  ],
  ["all that are on, where a rule names no table", [{ rules: [{ match: { column: "email" }, set: hash }] }], every],
  [
    "one that is off, where it is switched on",
    [
      {
        rules: [
          { match: { table: "off" }, set: { enabled: true } },
          { match: { column: "email" }, set: hash },
        ],
      },
    ],
    [...every, "public.off"],
  ],
  ["those of one syncMode", [{ rules: [{ match: { column: "email", where: { syncMode: "full" } }, set: hash }] }], ["public.users"]],
  ["none of a table that a later rule ignores", [{ rules: [{ match: { column: "email" }, set: hash }, ignoreOrders] }], ["public.users"]],
  [
    "none of a schema that a later rule ignores",
    [
      {
        rules: [
          { match: { column: "email" }, set: hash },
          { match: { schema: "*" }, ignore: true },
        ],
      },
    ],
    [],
  ],
  ["those of a table that an earlier rule ignores", [{ rules: [ignoreOrders, { match: { column: "email" }, set: hash }] }], every],
  [
    "those of a table that only the configuration of lower priority ignores",
    [{ rules: [ignoreOrders] }, { rules: [{ match: { column: "email" }, set: hash }] }],
    every,
  ],
  [
    "those of an ignored table that an assertion is about",
    [{ rules: [ignoreOrders], expect: [{ match: { schema: "public", table: "orders", column: "id" }, isPrimaryKey: true }] }],
    ["public.orders"],
  ],
  [
    "those of an ignored table where the matches are counted",
    [{ rules: [{ match: { column: "email" }, set: hash, minMatches: 2 }, ignoreOrders] }],
    every,
  ],
  ["those of a literal", [{ schemas: { sales: { tables: { orders: { columns: { email: hash } } } } } }], ["sales.orders"]],
  ["none where what nothing covers is left alone", [{ unmatched: { columns: "ignore" } }], []],
  ["all where it is not", [{ unmatched: { columns: "error" } }], every],
  ["all but ignored ones then", [{ unmatched: { columns: "disable" }, rules: [ignoreOrders] }], ["public.users"]],
])("%s", (_sentence, specs, expected) => {
  const rules = rulesOf(specs.map((spec, priority) => config({ ...spec, priority }, `c${priority}`)));
  const read = tablesToRead(rules, live, undefined).map((path) => path.join("."));
  expect(read.sort()).toEqual([...expected].sort());
});

test("tables whose columns were not read are listed as unmanaged, but for ignored ones", () => {
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

// explain resolves a SchemaConfig to the tree that it manages.
import { expect, test } from "vitest";
import type { Manifest, SchemaConfigSpec } from "../../../../src/core/base/model/manifest.ts";
import { evaluate } from "../../../../src/core/kinds/schema-config/evaluate.ts";
import { explain } from "../../../../src/core/kinds/schema-config/explain.ts";
import type { RuleCache } from "../../../../src/core/kinds/schema-config/rules/rule-cache.ts";
import { expand } from "../../../support/expand.ts";
import { column, config, rulesOf, schema, shop, table } from "./fleet.ts";

const hash = { hashed: true } as const;
const program = (specs: readonly SchemaConfigSpec[], others: readonly Manifest[] = []): RuleCache =>
  rulesOf(
    specs.map((spec, index) => config(spec, `c${index}`)),
    others,
  );

test("rules and unmatched resolve to the tree that is managed", () => {
  const given = program([
    {
      unmatched: { tables: "disable" },
      rules: [
        { match: { table: "order*" }, set: { enabled: true } },
        { match: { column: "email" }, set: hash },
        { match: { table: "audit_log" }, ignore: true },
      ],
      schemas: { sales: { enabled: true } },
    },
  ]);
  const live = { ...shop(), __proto__x: schema({}), zero: schema({ t: table(undefined) }) };
  expect(JSON.stringify(expand(given, live))).toBe(
    JSON.stringify({
      public: { tables: { order_items: { enabled: true }, orders: { enabled: true, columns: { email: { hashed: true } } } } },
      sales: { enabled: true, tables: { customers: { enabled: false, columns: { email: { hashed: true } } } } },
      zero: { tables: { t: { enabled: false } } },
    }),
  );
});

test.each([
  ["a primary key", { isPrimaryKey: true }, {}, {}],
  ["the cursor that the service shows", {}, { cursorField: "key" }, {}],
  ["the cursor that a rule sets", {}, {}, { cursorField: "key" }],
])("%s stays enabled in a disabled table, although a rule disables it", (_, ofColumn, ofTable, set) => {
  const rules = program([
    {
      rules: [
        { match: { table: "events" }, set: { enabled: false, ...set } },
        { match: { column: "key" }, set: { enabled: false } },
      ],
    },
  ]);
  const live = { app: schema({ events: table({ key: column(ofColumn) }, ofTable) }) };
  const { outcome, changes, applied } = explain(rules, live, ["app", "events", "key"], { evaluation: evaluate(rules, live) });
  expect({ outcome, changes, wins: applied.map(({ wins }) => wins) }).toEqual({ outcome: {}, changes: [], wins: [[]] });
});

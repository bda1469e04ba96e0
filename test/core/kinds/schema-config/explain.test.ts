import { expect, test } from "vitest";
import { expand } from "../../../../src/core/kinds/schema-config/coverage.ts";
import type { RuleCache } from "../../../../src/core/kinds/schema-config/rules/rule-cache.ts";
import type { Resource, SchemaConfigSpec } from "../../../../src/core/model/resource.ts";
import { config, rulesOf, schema, shop, table } from "./fleet.ts";

const hash = { hashed: true } as const;
const program = (specs: readonly SchemaConfigSpec[], others: readonly Resource[] = []): RuleCache =>
  rulesOf(
    specs.map((spec, index) => config(spec, `c${index}`)),
    others,
  );

test("expand returns the managed tree with rules resolved, sorted by name", () => {
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

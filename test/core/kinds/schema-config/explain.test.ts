import { describe, expect, test } from "vitest";
import { expand } from "../../../../src/core/kinds/schema-config/coverage.ts";
import { explain } from "../../../../src/core/kinds/schema-config/explain.ts";
import type { RuleCache } from "../../../../src/core/kinds/schema-config/rules/rule-cache.ts";
import type { NodePath } from "../../../../src/core/model/nodes.ts";
import type { Resource, SchemaConfigSpec } from "../../../../src/core/model/resource.ts";
import { column, config, ruleSet, rulesOf, schema, shop, table } from "./fleet.ts";

const hash = { hashed: true } as const;
const program = (specs: readonly SchemaConfigSpec[], others: readonly Resource[] = []): RuleCache =>
  rulesOf(
    specs.map((spec, index) => config(spec, `c${index}`)),
    others,
  );

describe("explain", () => {
  const pii = ruleSet("pii", [{ id: "emails", match: { column: "*mail*" }, set: hash, reason: "register 12" }]);
  const given = program(
    [
      {
        rules: [
          { match: { column: "email" }, set: { enabled: true, hashed: false } },
          { use: "pii" },
          { id: "big", match: { column: "*", where: { isPrimaryKey: true } }, set: hash },
        ],
        unmatched: { tables: "disable" },
      },
      {
        rules: [{ id: "no-audit", match: { table: "audit_*" }, ignore: true }],
        schemas: { sales: { tables: { customers: { columns: { email: { hashed: false } } } } } },
      },
    ],
    [pii],
  );
  const chain = (path: NodePath) => {
    const { applied, state, outcome, changes } = explain(given, shop(), path);
    return {
      applied: applied.map(
        ({ rule, config: by, place, effect, wins }) =>
          `${by.slice(-2)} ${rule ?? "literal"} ${place.file}${place.pointer} ${effect}${wins.length > 0 ? ` wins ${wins.join()}` : ""}`,
      ),
      state,
      outcome,
      changes: changes.map(({ key, after }) => `${key} ${after}`),
    };
  };

  test.each<[string, NodePath, ReturnType<typeof chain>]>([
    [
      "shows every rule that applies, what decides, and the result",
      ["public", "orders", "email"],
      {
        applied: [
          "c0 rule 1 c0.yaml/spec/rules/0 set wins enabled",
          "c0 emails pii.yaml/spec/rules/0 set wins hashed",
          "c0 big c0.yaml/spec/rules/2 narrowed",
        ],
        state: "managed",
        outcome: { enabled: true, hashed: true },
        changes: ["hashed true"],
      },
    ],
    [
      "shows the literal entry that overrides",
      ["sales", "customers", "email"],
      {
        applied: [
          "c0 rule 1 c0.yaml/spec/rules/0 set wins enabled",
          "c0 emails pii.yaml/spec/rules/0 set",
          "c0 big c0.yaml/spec/rules/2 narrowed",
          "c1 literal c1.yaml/spec/schemas/sales/tables/customers/columns/email set wins hashed",
        ],
        state: "managed",
        outcome: { enabled: true, hashed: false },
        changes: [],
      },
    ],
    [
      "shows what ignores a node above",
      ["public", "audit_log", "email"],
      {
        applied: [
          "c0 rule 1 c0.yaml/spec/rules/0 set",
          "c0 emails pii.yaml/spec/rules/0 set",
          "c0 big c0.yaml/spec/rules/2 narrowed",
          "c1 no-audit c1.yaml/spec/rules/0 ignore-above",
        ],
        state: "ignored",
        outcome: {},
        changes: [],
      },
    ],
    [
      "shows what unmatched does",
      ["public", "orders"],
      {
        applied: ["c0 unmatched.tables c0.yaml/spec/unmatched/tables set wins enabled"],
        state: "managed",
        outcome: { enabled: false },
        changes: ["enabled false"],
      },
    ],
    ["shows that nothing applies", ["public"], { applied: [], state: "unmanaged", outcome: {}, changes: [] }],
    [
      "explains nodes that are not live",
      ["new", "t", "my_email"],
      {
        applied: ["c0 emails pii.yaml/spec/rules/0 set wins hashed", "c0 big c0.yaml/spec/rules/2 narrowed"],
        state: "managed",
        outcome: { hashed: true },
        changes: [],
      },
    ],
  ])("%s", (_sentence, path, expected) => {
    expect(chain(path)).toEqual(expected);
  });

  test("contains the live node", () => {
    expect(explain(given, shop(), ["public", "orders", "id"]).live).toEqual(column({ isPrimaryKey: true }));
    expect(explain(given, shop(), ["nope"]).live).toBeUndefined();
  });
});

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

// Rules with labels set the columns that have them, and each change names the label and its source.
import { describe, expect, test } from "vitest";
import type { ColumnLabels, LabelledColumn } from "../../../../src/core/base/model/columns.ts";
import type { SchemaConfigSpec } from "../../../../src/core/base/model/manifest.ts";
import { labelRoots } from "../../../../src/core/kinds/patterns/labels.ts";
import { tablesToRead } from "../../../../src/core/kinds/schema-config/coverage.ts";
import { column, compareFleet, config, schema, shop, table } from "./fleet.ts";

const place = { file: "personal.yaml", document: 0, pointer: "/spec/labels/0" };
/** pii: every column named email; secret: public.orders.note, by its names in the source. */
const labels: ColumnLabels = {
  defined: ["pii", "secret"],
  patterns: [{ label: "pii", match: { column: "email" }, origin: { text: "Classification/personal", place, isInManifest: true } }],
  columns: [
    {
      ...{ side: "source", schema: "public", table: "orders", column: "note", label: "secret", describedBy: "register.csv" },
      origin: { text: "register.csv:2", place, isInManifest: false },
    },
  ],
};
const compare = (spec: SchemaConfigSpec, given = labels) =>
  compareFleet({ manifests: [config(spec)], view: { columnLabels: labelRoots(given) } });
const changes = (spec: SchemaConfigSpec) => compare(spec).changes;
const hashed = { hashed: true } as const;

describe("a rule with a label", () => {
  test.each<[string, SchemaConfigSpec, readonly string[]]>([
    [
      "matches the columns that have it, in any table",
      { rules: [{ match: { label: "pii" }, set: hashed }] },
      ["public.audit_log.email hashed true", "public.orders.email hashed true", "sales.customers.email hashed true"],
    ],
    [
      "and in the schemas and tables that it names",
      { rules: [{ match: { label: "pii", schema: "public", table: "o*" }, set: hashed }] },
      ["public.orders.email hashed true"],
    ],
    [
      "and the columns that it names",
      { rules: [{ match: { label: ["pii", "secret"], column: "n*" }, set: hashed }] },
      ["public.orders.note hashed true"],
    ],
    ["by what a file says", { rules: [{ match: { label: "secret" }, set: { enabled: false } }] }, ["public.orders.note enabled false"]],
    [
      "with where",
      { rules: [{ match: { label: "pii", where: { syncMode: "full" } }, set: hashed }] },
      ["public.audit_log.email hashed true"],
    ],
    [
      "is overridden by later rules",
      {
        rules: [
          { match: { label: "pii" }, set: hashed },
          { match: { schema: "public", column: "email" }, set: { hashed: false } },
        ],
      },
      ["sales.customers.email hashed true"],
    ],
    [
      "ignores columns",
      {
        rules: [
          { match: { column: "{email,note}", schema: "public" }, set: hashed },
          { match: { label: "pii" }, ignore: true },
        ],
      },
      ["public.orders.note hashed true"],
    ],
  ])("%s", (_, spec, expected) => {
    expect(changes(spec)).toEqual(expected);
  });

  test("names the label and its origin in the cause of its changes", () => {
    const { found } = compare({ rules: [{ id: "pii", match: { label: ["pii", "secret"] }, set: hashed }] });
    const causes = found.flatMap(({ items }) => items.flatMap((item) => item.changes.map(({ cause }) => cause)));
    expect([...new Set(causes.map((cause) => `${cause?.rule} ${cause?.label?.name} ${cause?.label?.origin.text}`))]).toEqual([
      "pii pii Classification/personal",
      "pii secret register.csv:2",
    ]);
  });

  test("counts as one rule, whatever the labels by which it matches", () => {
    expect(compare({ rules: [{ match: { label: ["pii", "secret"] }, set: hashed, minMatches: 4 }] }).problems).toEqual([]);
    expect(compare({ rules: [{ match: { label: ["pii", "secret"] }, set: hashed, minMatches: 5 }] }).problems).toEqual([
      "E_MIN_MATCHES /spec/rules/0/minMatches",
    ]);
  });
});

test("an expect entry with a label is checked for the columns that have it", () => {
  expect(
    compare({ expect: [{ match: { label: "pii" }, isPrimaryKey: true }] }).found.flatMap(({ byHand }) => byHand.map(({ path }) => path)),
  ).toEqual([
    "/schemas/public/tables/orders/columns/email/isPrimaryKey",
    "/schemas/public/tables/audit_log/columns/email/isPrimaryKey",
    "/schemas/sales/tables/customers/columns/email/isPrimaryKey",
  ]);
});

test("names in the destination decide, even if the names in the source are the same", () => {
  const orders = (nameInDestination: string) =>
    schema({ orders: table({ note: column({ nameInDestination: "NOTE" }) }, { nameInDestination: "ORDERS" }) }, { nameInDestination });
  const described: LabelledColumn = {
    ...{ side: "destination", schema: "raw_shop", table: "orders", column: "note", label: "secret", describedBy: "source" },
    origin: { text: "dbt", place, isInManifest: false },
  };
  const { changes: found } = compareFleet({
    manifests: [config({ integrations: { names: ["*"] }, rules: [{ match: { label: "secret" }, set: hashed }] })],
    live: { "shop-1": { public: orders("RAW_SHOP") }, "shop-2": { public: orders("OTHER") } },
    view: { columnLabels: labelRoots({ defined: ["secret"], patterns: [], columns: [described] }) },
  });
  expect(found).toEqual(["shop-1: public.orders.note hashed true"]);
});

test("only tables in which a column can have the label are read one by one", () => {
  const tree = Object.fromEntries(
    Object.entries(shop()).map(([name, one]) => [
      name,
      { ...one, tables: Object.fromEntries(Object.entries(one.tables).map(([key, { columns: _, ...rest }]) => [key, rest])) },
    ]),
  );
  const read = (label: string) =>
    compare({ rules: [{ match: { label }, set: hashed }] }).units.flatMap((unit) =>
      tablesToRead(unit.rules, tree, undefined).map((path) => path.join(".")),
    );
  expect(read("secret")).toEqual(["public.orders"]);
  expect(read("pii").length).toBe(4);
});

import { describe, expect, test } from "vitest";
import { evaluate } from "../../../src/kinds/schema-config/evaluate.ts";
import { type ObservedSchemas, schemaConfig } from "../../../src/kinds/schema-config/index.ts";
import { patches } from "../../../src/kinds/schema-config/patch.ts";
import type { LiveSchemas } from "../../../src/model/live.ts";
import type { SchemaConfigSpec } from "../../../src/model/resource.ts";
import type { Reads } from "../../../src/model/service.ts";
import { column, compareFleet, config, rulesOf, schema, shop, table } from "./fleet.ts";

const bodies = (spec: SchemaConfigSpec, live: LiveSchemas): readonly unknown[] =>
  compareFleet({ manifests: [config(spec)], live: { shop: live } }).found.flatMap(({ items }) =>
    items.flatMap(({ requests }) => requests.map(({ body }) => body)),
  );

describe("a PATCH (interface §4.3, product §3.3)", () => {
  const live = {
    public: schema({
      orders: table({ email: column(), note: column({ enabled: false }) }),
      other: table({ x: column() }, { enabled: false }),
    }),
    sales: schema({ customers: table({ email: column() }) }, { enabled: false }),
  };
  test.each<[string, SchemaConfigSpec, readonly unknown[]]>([
    [
      "has both fields of a column, and of its ancestors what they are",
      { schemas: { public: { tables: { orders: { columns: { email: { hashed: true } } } } } } },
      [
        {
          schemas: {
            public: { enabled: true, tables: { orders: { enabled: true, columns: { email: { enabled: true, hashed: true } } } } },
          },
        },
      ],
    ],
    [
      "repeats that an ancestor is off",
      { rules: [{ match: { column: "x" }, set: { hashed: true } }] },
      [{ schemas: { public: { enabled: true, tables: { other: { enabled: false, columns: { x: { enabled: true, hashed: true } } } } } } }],
    ],
    [
      "of a table has an empty map of columns",
      { rules: [{ match: { table: "orders" }, set: { enabled: false } }] },
      [{ schemas: { public: { enabled: true, tables: { orders: { enabled: false, columns: {} } } } } }],
    ],
    [
      "of a schema has an empty map of tables",
      { rules: [{ match: { schema: "sales" }, set: { enabled: true } }] },
      [{ schemas: { sales: { enabled: true, tables: {} } } }],
    ],
    [
      "protects first, and exposes in a second one that repeats what the first left",
      {
        rules: [
          { match: { table: "orders", column: "*" }, set: { enabled: true, hashed: true } },
          { match: { schema: "sales" }, set: { enabled: true } },
          { match: { table: "customers" }, set: { enabled: false } },
        ],
      },
      [
        {
          schemas: {
            public: {
              enabled: true,
              tables: {
                orders: { enabled: true, columns: { email: { enabled: true, hashed: true }, note: { enabled: false, hashed: true } } },
              },
            },
            sales: { enabled: false, tables: { customers: { enabled: false, columns: {} } } },
          },
        },
        {
          schemas: {
            public: { enabled: true, tables: { orders: { enabled: true, columns: { note: { enabled: true, hashed: true } } } } },
            sales: { enabled: true, tables: {} },
          },
        },
      ],
    ],
  ])("%s", (_sentence, spec, sent) => {
    expect(bodies(spec, live)).toEqual(sent);
  });

  test("goes to the integration's id, encoded", () => {
    const requests = compareFleet({
      manifests: [config({ integration: { id: "a/b" }, rules: [{ match: { table: "orders" }, set: { enabled: false } }] })],
      live: { "a/b": shop() },
    }).found[0]?.items[0]?.requests;
    expect(requests?.map(({ method, path }) => `${method} ${path}`)).toEqual(["PATCH /v1/integrations/a%2Fb/schemas"]);
  });

  test("comes with what it touches as it was read", () => {
    const item = compareFleet({
      manifests: [config({ rules: [{ match: { table: "orders", column: "email" }, set: { hashed: true } }] })],
      live: { shop: live },
    }).found[0]?.items[0];
    expect(item?.observed).toEqual({
      "/schemas/public/enabled": true,
      "/schemas/public/tables/orders/enabled": true,
      "/schemas/public/tables/orders/columns/email/enabled": true,
      "/schemas/public/tables/orders/columns/email/hashed": false,
    });
  });

  test("leaves out what the project's config leaves to others", () => {
    const manifests = [config({ rules: [{ match: { column: "email" }, set: { hashed: true } }] })];
    const ignored = (address: string, path: string): boolean => address === "SchemaConfig/shops@shop" && path.startsWith("/schemas/sales");
    expect(compareFleet({ manifests, live: { shop: live }, world: { ignored } }).changes).toEqual(["public.orders.email hashed true"]);
  });
});

test("how large a body may be is the project's to say", () => {
  const manifests = [config({ rules: [{ match: { column: "email" }, set: { hashed: true } }] })];
  const bodies = (maxBodyBytes: number | undefined): number | undefined =>
    compareFleet({ manifests, world: { maxBodyBytes } }).found[0]?.items[0]?.requests.length;
  expect([bodies(undefined), bodies(300), bodies(1)]).toEqual([1, 2, 3]);
});

test("a PATCH that would be too large is split between tables, and no table is", () => {
  const names = (prefix: string): readonly string[] => Array.from({ length: 20 }, (_, index) => `${prefix}${index}`);
  const live = Object.fromEntries(
    names("s")
      .slice(0, 3)
      .map((name) => [
        name,
        schema(Object.fromEntries(names("t").map((one) => [one, table(Object.fromEntries(names("c").map((two) => [two, column()])))])), {
          enabled: false,
        }),
      ]),
  );
  const rules = rulesOf([
    config({
      rules: [
        { match: { column: "*" }, set: { hashed: true } },
        { match: { table: "t7" }, set: { enabled: false } },
        { match: { schema: "*" }, set: { enabled: true } },
      ],
    }),
  ]);
  const { changes } = evaluate(rules, live);
  const whole = patches("i", changes, live);
  const split = patches("i", changes, live, 5_000);
  expect(whole).toHaveLength(2);
  expect(split.length).toBeGreaterThan(10);
  const size = (body: unknown): number => JSON.stringify(body).length;
  expect(split.filter(({ body }) => size(body) > 5_000)).toEqual([]);
  const tablesOf = (requests: typeof whole): readonly string[] =>
    requests.flatMap(({ body }) =>
      Object.entries(body["schemas"] as Record<string, { tables: Record<string, unknown> }>).flatMap(([name, { tables }]) =>
        Object.entries(tables).map(([one, entry]) => `${name}.${one} ${JSON.stringify(entry)}`),
      ),
    );
  expect([...tablesOf(split)].sort()).toEqual([...tablesOf(whole)].sort());
  expect(patches("i", changes, live, 10).length).toBe(60 + 3);
});

describe("reads of columns (product §3.1)", () => {
  const unknown = { on: table(undefined), off: table(undefined, { enabled: false }), known: table({ a: column() }) };
  const snake = (): LiveSchemas => ({ s: schema(unknown), "a/b": schema({ "c.d": table(undefined) }) });

  async function reads(spec: SchemaConfigSpec): Promise<readonly string[]> {
    const asked: string[] = [];
    const { units } = compareFleet({ manifests: [config(spec)], live: { shop: snake() } });
    const refuse = () => Promise.reject(new Error("not to be read"));
    const [unit] = units;
    if (unit === undefined) throw new Error("no unit");
    await schemaConfig.observe?.(
      unit,
      {
        integrations: refuse,
        integration: refuse,
        tags: refuse,
        tag: refuse,
        users: refuse,
        auditLogs: refuse,
        schemas: async () => snake(),
        columns: async (_id, ...names) => {
          asked.push(names.join(" "));
          return { a: column() };
        },
      },
      { policyColumns: () => undefined, claimColumns: () => undefined },
    );
    return asked;
  }

  test.each<[string, SchemaConfigSpec, readonly string[]]>([
    ["none where only tables are spoken of", { rules: [{ match: { table: "*" }, set: { enabled: true } }] }, []],
    ["enabled tables that a column rule may mean", { rules: [{ match: { column: "x" }, set: { hashed: true } }] }, ["s on", "a/b c.d"]],
    ["only those that the rule may mean", { rules: [{ match: { schema: "a/*", column: "x" }, set: { hashed: true } }] }, ["a/b c.d"]],
    ["only those that where may mean", { rules: [{ match: { column: "x", where: { syncMode: "full" } }, set: { hashed: true } }] }, []],
    [
      "also tables that will be enabled",
      {
        rules: [
          { match: { table: "off" }, set: { enabled: true } },
          { match: { schema: "s", column: "x" }, set: { hashed: true } },
        ],
      },
      ["s on", "s off"],
    ],
    [
      "also those that unmatched will enable",
      { unmatched: { tables: "enable" }, rules: [{ match: { schema: "s", column: "x" }, set: { hashed: true } }] },
      ["s on", "s off"],
    ],
    [
      "tables whose columns a literal names",
      { schemas: { s: { tables: { on: { columns: { a: { hashed: true } } }, off: { columns: { a: {} } } } } } },
      ["s on"],
    ],
    ["none for an empty map of columns", { schemas: { s: { tables: { on: { columns: {} } } } } }, []],
    ["all enabled ones for unmatched columns", { unmatched: { columns: "disable" } }, ["s on", "a/b c.d"]],
    [
      "none of tables that are ignored",
      { unmatched: { columns: "disable" }, rules: [{ match: { schema: "s" }, ignore: true }] },
      ["a/b c.d"],
    ],
    ["none for rules that only ignore", { rules: [{ match: { column: "x*" }, ignore: true }] }, []],
    ["those that assertions speak of", { expect: [{ match: { table: "on", column: "a" }, isPrimaryKey: true }] }, ["s on"]],
    ["none for assertions on tables", { expect: [{ match: { table: "on" }, syncMode: "full" }] }, []],
  ])("%s", async (_sentence, spec, asked) => {
    expect(await reads(spec)).toEqual(asked);
  });

  const readWith = async (
    manifests: Parameters<typeof compareFleet>[0]["manifests"],
    live: LiveSchemas,
    columns: Reads["columns"],
  ): Promise<ObservedSchemas | undefined> => {
    const [unit] = compareFleet({ manifests, live: { shop: live } }).units;
    if (unit === undefined) throw new Error("no unit");
    const refuse = () => Promise.reject(new Error("not to be read"));
    return schemaConfig.observe?.(
      unit,
      {
        integrations: refuse,
        integration: refuse,
        tags: refuse,
        tag: refuse,
        users: refuse,
        auditLogs: refuse,
        schemas: async () => live,
        columns,
      },
      { policyColumns: () => undefined, claimColumns: () => undefined },
    );
  };

  test("many of them are told, since they take long", async () => {
    const live = { s: schema(Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`t${index}`, table(undefined)]))) };
    const manifests = [config({ rules: [{ match: { column: "a" }, set: { hashed: true } }] })];
    const read = await readWith(manifests, live, async () => ({ a: column() }));
    const { problems, found } = compareFleet({ manifests, read });
    expect(problems).toEqual(["W_MANY_COLUMN_READS "]);
    expect(found[0]?.items[0]?.changes).toHaveLength(1_001);
  });

  test("tables whose columns the service does not tell although something is said of them are told", async () => {
    const live = {
      s: schema({ seen: table(undefined), gone: table(undefined), other: table(undefined) }),
    };
    const manifests = [config({ rules: [{ match: { table: "!other", column: "a" }, set: { hashed: true } }] })];
    const read = await readWith(manifests, live, async (_id, _schema, name) => (name === "seen" ? { a: column() } : undefined));
    const { problems, found } = compareFleet({ manifests, read });
    expect(problems).toEqual(["W_COLUMNS_UNKNOWN "]);
    expect(found[0]?.problems[0]?.message).toContain("The service tells no columns of s.gone in shop, so");
    expect(found[0]?.items[0]?.changes).toHaveLength(1);
  });
});

describe("assertions", () => {
  test.each<[string, NonNullable<SchemaConfigSpec["expect"]>, readonly (readonly [path: string, expected: unknown, actual: unknown])[]]>([
    [
      "that hold are silent",
      [
        { match: { table: "orders" }, syncMode: "incremental", cursorField: "updated_at" },
        { match: { column: "id" }, isPrimaryKey: true },
      ],
      [],
    ],
    [
      "on a table that don't are manual",
      [{ match: { table: "audit_log" }, syncMode: "incremental" }],
      [["/schemas/public/tables/audit_log/syncMode", "incremental", "full"]],
    ],
    [
      "on what is not set have no actual value",
      [{ match: { table: "customers" }, cursorField: "id" }],
      [["/schemas/sales/tables/customers/cursorField", "id", undefined]],
    ],
    [
      "on columns",
      [{ match: { schema: "sales", column: "email" }, isPrimaryKey: true }],
      [["/schemas/sales/tables/customers/columns/email/isPrimaryKey", true, false]],
    ],
    ["on schemas", [{ match: { schema: "sales" }, nameInDestination: "x" }], [["/schemas/sales/nameInDestination", "x", "s"]]],
    [
      "where a later one differs follow that one",
      [
        { match: { table: "*" }, syncMode: "none" },
        { match: { table: "*" }, syncMode: "incremental" },
      ],
      [["/schemas/public/tables/audit_log/syncMode", "incremental", "full"]],
    ],
    [
      "narrowed by where",
      [{ match: { table: "*", where: { syncMode: "full" } }, nameInDestination: "x" }],
      [["/schemas/public/tables/audit_log/nameInDestination", "x", "t"]],
    ],
  ])("%s", (_sentence, given, steps) => {
    const { found } = compareFleet({ manifests: [config({ expect: given })] });
    expect(found[0]?.manual.map(({ path, expected, actual }) => [path, expected, actual])).toEqual(steps);
  });

  test("say what a person has to do", () => {
    const { found } = compareFleet({ manifests: [config({ expect: [{ match: { table: "audit_log" }, syncMode: "incremental" }] })] });
    expect(found[0]?.manual[0]?.instruction).toBe(
      `No call of the interface changes syncMode: set it in the service's own user interface for table public.audit_log of shop (wanted: "incremental", now: "full"), or correct spec.expect.`,
    );
  });
});

// The PATCHes of a plan have every difference and nothing else, in bodies of a bounded size.
import { describe, expect, test } from "vitest";
import type { LiveSchemas } from "../../../../src/core/base/model/live.ts";
import type { SchemaConfigSpec } from "../../../../src/core/base/model/manifest.ts";
import { walk } from "../../../../src/core/base/model/schema-tree.ts";
import type { PlannedRequest, Reads } from "../../../../src/core/base/model/service.ts";
import type { Account } from "../../../../src/core/kinds/kind.ts";
import { schemaConfig } from "../../../../src/core/kinds/schema-config/index.ts";
import { smallerPatches, treeIn } from "../../../../src/core/kinds/schema-config/patch.ts";
import type { ObservedSchemas } from "../../../../src/core/kinds/schema-config/read.ts";
import { column, compareFleet, config, readsOf, schema, shop, table } from "./fleet.ts";

const bodies = (spec: SchemaConfigSpec, live: LiveSchemas, patch: NonNullable<Account["patch"]>): readonly unknown[] =>
  compareFleet({ manifests: [config(spec)], live: { shop: live }, view: { patch } }).found.flatMap(({ items }) =>
    items.flatMap(({ requests }) => requests.map(({ body }) => body)),
  );

describe("a PATCH", () => {
  const live = {
    public: schema({
      orders: table({ email: column(), note: column({ enabled: false }) }),
      other: table({ x: column() }, { enabled: false }),
    }),
    sales: schema({ customers: table({ email: column() }) }, { enabled: false }),
  };
  test.each<[string, SchemaConfigSpec, readonly unknown[], readonly unknown[]]>([
    [
      "for a column has the member that changes, or the live values of the column and its ancestors",
      { schemas: { public: { tables: { orders: { columns: { email: { hashed: true } } } } } } },
      [{ public: { tables: { orders: { columns: { email: { hashed: true } } } } } }],
      [{ public: { enabled: true, tables: { orders: { enabled: true, columns: { email: { enabled: true, hashed: true } } } } } }],
    ],
    [
      "has both members of a column if both change",
      {
        rules: [
          { match: { column: "email" }, set: { enabled: false, hashed: true } },
          { match: { schema: "sales" }, ignore: true },
        ],
      },
      [{ public: { tables: { orders: { columns: { email: { enabled: false, hashed: true } } } } } }],
      [{ public: { enabled: true, tables: { orders: { enabled: true, columns: { email: { enabled: false, hashed: true } } } } } }],
    ],
    [
      "in a disabled table does not send, or repeats, that an ancestor is disabled",
      { rules: [{ match: { column: "x" }, set: { hashed: true } }] },
      [{ public: { tables: { other: { columns: { x: { hashed: true } } } } } }],
      [{ public: { enabled: true, tables: { other: { enabled: false, columns: { x: { enabled: true, hashed: true } } } } } }],
    ],
    [
      "for a table has no columns",
      { rules: [{ match: { table: "orders" }, set: { enabled: false } }] },
      [{ public: { tables: { orders: { enabled: false } } } }],
      [{ public: { enabled: true, tables: { orders: { enabled: false, columns: {} } } } }],
    ],
    [
      "for a schema has no tables",
      { rules: [{ match: { schema: "sales" }, set: { enabled: true } }] },
      [{ sales: { enabled: true } }],
      [{ sales: { enabled: true, tables: {} } }],
    ],
    [
      "protects first, and exposes in a second one, which repeats the values of the first only if it is complete",
      {
        rules: [
          { match: { table: "orders", column: "*" }, set: { enabled: true, hashed: true } },
          { match: { schema: "sales" }, set: { enabled: true } },
          { match: { table: "customers" }, set: { enabled: false } },
        ],
      },
      [
        {
          public: { tables: { orders: { columns: { email: { hashed: true }, note: { hashed: true } } } } },
          sales: { tables: { customers: { enabled: false } } },
        },
        { public: { tables: { orders: { columns: { note: { enabled: true } } } } }, sales: { enabled: true } },
      ],
      [
        {
          public: {
            enabled: true,
            tables: {
              orders: { enabled: true, columns: { email: { enabled: true, hashed: true }, note: { enabled: false, hashed: true } } },
            },
          },
          sales: { enabled: false, tables: { customers: { enabled: false, columns: {} } } },
        },
        {
          public: { enabled: true, tables: { orders: { enabled: true, columns: { note: { enabled: true, hashed: true } } } } },
          sales: { enabled: true, tables: {} },
        },
      ],
    ],
  ])("%s", (_sentence, spec, changed, complete) => {
    const sent = (entries: "changed" | "complete") => bodies(spec, live, { entries });
    expect(sent("changed")).toEqual(changed.map((schemas) => ({ schemas })));
    expect(sent("complete")).toEqual(complete.map((schemas) => ({ schemas })));
  });

  test("has the encoded id of the integration in its path", () => {
    const requests = compareFleet({
      manifests: [config({ integration: { id: "a/b" }, rules: [{ match: { table: "orders" }, set: { enabled: false } }] })],
      live: { "a/b": shop() },
    }).found[0]?.items[0]?.requests;
    expect(requests?.map(({ method, path }) => `${method} ${path}`)).toEqual(["PATCH /v1/integrations/a%2Fb/schemas"]);
  });

  test("leaves out what `ignore` in the config excludes", () => {
    const manifests = [config({ rules: [{ match: { column: "email" }, set: { hashed: true } }] })];
    const ignored = (address: string, path: string): boolean => address === "Schemas/shop" && path.startsWith("/schemas/sales");
    expect(compareFleet({ manifests, live: { shop: live }, view: { ignored } }).changes).toEqual(["public.orders.email hashed true"]);
  });
});

describe("a body that is too large", () => {
  const requestOf = (live?: LiveSchemas): PlannedRequest => {
    const manifests = [config({ rules: [{ match: { column: "*email*" }, set: { hashed: true } }] })];
    const given = { manifests, view: { patch: { entries: "complete" as const } }, ...(live === undefined ? {} : { live: { shop: live } }) };
    const [request, ...others] = compareFleet(given).found[0]?.items[0]?.requests ?? [];
    if (request === undefined || others.length > 0) throw new Error("one request");
    return request;
  };

  test("is split between tables", () => {
    expect([10_000, 300, 1].map((limit) => smallerPatches(requestOf(), limit).length)).toEqual([1, 2, 3]);
  });

  test("is split within a table that does not fit, down to one column", () => {
    const emails = Object.fromEntries(Array.from({ length: 37 }, (_, at) => [`email_${at}`, column()]));
    const wide = requestOf({ s: schema({ narrow: table({ email: column() }), wide: table({ ...emails, ["__proto__"]: column() }) }) });
    const columnsIn = (requests: readonly PlannedRequest[]) => {
      const found: unknown[] = [];
      for (const { body } of requests) walk(treeIn(body), { column: (fields, path) => void found.push([path, fields]) });
      return found;
    };
    for (const limit of [1, 200, 300, 500, 900, 1_500]) {
      const pieces = smallerPatches(wide, limit);
      expect(columnsIn(pieces)).toEqual(columnsIn([wide]));
      const sizes = pieces.map(({ body }) => JSON.stringify(body).length);
      if (limit > 100) expect(Math.max(...sizes)).toBeLessThanOrEqual(limit);
      expect(pieces.length).toBeLessThanOrEqual(limit === 1 ? 38 : Math.ceil((4 * JSON.stringify(wide.body).length) / limit));
    }
  });
});

describe("reads of columns", () => {
  const unknown = { on: table(undefined), off: table(undefined, { enabled: false }), known: table({ a: column() }) };
  const snake = (): LiveSchemas => ({ s: schema(unknown), "a/b": schema({ "c.d": table(undefined) }) });

  async function reads(spec: SchemaConfigSpec): Promise<readonly string[]> {
    const asked: string[] = [];
    const { units } = compareFleet({ manifests: [config(spec)], live: { shop: snake() } });
    const [unit] = units;
    if (unit === undefined) throw new Error("no unit");
    await schemaConfig.observe?.(
      unit,
      readsOf({
        schemas: async () => ({ tree: snake() }),
        columns: async (_id, ...names) => {
          asked.push(names.join(" "));
          return { a: column() };
        },
      }),
      { policyColumns: () => undefined, claimColumns: () => undefined, isNew: () => false },
    );
    return asked;
  }

  test.each<[string, SchemaConfigSpec, readonly string[]]>([
    ["none if the rules match only tables", { rules: [{ match: { table: "*" }, set: { enabled: true } }] }, []],
    ["enabled tables that a column rule may match", { rules: [{ match: { column: "x" }, set: { hashed: true } }] }, ["s on", "a/b c.d"]],
    [
      "only tables that the patterns of the rule match",
      { rules: [{ match: { schema: "a/*", column: "x" }, set: { hashed: true } }] },
      ["a/b c.d"],
    ],
    [
      "only tables that the where of the rule matches",
      { rules: [{ match: { column: "x", where: { syncMode: "full" } }, set: { hashed: true } }] },
      [],
    ],
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
      "also tables that unmatched will enable",
      { unmatched: { tables: "enable" }, rules: [{ match: { schema: "s", column: "x" }, set: { hashed: true } }] },
      ["s on", "s off"],
    ],
    [
      "tables with literal columns",
      { schemas: { s: { tables: { on: { columns: { a: { hashed: true } } }, off: { columns: { a: {} } } } } } },
      ["s on"],
    ],
    ["none for an empty map of columns", { schemas: { s: { tables: { on: { columns: {} } } } } }, []],
    ["all enabled ones for a rule on all columns", { rules: [{ match: { column: "*" }, set: { enabled: false } }] }, ["s on", "a/b c.d"]],
    [
      "not ignored tables",
      {
        rules: [
          { match: { column: "*" }, set: { enabled: false } },
          { match: { schema: "s" }, ignore: true },
        ],
      },
      ["a/b c.d"],
    ],
    ["none for rules that only ignore", { rules: [{ match: { column: "x*" }, ignore: true }] }, []],
    ["tables with expect entries for columns", { expect: [{ match: { table: "on", column: "a" }, isPrimaryKey: true }] }, ["s on"]],
    ["none for expect entries on tables", { expect: [{ match: { table: "on" }, syncMode: "full" }] }, []],
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
    return schemaConfig.observe?.(unit, readsOf({ schemas: async () => ({ tree: live }), columns }), {
      policyColumns: () => undefined,
      claimColumns: () => undefined,
      isNew: () => false,
    });
  };

  test("many of them are reported, because they take long", async () => {
    const live = { s: schema(Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`t${index}`, table(undefined)]))) };
    const manifests = [config({ rules: [{ match: { column: "a" }, set: { hashed: true } }] })];
    const read = await readWith(manifests, live, async () => ({ a: column() }));
    const { problems, found } = compareFleet({ manifests, read });
    expect(problems).toEqual(["W_MANY_COLUMN_READS "]);
    expect(found[0]?.items[0]?.changes).toMatchObject([{ count: 1_001 }]);
  });

  test("tables for which the service returns no columns are reported if a rule or literal needs them", async () => {
    const live = {
      s: schema({ seen: table(undefined), gone: table(undefined), other: table(undefined) }),
    };
    const manifests = [config({ rules: [{ match: { table: "!other", column: "a" }, set: { hashed: true } }] })];
    const read = await readWith(manifests, live, async (_id, _schema, name) => (name === "seen" ? { a: column() } : undefined));
    const { problems, found } = compareFleet({ manifests, read });
    expect(problems).toEqual(["W_COLUMNS_UNKNOWN "]);
    expect(found[0]?.problems[0]?.message).toContain("The service returned no columns for s.gone of shop, so");
    expect(found[0]?.items[0]?.changes).toHaveLength(1);
    expect(found[0]?.unseen).toEqual([
      {
        address: "Schemas/shop",
        paths: ["/schemas/s/tables/gone/columns"],
        reason: "the service returned no columns for the table",
      },
    ]);
  });
});

describe("expect entries", () => {
  test.each<[string, NonNullable<SchemaConfigSpec["expect"]>, readonly (readonly [path: string, expected: unknown, actual: unknown])[]]>([
    [
      "that hold are not reported",
      [
        { match: { table: "orders" }, syncMode: "incremental", cursorField: "updated_at" },
        { match: { column: "id" }, isPrimaryKey: true },
      ],
      [],
    ],
    [
      "that do not hold are by hand",
      [{ match: { table: "audit_log" }, syncMode: "incremental" }],
      [["/schemas/public/tables/audit_log/syncMode", "incremental", "full"]],
    ],
    [
      "have no actual value if nothing is set",
      [{ match: { table: "customers" }, cursorField: "id" }],
      [["/schemas/sales/tables/customers/cursorField", "id", undefined]],
    ],
    [
      "apply to columns",
      [{ match: { schema: "sales", column: "email" }, isPrimaryKey: true }],
      [["/schemas/sales/tables/customers/columns/email/isPrimaryKey", true, false]],
    ],
    ["apply to schemas", [{ match: { schema: "sales" }, nameInDestination: "x" }], [["/schemas/sales/nameInDestination", "x", "s"]]],
    [
      "are overridden by later ones",
      [
        { match: { table: "*" }, syncMode: "none" },
        { match: { table: "*" }, syncMode: "incremental" },
      ],
      [["/schemas/public/tables/audit_log/syncMode", "incremental", "full"]],
    ],
    [
      "can have a where",
      [{ match: { table: "*", where: { syncMode: "full" } }, nameInDestination: "x" }],
      [["/schemas/public/tables/audit_log/nameInDestination", "x", "t"]],
    ],
  ])("%s", (_sentence, given, steps) => {
    const { found } = compareFleet({ manifests: [config({ expect: given })] });
    expect(found[0]?.byHand.map(({ path, expected, actual }) => [path, expected, actual])).toEqual(steps);
  });

  test("have instructions", () => {
    const { found } = compareFleet({ manifests: [config({ expect: [{ match: { table: "audit_log" }, syncMode: "incremental" }] })] });
    expect(found[0]?.byHand[0]?.instruction).toBe(
      `No request changes syncMode. Set it in the service's user interface: table public.audit_log of shop (expected "incremental", actual "full"). Or correct spec.expect.`,
    );
  });
});

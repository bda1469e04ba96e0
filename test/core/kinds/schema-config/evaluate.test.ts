// Rules, literal entries, ignore and unmatched decide each node as the documentation says.
import { describe, expect, test } from "vitest";
import { eachChange } from "../../../../src/core/base/model/changes.ts";
import type { SchemaConfigSpec, SchemaRule } from "../../../../src/core/base/model/manifest.ts";
import { declaredPriorityProblems } from "../../../../src/core/kinds/schema-config/priorities.ts";
import { column, compareFleet, config, schema, shop, table } from "./fleet.ts";

const off = { enabled: false } as const;
const hash = { hashed: true } as const;

/** The changes that the spec makes in the shop; errors leave none, so they are shown instead. */
function outcome(spec: SchemaConfigSpec, live = shop()): readonly string[] {
  const { changes, problemsInFull } = compareFleet({ manifests: [config(spec)], live: { shop: live } });
  const errors = problemsInFull.filter(({ severity }) => severity === "error").map(({ code }) => code);
  return errors.length > 0 ? errors : changes;
}

const rules = (...list: SchemaRule[]): SchemaConfigSpec => ({ rules: list });

describe("a rule", () => {
  test.each<[string, SchemaConfigSpec, readonly string[]]>([
    ["on a schema does not apply to its tables", rules({ match: { schema: "public" }, set: off }), ["public enabled false"]],
    [
      "on a table without a schema pattern applies to the table in every schema",
      rules({ match: { table: "*" }, set: off }),
      [
        "public.audit_log enabled false",
        "public.order_items enabled false",
        "public.orders enabled false",
        "sales.customers enabled false",
      ],
    ],
    [
      "on a column alone applies to the column in every table of every schema",
      rules({ match: { column: "email" }, set: hash }),
      ["public.audit_log.email hashed true", "public.orders.email hashed true", "sales.customers.email hashed true"],
    ],
    [
      "with ! excludes from its list",
      rules({ match: { schema: "public", table: ["*", "!order*"] }, set: off }),
      ["public.audit_log enabled false"],
    ],
    [
      "ignores case with ignoreCase",
      rules({ match: { schema: "SALES", column: "EMAIL", ignoreCase: true }, set: hash }),
      ["sales.customers.email hashed true"],
    ],
    [
      "is overridden by a later one, field by field",
      rules(
        { match: { table: "customers", column: "*" }, set: hash },
        { match: { table: "customers", column: ["id", "email"] }, set: { hashed: false } },
      ),
      ["sales.customers.phone hashed true"],
    ],
    [
      "is overridden by the literal tree",
      {
        rules: [{ match: { schema: "sales", column: ["email", "phone"] }, set: hash }],
        schemas: { sales: { tables: { customers: { columns: { email: { hashed: false } } } } } },
      },
      ["sales.customers.phone hashed true"],
    ],
  ])("%s", (_sentence, spec, changes) => {
    expect(outcome(spec)).toEqual(changes);
  });
});

describe("where", () => {
  test.each<[string, SchemaRule, readonly string[]]>([
    [
      "isPrimaryKey selects primary keys",
      { match: { schema: "sales", column: "*", where: { isPrimaryKey: true } }, set: hash },
      ["sales.customers.id hashed true"],
    ],
    [
      "syncMode selects columns by their table",
      { match: { column: "email", where: { syncMode: "full" } }, set: hash },
      ["public.audit_log.email hashed true"],
    ],
  ])("%s", (_sentence, rule, changes) => {
    expect(outcome(rules(rule))).toEqual(changes);
  });

  test("compares the live state, not what earlier rules set", () => {
    const spec = rules(
      { match: { schema: "sales", column: "email" }, set: hash },
      { match: { schema: "sales", column: "*", where: { hashed: true } }, set: off },
    );
    expect(outcome(spec)).toEqual(["sales.customers.email hashed true"]);
  });
});

describe("ignore", () => {
  const all: SchemaRule = { match: { column: ["email", "note", "phone"] }, set: hash };
  test.each<[string, SchemaConfigSpec, readonly string[]]>([
    [
      "of a table ends the management of all its columns",
      rules(all, { match: { table: ["orders", "audit_log"] }, ignore: true }),
      ["sales.customers.email hashed true", "sales.customers.phone hashed true"],
    ],
    [
      "ends for a node that a later rule sets, and for that node only",
      rules(all, { match: { schema: "*" }, ignore: true }, { match: { table: "customers", column: "email" }, set: hash }),
      ["sales.customers.email hashed true"],
    ],
    [
      "ends for a node that the literal tree sets",
      {
        rules: [all, { match: { schema: "*" }, ignore: true }],
        schemas: { sales: { tables: { customers: { columns: { phone: { hashed: true } } } } } },
      },
      ["sales.customers.phone hashed true"],
    ],
    [
      "excludes a node from unmatched",
      { unmatched: { tables: "disable" }, rules: [{ match: { schema: "public" }, ignore: true }] },
      ["sales.customers enabled false"],
    ],
  ])("%s", (_sentence, spec, changes) => {
    expect(outcome(spec)).toEqual(changes);
  });

  test("excludes columns from the unmanaged ones", () => {
    const count = (spec: SchemaConfigSpec): number | undefined => compareFleet({ manifests: [config(spec)] }).found[0]?.unmanagedColumns;
    expect(count({ rules: [] })).toBe(11);
    expect(count(rules({ match: { table: "orders" }, ignore: true }))).toBe(7);
    expect(count(rules({ match: { column: "email" }, set: { hashed: false } }))).toBe(8);
    expect(count(rules({ match: { column: "*" }, set: { enabled: true } }))).toBe(0);
    expect(count({ schemas: { sales: { tables: { customers: { columns: { id: {} } } } } } })).toBe(10);
  });
});

test("live nodes are counted, covered or not", () => {
  const count = (spec: SchemaConfigSpec): number | undefined => compareFleet({ manifests: [config(spec)] }).found[0]?.size?.count;
  const all = 17;
  expect(count({ rules: [] })).toBe(all);
  expect(count(rules({ match: { column: "*" }, set: { enabled: true } }))).toBe(all);
  expect(count(rules({ match: { column: "*" }, set: { enabled: true } }, { match: { table: "orders" }, ignore: true }))).toBe(all);
  expect(count({ schemas: { sales: { tables: { customers: { columns: { id: {} } } } } } })).toBe(all);
  expect(compareFleet({ manifests: [config({})], view: { fresh: new Set(["shop"]) } }).found[0]?.size).toBeUndefined();
});

describe("what the service does not keep", () => {
  const live = shop();
  const path = "/schemas/public/tables/orders/columns/id/hashed";
  const manifests = [config({ rules: [{ match: { table: "orders", column: "*" }, set: { hashed: true } }] })];
  const known = (wanted: boolean, is: boolean) => new Map([["Schemas/shop", new Map([[path, { wanted, live: is, since: "2026-11-27" }]])]]);

  test("is planned again if it protects, and said", () => {
    const { changes, found } = compareFleet({ manifests, live: { shop: live }, view: { notKept: known(true, false) } });
    expect(changes).toContain("public.orders.id hashed true");
    expect(found[0]?.notKept).toEqual([{ address: "Schemas/shop", path, wanted: true, live: false, since: "2026-11-27" }]);
  });

  test("is not planned again if it exposes, and said", () => {
    const orders = table({ id: column({ hashed: true }), email: column({ hashed: true }) });
    const { changes, found } = compareFleet({
      manifests: [config({ rules: [{ match: { table: "orders", column: "*" }, set: { hashed: false } }] })],
      live: { shop: { public: schema({ orders }) } },
      view: { notKept: known(false, true) },
    });
    expect(changes).toEqual(["public.orders.email hashed false"]);
    expect(found[0]?.notKept).toEqual([{ address: "Schemas/shop", path, wanted: false, live: true, since: "2026-11-27" }]);
  });

  test("is planned again when the manifest or the account has changed there", () => {
    const { changes, found } = compareFleet({ manifests, live: { shop: live }, view: { notKept: known(false, true) } });
    expect(changes).toContain("public.orders.id hashed true");
    expect(found[0]?.notKept).toEqual([]);
  });

  test.each([
    [{ allowed: false }, ["Schemas/shop"]],
    [{ allowed: true }, []],
    [{ allowed: "false" }, []],
    [null, []],
    ["no", []],
  ])("is everything below a table whose enabledPatchSettings are %j", (enabledPatchSettings, of) => {
    const orders = table({ email: column() }, { enabledPatchSettings });
    const { found } = compareFleet({
      manifests: [config({ unmatched: { tables: "disable" }, rules: [{ match: { column: "email" }, set: { hashed: true } }] })],
      live: { shop: { public: schema({ orders }) } },
    });
    expect([...new Set((found[0]?.notKept ?? []).map(({ address }) => address))]).toEqual(of);
    // What protects is sent nevertheless.
    expect(found[0]?.items.length).toBe(1);
    for (const one of found[0]?.notKept ?? []) expect(one).not.toHaveProperty("since");
  });
});

test("a new mode comes with its cursor, also of a table that was kept disabled", () => {
  const set = { enabled: true, syncMode: "Incremental", cursorField: "updated_at" };
  const orders = table({ updated_at: column() }, { enabled: false, syncMode: "Full Refresh" });
  const was = [{ as: "disabled", by: "SchemaConfig/shops", since: "2026-11-27T08:00:00.000Z" }] as const;
  const { changes } = compareFleet({
    manifests: [config({ rules: [{ match: { table: "orders" }, set }] })],
    live: { shop: { public: schema({ orders }) } },
    view: {
      extended: { missing: new Set<never>() },
      kept: new Map([["shop", { identity: ["shop"], schemas: new Map([["public", new Map([["orders", was]])]]) }]]),
    },
  });
  expect(changes).toEqual(["public.orders enabled true", "public.orders/cursorField updated_at", "public.orders/syncMode Incremental"]);
});

test.each<[string, "never" | "once", changes: readonly string[]]>([
  ["never shown is sent once", "never", []],
  ["shown once and shows no more is sent again: it may be another one now", "once", ["public.orders.email hashed true"]],
])("a hash that the service has %s", (_, shown, expected) => {
  const was = { as: "hashed", by: "SchemaConfig/shops", since: "2026-11-27T08:00:00.000Z", columns: ["email"] } as const;
  const { hashed: __, ...email } = column();
  const orders = [shown === "never" ? ({ ...was, isUnseen: true } as const) : was];
  const { changes } = compareFleet({
    manifests: [config({ rules: [{ match: { column: "email" }, set: { hashed: true } }] })],
    live: { shop: { public: schema({ orders: table({ email }) }) } },
    view: { kept: new Map([["shop", { identity: ["shop"], schemas: new Map([["public", new Map([["orders", orders]])]]) }]]) },
  });
  expect(changes).toEqual(expected);
});

describe("unmatched", () => {
  test.each<[string, SchemaConfigSpec, readonly string[]]>([
    ["is ignore by default", {}, []],
    [
      "tables: disable disables tables that nothing covers",
      { unmatched: { tables: "disable" }, rules: [{ match: { table: "order*" }, set: { enabled: true } }] },
      ["public.audit_log enabled false", "sales.customers enabled false"],
    ],
    [
      "does not apply to a node with a literal entry, even an empty one",
      {
        unmatched: { tables: "disable" },
        schemas: {
          public: { tables: { orders: { enabled: true }, order_items: {}, audit_log: {} } },
          sales: { tables: { customers: {} } },
        },
      },
      [],
    ],
    [
      "error refuses uncovered nodes",
      { unmatched: { tables: "error" }, rules: [{ match: { table: "orders" }, set: { enabled: true } }] },
      ["E_UNMATCHED"],
    ],
    [
      "error accepts an account in which everything is covered",
      { unmatched: { tables: "error" }, rules: [{ match: { table: "*" }, set: { enabled: true } }] },
      [],
    ],
  ])("%s", (_sentence, spec, changes) => {
    expect(outcome(spec)).toEqual(changes);
  });

  test("error names some of the nodes and counts all", () => {
    const tables = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`t${String(index).padStart(2, "0")}`, table({})]));
    const { problemsInFull } = compareFleet({
      manifests: [config({ unmatched: { tables: "error" } })],
      live: { shop: { s: schema(tables) } },
    });
    expect(problemsInFull.map(({ message, place }) => [message, place?.pointer])).toEqual([
      [
        "No rule or literal entry covers 40 tables of shop: s.t00, s.t01, s.t02, s.t03, s.t04 and 35 more tables. Add a rule that sets or ignores them, or change unmatched.tables.",
        "/spec/unmatched/tables",
      ],
    ]);
  });
});

describe("a sync mode", () => {
  const live = { public: schema({ orders: table({ email: column() }, { syncMode: "CHANGE_STREAM (INITIAL SNAPSHOT)" }) }) };
  test.each<[string, readonly string[]]>([
    ["Change Stream (Initial Snapshot)", ["public.orders.email hashed true"]],
    ["change_stream_(initial snapshot)", ["public.orders.email hashed true"]],
    ["Change Stream", []],
  ])("of `where` may be spelled %j", (syncMode, changes) => {
    expect(outcome(rules({ match: { column: "email", where: { syncMode } }, set: hash }), live)).toEqual(changes);
  });

  test.each([
    ["Change Stream (Initial Snapshot)", 0],
    ["Incremental", 1],
  ])("of `expect` may be spelled %j", (syncMode, count) => {
    const spec = { expect: [{ match: { table: "orders" }, syncMode }] };
    expect(compareFleet({ manifests: [config(spec)], live: { shop: live } }).found[0]?.byHand).toHaveLength(count);
  });
});

describe("priority", () => {
  const low = (spec: SchemaConfigSpec) => config({ integration: "shop", priority: 1, ...spec }, "low");
  const high = (spec: SchemaConfigSpec) => config({ integration: "shop", priority: 2, ...spec }, "high");
  test.each<[string, SchemaConfigSpec, SchemaConfigSpec, readonly string[]]>([
    [
      "a rule with higher priority overrides a literal with lower priority",
      { schemas: { sales: { tables: { customers: { columns: { email: { hashed: true } } } } } } },
      { rules: [{ match: { column: "email" }, set: { hashed: false } }] },
      [],
    ],
    [
      "the higher priority can ignore what the lower one sets",
      { rules: [{ match: { table: "*" }, set: off }] },
      { rules: [{ match: { schema: "public" }, ignore: true }] },
      ["sales.customers enabled false"],
    ],
    [
      "the lower unmatched applies if the higher priority has none",
      { unmatched: { schemas: "disable" } },
      { unmatched: { tables: "ignore" } },
      ["public enabled false", "sales enabled false"],
    ],
  ])("%s", (_sentence, lower, higher, changes) => {
    expect(compareFleet({ manifests: [high(higher), low(lower)] }).changes).toEqual(changes);
    expect(compareFleet({ manifests: [low(lower), high(higher)] }).changes).toEqual(changes);
  });

  test("equal ones are an error", () => {
    expect(compareFleet({ manifests: [config({}, "a"), config({}, "b")] }).problems).toEqual([
      "E_CONFLICTING_CONFIGS b.yaml/spec/integration",
    ]);
  });

  test("only those that are equal are named", () => {
    const manifests = [config({}, "a"), config({ priority: 5 }, "b"), config({ priority: 5 }, "c")];
    const { problemsInFull } = compareFleet({ manifests });
    expect(problemsInFull.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^SchemaConfig\/b and SchemaConfig\/c select the same integration, "shop",/u),
    ]);
  });

  test("equal ones are reported once, for all integrations that both select", () => {
    const both: SchemaConfigSpec = { integrations: { names: ["shop-*"] } };
    const live = Object.fromEntries(["shop-1", "shop-2", "shop-3", "shop-4", "shop-5"].map((name) => [name, shop()]));
    const { problemsInFull } = compareFleet({ manifests: [config(both, "a"), config(both, "b")], live });
    expect(problemsInFull.map(({ place, message }) => [place?.pointer, message])).toEqual([
      [
        "/spec/integrations",
        'SchemaConfig/a and SchemaConfig/b select the same 5 integrations, "shop-1", "shop-2", "shop-3" and 2 more integrations, with the same priority, so none has precedence. Set another spec.priority in SchemaConfig/b (default: 0; the higher one wins per field), or select each integration once.',
      ],
    ]);
  });

  test("one that selects the integrations of several others is one problem, in its own file", () => {
    const names = ["shop-1", "shop-2", "shop-3"];
    const live = Object.fromEntries(names.map((name) => [name, shop()]));
    const all = config({ integrations: { names: ["*"] } }, "mails");
    const each = names.map((name) => config({ integration: name }, name));
    for (const manifests of [
      [all, ...each],
      [...each, all],
    ]) {
      const { problemsInFull } = compareFleet({ manifests, live });
      expect(problemsInFull.map(({ place, message }) => [place?.file, message])).toEqual([
        [
          "mails.yaml",
          'SchemaConfig/mails and 3 other SchemaConfigs (SchemaConfig/shop-1, SchemaConfig/shop-2, SchemaConfig/shop-3) select the same 3 integrations, "shop-1", "shop-2", "shop-3", with the same priority, so none has precedence. Set another spec.priority in SchemaConfig/mails (default: 0; the higher one wins per field), or select each integration once.',
        ],
      ]);
      expect(declaredPriorityProblems(manifests)).toEqual(problemsInFull);
      expect(declaredPriorityProblems([...each, config({ integrations: { names: ["*"] }, priority: 1 }, "mails")])).toEqual([]);
      expect(declaredPriorityProblems([...each, config({ integrations: { names: ["*", "!shop-*"] } }, "mails")])).toEqual([]);
    }
  });
});

describe("names", () => {
  const hostile = ["__proto__", "constructor", "a/b", "a.b", "100%", "..", " x ", "ü", "~1", "toString", "*", "{a}"];
  const made = <T>(value: T): Record<string, T> => Object.fromEntries(hostile.map((name) => [name, value]));

  test.each(hostile)("%s is an ordinary name, in patterns and trees", (name) => {
    const live = { [name]: schema({ ...made(table({ ...made(column()) })) }) };
    const escaped = name.replaceAll(/[*{}[\]?\\]/gu, "\\$&");
    const spec = { rules: [{ match: { schema: escaped, table: escaped, column: escaped }, set: hash }] };
    const tree = JSON.parse(
      JSON.stringify({ schemas: { [name]: { tables: { [name]: { columns: { [name]: { hashed: true } } } } } } }),
    ) as SchemaConfigSpec;
    const paths = (given: SchemaConfigSpec) => compareFleet({ manifests: [config(given)], live: { shop: live } });
    const segment = name.replaceAll("~", "~0").replaceAll("/", "~1");
    for (const one of [spec, tree]) {
      const { found, problems } = paths(one);
      expect(problems).toEqual([]);
      expect([...eachChange(found[0]?.items[0] ?? {})].map(({ path }) => path)).toEqual([
        `/schemas/${segment}/tables/${segment}/columns/${segment}/hashed`,
      ]);
      const body = JSON.parse(JSON.stringify(found[0]?.items[0]?.requests[0]?.body)) as Record<
        string,
        Record<string, { tables: Record<string, { columns: Record<string, unknown> }> }>
      >;
      expect(Object.keys(body["schemas"]?.[name]?.tables[name]?.columns ?? {})).toEqual([name]);
    }
  });
});

describe("a literal tree with the live values of every column of a table", () => {
  const asItIs = { id: { enabled: true }, email: { enabled: true, hashed: false }, phone: {} };
  const tree = (schemas: NonNullable<SchemaConfigSpec["schemas"]>): SchemaConfigSpec => ({ schemas });
  const customers = (more: object = {}, columns: object = {}): SchemaConfigSpec =>
    tree({ sales: { tables: { customers: { ...more, columns: { ...asItIs, ...columns } } } } });

  test("changes nothing", () => {
    const { found, problems } = compareFleet({ manifests: [config(customers())] });
    expect([found[0]?.items, problems, found[0]?.unmanagedColumns]).toEqual([[], [], 8]);
  });
  test("and one that the table lacks, reports that one", () => {
    expect(compareFleet({ manifests: [config(customers({}, { fax: {} }))] }).problems).toEqual([
      "E_MISSING_NAME /spec/schemas/sales/tables/customers/columns/fax",
    ]);
  });
  test("except one, leaves that one unmanaged", () => {
    const { id, email } = asItIs;
    const { found } = compareFleet({ manifests: [config(tree({ sales: { tables: { customers: { columns: { id, email } } } } }))] });
    expect(found[0]?.unmanagedColumns).toBe(9);
  });
  test("except one that differs, changes that one", () => {
    expect(outcome(customers({}, { phone: hash }))).toEqual(["sales.customers.phone hashed true"]);
    expect(outcome(customers({}, { phone: off }))).toEqual(["sales.customers.phone enabled false"]);
  });
  test("exposes them all if it enables the table", () => {
    const live = shop();
    const { customers: before } = live["sales"]?.tables ?? {};
    const closed = { ...live, sales: schema({ customers: { ...table(before?.columns), enabled: false } }) };
    const { found, changes } = compareFleet({ manifests: [config(customers({ enabled: true }))], live: { shop: closed } });
    expect([changes, found[0]?.items[0]?.exposedColumns]).toEqual([["sales.customers enabled true"], 3]);
  });
  test("does not keep rules from applying", () => {
    const hashing: SchemaRule = { match: { column: ["phone", "email"] }, set: hash };
    expect(outcome({ ...customers(), rules: [{ ...hashing, match: { table: "customers", column: ["phone", "email"] } }] })).toEqual([
      "sales.customers.phone hashed true",
    ]);
  });
});

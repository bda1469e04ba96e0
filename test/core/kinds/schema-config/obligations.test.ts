// What became of the kept nodes of one integration: each row changes one thing of an account in which all of them hold.

import { describe, expect, test } from "vitest";
import { type KeptIntegration, type KeptTable, namesDigest } from "../../../../src/core/base/model/kept.ts";
import type { LiveSchemas } from "../../../../src/core/base/model/live.ts";
import type { SchemaConfigSpec } from "../../../../src/core/base/model/manifest.ts";
import type { NodePath } from "../../../../src/core/base/model/nodes.ts";
import type { Account } from "../../../../src/core/kinds/kind.ts";
import { schemaConfig } from "../../../../src/core/kinds/schema-config/index.ts";
import { namesBeside, obligationsOf, readableElsewhere } from "../../../../src/core/kinds/schema-config/obligations.ts";
import type { SchemaConfigUnit } from "../../../../src/core/kinds/schema-config/units.ts";
import { withIdentities } from "../../../../src/core/kinds/select.ts";
import { inLists } from "../../../support/steps.ts";
import { accountViewOf, column, config, schema, table } from "./fleet.ts";

const hash = (...names: readonly string[]) => ({ match: { column: names }, set: { hashed: true } });
const open = (...names: readonly string[]) => ({ match: { column: names }, set: { hashed: false } });
const off = (match: object) => ({ match, set: { enabled: false } });

const hashed = column({ hashed: true });
const { hashed: _, ...unshown } = column();
const noEnabled = <T extends { readonly enabled?: boolean }>({ enabled: _, ...shown }: T): Omit<T, "enabled"> => shown;
const columns = { id: column(), email: hashed, phone: hashed, ssn: column({ enabled: false }) };
const logs = table({ ip: column() }, { enabled: false });
const old = schema({ all: table({ x: column() }) }, { enabled: false });
const live: LiveSchemas = { public: schema({ users: table(columns), logs }), old };

const among = {
  schema: [namesDigest(["public", "old"])],
  table: [namesDigest(["public", "old"]), namesDigest(["users", "logs"])],
  column: [namesDigest(["public", "old"]), namesDigest(["users", "logs"]), namesDigest(Object.keys(columns))],
};
const nodes = (as: "hashed" | "disabled", more: Partial<KeptTable[number]>) => ({
  ...{ as, by: "SchemaConfig/pii", since: "2026-11-02T08:00:00.000Z" },
  ...more,
});
const before: KeptIntegration = {
  identity: ["shop", "shop", "postgres", "d"],
  schemas: new Map<string, ReadonlyMap<string | undefined, KeptTable>>([
    [
      "public",
      new Map([
        [
          "users",
          [
            nodes("hashed", { columns: ["email", "phone"], among: among.column }),
            nodes("disabled", { columns: ["ssn"], among: among.column }),
          ],
        ],
        ["logs", [nodes("disabled", { among: among.table })]],
      ]),
    ],
    ["old", new Map([[undefined, [nodes("disabled", { among: among.schema })]]])],
  ]),
};
const rules = [hash("email", "phone"), off({ column: "ssn" }), off({ table: "logs" }), off({ schema: "old" })];

/** The unit of a SchemaConfig with these rules. */
function unitOf(of: NonNullable<SchemaConfigSpec["rules"]>, more: Partial<Account> = {}) {
  const manifest = config({ rules: of, missing: "ignore" });
  const view = accountViewOf([manifest], ["shop"]);
  const account = { ...withIdentities(view, view.identities), ...more };
  const [unit] = schemaConfig.units([manifest], account).units;
  if (unit === undefined) throw new Error("The manifest selects no integration.");
  return { unit: unit as SchemaConfigUnit, account };
}

interface Change {
  /** Of the tree. */
  readonly live?: LiveSchemas;
  readonly rules?: NonNullable<SchemaConfigSpec["rules"]>;
  /** Those of the base; "same": those of now. Absent: no base is known. */
  readonly base?: NonNullable<SchemaConfigSpec["rules"]> | "same" | "none";
  readonly view?: Partial<Account>;
  /** What is kept of the table `users`. */
  readonly kept?: KeptTable;
}

const keptOf = (tables: Readonly<Record<string, KeptTable>>): KeptIntegration => ({
  ...before,
  schemas: new Map([["public", new Map(Object.entries(tables))]]),
});

function judged({ live: tree = live, rules: now = rules, base, view = {}, kept }: Change) {
  const atBase =
    base === undefined ? undefined : { isNow: base === "same", schemas: () => (typeof base === "string" ? undefined : unitOf(base).unit) };
  const { unit, account } = unitOf(now, { base: atBase, ...view });
  const found = inLists(obligationsOf(unit, { tree, account, before: kept === undefined ? before : keptOf({ users: kept }) }));
  const all: readonly [NodePath, "hashed" | "disabled"][] = [
    [["public", "users", "email"], "hashed"],
    [["public", "users", "phone"], "hashed"],
    [["public", "users", "ssn"], "disabled"],
    [["public", "logs"], "disabled"],
    [["old"], "disabled"],
  ];
  return {
    said: found.byHand.map(({ path, instruction }) => `${path}: ${instruction}`),
    ended: all.filter(([path, as]) => found.hasEnded(path, as)).map(([path]) => path.join(".")),
    notes: found.problems.map(({ code }) => code),
    commands: found.byHand.flatMap(({ command, obligation }) => (obligation === true ? [command] : [])),
  };
}

const users = (changed: Readonly<Record<string, ReturnType<typeof column> | undefined>>): LiveSchemas => {
  const all = Object.entries({ ...columns, ...changed }).flatMap(([name, one]) => (one === undefined ? [] : [[name, one] as const]));
  return { ...live, public: schema({ users: table(Object.fromEntries(all)), logs }) };
};
const noPhone = [hash("email"), ...rules.slice(1)];
const readablePhone = users({ phone: column() });

describe("an obligation", () => {
  test.each<[what: string, change: Change]>(
    [
      ["everything is kept", {}],
      ["a rule is gone, and the account still keeps it", { rules: noPhone }],
      ["the manifests still keep it: the plan sends it again", { live: readablePhone }],
      [
        "the manifests still keep everything, of which the account shows nothing",
        {
          live: {
            public: schema({
              users: table({ id: column(), email: column(), phone: column(), ssn: column() }),
              logs: table({ ip: column() }),
            }),
            old: schema({ all: table({ x: column() }) }),
          },
        },
      ],
      ...(["table", "schema"] as const).map((level) => [
        `the manifests disable its ${level}: the plan sends it`,
        { live: readablePhone, rules: [...noPhone, off({ [level]: level === "table" ? "users" : "public" })] },
      ]),
      [
        "the service has never shown it",
        { live: users({ phone: unshown }), kept: [nodes("hashed", { columns: ["phone"], isUnseen: true })] },
      ],
      ["it shows no `hashed`, and is disabled", { live: users({ phone: { ...unshown, enabled: false } }) }],
      ["it is disabled in place of hashed", { live: users({ phone: column({ enabled: false }) }), rules: noPhone }],
      [
        "its table is disabled",
        { live: { ...live, public: schema({ users: table({ ...columns, phone: column() }, { enabled: false }), logs }) }, rules: noPhone },
      ],
      [
        "its schema is disabled",
        { live: { ...live, public: { ...readablePhone["public"], enabled: false } as LiveSchemas[string] }, rules: noPhone },
      ],
      [
        "the integration has left the selector by a rename, which is a finding of its own",
        { live: readablePhone, rules: noPhone, view: { covered: new Map([["SchemaConfig/pii", new Map([["shop", "store"]])]]) } },
      ],
    ].map(([what, change]) => [what as string, change as Change]),
  )("holds: %s", (_, change) => {
    expect(judged(change)).toEqual({ said: [], ended: [], notes: [], commands: [] });
  });

  test.each<[what: string, change: Change, said: readonly RegExp[]]>([
    [
      "a rule no longer matches, and there is no base",
      { live: readablePhone, rules: noPhone },
      [/phone\/hashed: public\.users\.phone is readable \(hashed since 2026-11-02\)/u],
    ],
    ["the base has the same manifests", { live: readablePhone, rules: noPhone, base: "same" }, [/users\.phone is readable/u]],
    ["the base has no rule for it either", { live: readablePhone, rules: noPhone, base: noPhone }, [/users\.phone is readable/u]],
    ["the base does not select the integration", { live: readablePhone, rules: noPhone, base: "none" }, [/users\.phone is readable/u]],
    [
      "the same rule of the base and of now says that it is readable",
      { live: readablePhone, rules: [...noPhone, open("phone")], base: [...noPhone, open("phone")] },
      [/users\.phone is readable/u],
    ],
    [
      "the integration has the name with which a selector covered it",
      { live: readablePhone, rules: noPhone, view: { covered: new Map([["SchemaConfig/pii", new Map([["shop", "shop"]])]]) } },
      [/users\.phone is readable/u],
    ],
    [
      "a disabled column is enabled",
      { live: users({ ssn: column() }), rules: rules.filter((_, at) => at !== 1) },
      [/ssn\/enabled: public\.users\.ssn is readable \(disabled since/u],
    ],
    [
      "a disabled table is enabled",
      {
        live: { ...live, public: schema({ users: table(columns), logs: table({ ip: column() }) }) },
        rules: rules.filter((_, at) => at !== 2),
      },
      [/logs\/enabled: public\.logs is readable/u],
    ],
    [
      "a disabled schema is enabled",
      { live: { ...live, old: schema({ all: table({ x: column() }) }) }, rules: rules.slice(0, 3) },
      [/old\/enabled: old is readable/u],
    ],
    [
      "a column has another name",
      { live: users({ phone: undefined, mobile: column() }) },
      [/users\.phone is gone \(hashed since 2026-11-02\), and public\.users\.mobile is new and readable/u],
    ],
    [
      "a column has another name, and the base has the same rule",
      { live: users({ phone: undefined, mobile: column() }), base: rules },
      [/users\.mobile is new and readable/u],
    ],
    [
      "a table shows no columns, and the base has the same rules",
      { live: { ...live, public: schema({ users: table(undefined), logs }) }, base: rules },
      [/still unreadable: public\.users\.email, public\.users\.phone, public\.users\.ssn \(/u],
    ],
    [
      "the manifests say that it is readable, as they did at the base",
      { live: readablePhone, rules: [...noPhone, open("phone")], base: "same" },
      [/users\.phone is readable/u],
    ],
    [
      "the integration has another name, and the SchemaConfig still selects it",
      {
        live: readablePhone,
        rules: noPhone,
        kept: [nodes("hashed", { by: "SchemaConfig/shops", columns: ["phone"] })],
        view: { covered: new Map([["SchemaConfig/shops", new Map([["shop", "store"]])]]) },
      },
      [/users\.phone is readable/u],
    ],
    ...(
      [
        ["the value that disables its table", off({ table: "users" }), "/schemas/public/tables/users/enabled"],
        ["the value that disables it", off({ column: "phone" }), "/schemas/public/tables/users/columns/phone/enabled"],
      ] as const
    ).map(([what, rule, pointer]): [string, Change, readonly RegExp[]] => [
      `the config ignores ${what}`,
      { live: readablePhone, rules: [...noPhone, rule], view: { ignored: (_, path) => path === pointer } },
      [/users\.phone is readable/u],
    ]),
    [
      "a schema without tables and a table without columns are enabled",
      { live: { public: schema({ users: table(columns), logs: table(undefined) }), old: schema({}) }, rules: rules.slice(0, 2) },
      [/public\.logs is readable/u, /old is readable/u],
    ],
    [
      "one of the new ones is readable",
      { live: users({ id: hashed, phone: undefined, mobile: column(), fax: hashed }) },
      [/users\.phone is gone .*public\.users\.mobile may have replaced it and is readable/u],
    ],
    [
      "several are new, and one that was kept is readable",
      { live: users({ email: column(), phone: undefined, mobile: column(), fax: hashed }), rules: [hash("phone"), ...rules.slice(1)] },
      [/users\.email is readable/u, /one of public\.users\.id, public\.users\.mobile may/u],
    ],
    [
      "the new one was kept since",
      {
        live: users({ phone: undefined, mobile: column() }),
        kept: [nodes("hashed", { columns: ["phone"], among: among.column }), nodes("hashed", { columns: ["mobile"] })],
      },
      [/users\.phone is gone .*users\.mobile is new and readable/u, /users\.mobile is readable/u],
    ],
    [
      "two are gone, and of one it is not known what was beside it",
      {
        live: users({ email: undefined, phone: undefined, mobile: column() }),
        kept: [nodes("hashed", { columns: ["email"] }), nodes("hashed", { columns: ["phone"], among: among.column })],
      },
      [/users\.email is gone .*one of public\.users\.id, public\.users\.mobile may/u, /users\.phone is gone .*mobile is new/u],
    ],
    [
      "several are new",
      { live: users({ phone: undefined, mobile: column(), fax: column({ hashed: true }) }) },
      [/one of public\.users\.id, public\.users\.mobile may have replaced it; they are readable/u],
    ],
    [
      "a table has another name",
      { live: { ...live, public: schema({ people: table({ ...columns, email: column() }), logs }) } },
      [
        /public\.users is gone, and with it public\.users\.email, public\.users\.phone, public\.users\.ssn .*public\.people is new and readable/u,
      ],
    ],
    [
      "a schema has another name",
      { live: { shop: schema({ users: table({ id: column() }), logs }), old } },
      [/^\/schemas\/public: public is gone, and with it public\.users\.email, .*, public\.logs \(.*shop is new and readable/u],
    ],
    [
      "a table shows no columns",
      { live: { ...live, public: schema({ users: table(undefined), logs }) } },
      [/^\/schemas\/public\/tables\/users: The service shows no columns of public\.users, .*users\.email, .*phone, .*ssn \(kept since/u],
    ],
    [
      "a schema shows no tables",
      { live: { ...live, public: schema({}) } },
      [/^\/schemas\/public: The service shows no tables of public, .*users\.email, .*phone, .*ssn, public\.logs \(/u],
    ],
    [
      "columns that a rule keeps show no `hashed`",
      { live: users({ email: unshown, phone: unshown }) },
      [
        /^\/schemas\/public\/tables\/users: The service no longer shows `hashed` of public\.users\.email, public\.users\.phone \(hashed since/u,
      ],
    ],
    [
      "nodes that rules disable show no `enabled`, in several schemas",
      {
        live: {
          public: schema({ users: table({ ...columns, ssn: noEnabled(column()) }), logs }),
          old: noEnabled(old),
        },
      },
      [/^: The service no longer shows `enabled` of public\.users\.ssn, old \(disabled/u],
    ],
    [
      "one of them shows none, and another of the table is readable and kept by no rule",
      {
        live: users({ email: unshown, ssn: unshown, phone: column() }),
        rules: [hash("email"), { match: { column: "ssn" }, set: { hashed: true } }],
        kept: [nodes("hashed", { columns: ["email", "ssn", "phone"] })],
      },
      [/email\/hashed: .*no longer shows/u, /ssn\/hashed: .*no longer shows/u, /phone\/hashed: .*is readable/u],
    ],
    [
      "a schema is gone, and the new one shows no tables",
      { live: { public: live["public"] ?? schema({}), fresh: schema({}) } },
      [/old is gone \(disabled since 2026-11-02\), and fresh is new and readable/u],
    ],
    [
      "a schema is gone, and the new one has a table of unknown columns",
      { live: { public: live["public"] ?? schema({}), fresh: schema({ all: table(undefined) }) } },
      [/^\/schemas\/old\/enabled: old is gone \(disabled since 2026-11-02\), and fresh is new and readable/u],
    ],
  ])("is named: %s", (_, change, said) => {
    const found = judged(change);
    expect(found.said).toHaveLength(said.length);
    for (const [at, pattern] of said.entries()) expect(found.said[at]).toMatch(pattern);
    expect(found.ended).toEqual([]);
    expect(found.commands).toHaveLength(said.length);
    for (const command of found.commands) expect(command).toMatch(/^dimsync resolve Schemas\/shop (?:[\w.]+ )?--reason REASON$/u);
  });

  test.each<[what: string, change: Change, ended: readonly string[], notes?: readonly string[]]>([
    ["the base kept it", { live: readablePhone, rules: noPhone, base: rules }, ["public.users.phone"]],
    [
      "a manifest says that it is readable, without a base",
      { live: readablePhone, rules: [...noPhone, open("phone")] },
      ["public.users.phone"],
    ],
    [
      "a manifest says so, and the base says nothing",
      { live: readablePhone, rules: [...noPhone, open("phone")], base: noPhone },
      ["public.users.phone"],
    ],
    [
      "a manifest enables a table that the base disabled",
      {
        live: { ...live, public: schema({ users: table(columns), logs: table({ ip: column() }) }) },
        rules: [...rules.slice(0, 2), { match: { table: "logs" }, set: { enabled: true } }, ...rules.slice(3)],
        base: rules,
      },
      ["public.logs"],
    ],
    [
      "a manifest enables a table and a schema, without a base",
      {
        live: {
          public: schema({ users: table(columns), logs: table({ ip: column() }) }),
          old: schema({ all: table({ x: column() }) }),
        },
        rules: [...rules.slice(0, 2), ...[{ table: "logs" }, { schema: "old" }].map((match) => ({ match, set: { enabled: true } }))],
      },
      ["public.logs", "old"],
    ],
    [
      "the config ignores it",
      { live: readablePhone, rules: noPhone, view: { ignored: (_address, path) => path.includes("phone") } },
      ["public.users.phone"],
    ],
    [
      "the column is gone, and the base kept it",
      { live: users({ phone: undefined, mobile: column() }), rules: noPhone, base: rules },
      ["public.users.phone"],
    ],
    [
      "the columns of its table are unknown, and the base kept it",
      { live: { ...live, public: schema({ users: table(undefined), logs }) }, rules: rules.slice(2), base: rules },
      ["public.users.email", "public.users.phone", "public.users.ssn"],
    ],
    ["the column is gone, and nothing is new", { live: users({ phone: undefined }) }, ["public.users.phone"], ["I_KEPT_GONE"]],
    [
      "the column is gone, and what is new is kept",
      { live: users({ phone: undefined, mobile: hashed }) },
      ["public.users.phone"],
      ["I_KEPT_GONE"],
    ],
    [
      "the column is gone, and a rule keeps what is new",
      { live: users({ phone: undefined, mobile: column() }), rules: [...rules, hash("mobile")] },
      ["public.users.phone"],
      ["I_KEPT_GONE"],
    ],
    [
      "the table is gone, and nothing is new",
      { live: { ...live, public: schema({ users: table(columns) }) } },
      ["public.logs"],
      ["I_KEPT_GONE"],
    ],
    [
      "the table is gone, and the new one is disabled",
      { live: { ...live, public: schema({ users: table(columns), traces: logs }) } },
      ["public.logs"],
      ["I_KEPT_GONE"],
    ],
    [
      "a schema is gone, and the new one is disabled",
      { live: { public: live["public"] ?? schema({}), fresh: old } },
      ["old"],
      ["I_KEPT_GONE"],
    ],
    ...(
      [
        ["nothing but a disabled table", { all: logs }],
        ["a table with hashed columns", { all: table({ x: hashed }) }],
        ["a table whose columns a rule keeps", { all: table({ email: column(), phone: column() }) }],
        ["a table of unknown columns that a rule disables", { logs: table(undefined) }],
      ] as const
    ).map(([what, tables]): [string, Change, readonly string[], readonly string[]] => [
      `a schema is gone, and the new one has ${what}`,
      { live: { public: live["public"] ?? schema({}), fresh: schema(tables) } },
      ["old"],
      ["I_KEPT_GONE"],
    ]),
  ])("ends: %s", (_, change, ended, notes = []) => {
    expect(judged(change)).toEqual({ said: [], ended, notes, commands: [] });
  });

  test.each<[changed: Parameters<typeof users>[0], now: NonNullable<SchemaConfigSpec["rules"]>, values: object]>([
    [{ phone: column() }, noPhone, { expected: true, actual: false }],
    [{ ssn: column() }, rules.filter((_, at) => at !== 1), { expected: false, actual: true }],
    [{ phone: undefined, mobile: column() }, rules, { expected: true }],
  ])("has the value of the account, if it shows one: %#", (changed, now, values) => {
    const { unit, account } = unitOf(now);
    const [{ expected, actual } = {}] = inLists(obligationsOf(unit, { tree: users(changed), account, before })).byHand;
    expect({ expected, ...(actual === undefined ? {} : { actual }) }).toEqual(values);
  });

  test.each([
    [
      users({ phone: undefined }),
      /^public\.users\.phone of shop is gone, and nothing new beside it is readable\. .*forgets that it was kept/u,
    ],
    [
      users({ phone: undefined, email: undefined }),
      /^public\.users\.email, public\.users\.phone of shop are gone, .*beside them .*they were kept/u,
    ],
  ])("that ends unseen has a note: %#", (tree, said) => {
    const { unit, account } = unitOf(rules);
    // Also if the list has no entry of it that can be read.
    for (const { list } of [account, accountViewOf([], [])]) {
      const { problems } = obligationsOf(unit, { tree, account: { ...account, list }, before });
      expect(problems.map(({ message }) => message)).toEqual([expect.stringMatching(said)]);
    }
  });

  test("depends on what is new in its own table", () => {
    const kept = [nodes("hashed", { columns: ["phone"], among: among.column })];
    const { unit, account } = unitOf(rules);
    const [renamed, dropped] = [users({ phone: undefined, mobile: column() }), users({ phone: undefined })].map(
      (tree) => tree["public"]?.tables["users"] ?? table({}),
    );
    const tree = {
      public: schema({ ...(renamed && { users: renamed }), ...(dropped && { people: dropped }) }),
      crm: schema({ ...(dropped && { users: dropped }) }),
    };
    const { schemas } = keptOf({ users: kept, people: kept });
    const all = { ...before, schemas: new Map([...schemas, ["crm", new Map([["users", kept]])] as const]) };
    const found = obligationsOf(unit, { tree, account, before: all });
    expect(inLists(found).byHand.map(({ path }) => path)).toEqual(["/schemas/public/tables/users/columns/phone/hashed"]);
    expect(found.hasEnded(["public", "people", "phone"], "hashed")).toBe(true);
    expect(found.hasEnded(["crm", "users", "phone"], "hashed")).toBe(true);
  });

  test("one column that was kept hashed and disabled is one finding", () => {
    const both = new Map([
      ["public", new Map([["users", [nodes("hashed", { columns: ["email"] }), nodes("disabled", { columns: ["email"] })]]])],
    ]);
    const { unit, account } = unitOf([]);
    const { byHand } = inLists(obligationsOf(unit, { tree: users({ email: column() }), account, before: { ...before, schemas: both } }));
    expect(byHand.map(({ path }) => path)).toEqual(["/schemas/public/tables/users/columns/email/hashed"]);
  });
});

test.each<[what: string, tree: LiveSchemas, readable: readonly string[]]>([
  ["all is kept there", live, []],
  ["a column is readable", readablePhone, ["public.users.phone"]],
  ["a table is enabled", { ...live, public: schema({ users: table(columns), logs: table({ ip: column() }) }) }, ["public.logs"]],
  ["a schema is enabled", { ...live, old: schema({}) }, ["old"]],
  [
    "a readable column in a disabled table",
    { ...live, public: schema({ users: table({ ...columns, phone: column() }, { enabled: false }), logs }) },
    [],
  ],
  ["a column has another name", users({ phone: undefined, mobile: column() }), ["public.users.mobile"]],
  ["a column is gone", users({ phone: undefined }), []],
  ["a column is new beside those that are kept", users({ mobile: column() }), []],
  ...[
    schema({ users: table({ x: column() }, { enabled: false }), logs }),
    schema({ users: table({ x: column() }) }, { enabled: false }),
  ].map((disabled): [string, LiveSchemas, readonly string[]] => [
    "columns have other names in what is disabled",
    { ...live, public: disabled },
    [],
  ]),
  [
    "the columns are not shown",
    { ...live, public: schema({ users: table(undefined), logs }) },
    ["public.users.email", "public.users.phone", "public.users.ssn"],
  ],
  ["a table has another name", { ...live, public: schema({ people: table(columns), logs }) }, ["public.people"]],
])("of an integration in place of another: %s", (_, tree, readable) => {
  expect([...readableElsewhere(before, tree)].sort()).toEqual(readable);
});

test("the digests beside a table are those of its own names, and tables with the same names share them", () => {
  const [one, other] = [table({ id: column(), a: column() }), table({ id: column(), b: column() })];
  const tree = { public: schema({ t: one, u: other, v: one, w: table(undefined) }), old };
  const beside = namesBeside(tree, new Map());
  const above = [namesDigest(["public", "old"]), namesDigest(["t", "u", "v", "w"])];
  expect(beside("public", "t")).toEqual([...above, namesDigest(["id", "a"])]);
  expect(beside("public", "u")).toEqual([...above, namesDigest(["id", "b"])]);
  expect(beside("public", "v")).toBe(beside("public", "t"));
  expect(beside("public", "w")).toEqual(above);
  expect(beside("old", undefined)).toEqual(above.slice(0, 1));
  expect(beside("gone", "t")).toEqual([...above.slice(0, 1), namesDigest([])]);
});

// What became of the kept nodes of one integration: each row changes one thing of an account in which all of them hold.

import { describe, expect, test } from "vitest";
import { type KeptIntegration, type KeptTable, namesDigest } from "../../../../src/core/base/model/kept.ts";
import type { LiveSchemas } from "../../../../src/core/base/model/live.ts";
import type { SchemaConfigSpec } from "../../../../src/core/base/model/manifest.ts";
import type { NodePath } from "../../../../src/core/base/model/nodes.ts";
import type { Account } from "../../../../src/core/kinds/kind.ts";
import { schemaConfig } from "../../../../src/core/kinds/schema-config/index.ts";
import { obligationsOf, readableElsewhere } from "../../../../src/core/kinds/schema-config/obligations.ts";
import type { SchemaConfigUnit } from "../../../../src/core/kinds/schema-config/units.ts";
import { withIdentities } from "../../../../src/core/kinds/select.ts";
import { inLists } from "../../../support/steps.ts";
import { accountViewOf, column, config, schema, table } from "./fleet.ts";

const hash = (...names: readonly string[]) => ({ match: { column: names }, set: { hashed: true } });
const open = (...names: readonly string[]) => ({ match: { column: names }, set: { hashed: false } });
const off = (match: object) => ({ match, set: { enabled: false } });

const hashed = column({ hashed: true });
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
}

function judged({ live: tree = live, rules: now = rules, base, view = {} }: Change) {
  const atBase =
    base === undefined ? undefined : { isNow: base === "same", schemas: () => (typeof base === "string" ? undefined : unitOf(base).unit) };
  const { unit, account } = unitOf(now, { base: atBase, ...view });
  const found = inLists(obligationsOf(unit, { tree, account, before }));
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
    commands: found.byHand.map(({ command }) => command),
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
      "several are new",
      { live: users({ phone: undefined, mobile: column(), fax: column({ hashed: true }) }) },
      [/one of public\.users\.id, public\.users\.mobile may have replaced it; they are readable/u],
    ],
    [
      "a table has another name",
      { live: { ...live, public: schema({ people: table({ ...columns, email: column() }), logs }) } },
      [/public\.users is gone, and with it public\.users\.email .*public\.people is new and readable/u, /users\.phone/u, /users\.ssn/u],
    ],
    [
      "a schema has another name",
      { live: { shop: schema({ users: table({ id: column() }), logs }), old } },
      [/public is gone, and with it public\.users\.email .*shop is new and readable/u, /phone/u, /ssn/u, /public\.logs/u],
    ],
    [
      "a table shows no columns",
      { live: { ...live, public: schema({ users: table(undefined), logs }) } },
      [/shows no columns of public\.users, so it is not known whether public\.users\.email is still unreadable/u, /phone/u, /ssn/u],
    ],
    [
      "a schema shows no tables",
      { live: { ...live, public: schema({}) } },
      [/shows no tables of public, so it is not known whether public\.users\.email/u, /phone/u, /ssn/u, /public\.logs/u],
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
    for (const command of found.commands) expect(command).toMatch(/^dimsync resolve Schemas\/shop [\w.]+ --reason REASON$/u);
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
    expect(obligationsOf(unit, { tree, account, before }).problems.map(({ message }) => message)).toEqual([expect.stringMatching(said)]);
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
  [
    "the columns are not shown",
    { ...live, public: schema({ users: table(undefined), logs }) },
    ["public.users.email", "public.users.phone", "public.users.ssn"],
  ],
  ["a table has another name", { ...live, public: schema({ people: table(columns), logs }) }, ["public.people"]],
])("of an integration in place of another: %s", (_, tree, readable) => {
  expect([...readableElsewhere(before, tree)].sort()).toEqual(readable);
});

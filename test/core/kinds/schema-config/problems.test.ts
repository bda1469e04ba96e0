// What a SchemaConfig asks for and cannot have is a problem at its line.
import { describe, expect, test } from "vitest";
import type { Manifest, RuleSetSpec, SchemaConfigSpec } from "../../../../src/core/base/model/manifest.ts";
import { ruleProblems } from "../../../../src/core/kinds/schema-config/compiled-config.ts";
import { column, compareFleet, config, ruleSet, schema, shop, table } from "./fleet.ts";

const on = { enabled: true } as const;
const off = { enabled: false } as const;
const hash = { hashed: true } as const;

const problemsOf = (spec: SchemaConfigSpec, live = shop(), others: readonly Manifest[] = []): readonly string[] =>
  compareFleet({ manifests: [config(spec), ...others], live: { shop: live } }).problems;

describe("a plan", () => {
  test.each<[string, SchemaConfigSpec, readonly string[]]>([
    [
      "refuses to disable a primary key, at the rule",
      {
        rules: [
          { match: { column: "sku" }, set: off },
          { match: { table: "orders", column: "id" }, set: off },
        ],
      },
      ["E_DISABLES_KEY /spec/rules/1", "W_CURSOR_UNKNOWN /spec/rules/0"],
    ],
    [
      "refuses to disable a cursor column",
      { rules: [{ match: { table: "orders", column: "updated_at" }, set: off }] },
      ["E_DISABLES_KEY /spec/rules/0"],
    ],
    [
      "refuses it in a literal entry, at its line",
      { schemas: { public: { tables: { orders: { columns: { id: off } } } } } },
      ["E_DISABLES_KEY /spec/schemas/public/tables/orders/columns/id/enabled"],
    ],
    [
      "leaves a key as it is in a table that ends up disabled, as in a list of everything that is off",
      { schemas: { public: { tables: { orders: { enabled: false, columns: { id: off, updated_at: off } } } } } },
      [],
    ],
    [
      "accepts it if a later rule keeps the key enabled, and warns that the cursor is not known",
      {
        rules: [
          { match: { schema: "sales", column: "*" }, set: off },
          { match: { column: "*", where: { isPrimaryKey: true } }, set: on },
        ],
      },
      ["W_CURSOR_UNKNOWN /spec/rules/0"],
    ],
    [
      "warns about hashing a primary key",
      { rules: [{ match: { table: "orders", column: "id" }, set: hash }] },
      ["W_HASHES_PRIMARY_KEY /spec/rules/0"],
    ],
    [
      "warns about a literal entry that hashes a primary key",
      { schemas: { public: { tables: { orders: { columns: { id: hash } } } } } },
      ["W_HASHES_PRIMARY_KEY /spec/schemas/public/tables/orders/columns/id/hashed"],
    ],
    [
      "reports a missing table of a match",
      { rules: [{ match: { schema: "public", table: ["orders", "ordr_items"] }, set: on }] },
      ["E_MISSING_NAME /spec/rules/0/match/table/1"],
    ],
    [
      "reports a missing name only if no matching table has it",
      {
        rules: [
          { match: { table: "customers", column: "phone" }, set: on },
          { match: { schema: ["public", "sales"], table: "customers" }, set: on },
        ],
      },
      [],
    ],
    [
      "reports a missing schema once, without what would be in it",
      { rules: [{ match: { schema: "sale", table: "customers", column: "email" }, set: on }] },
      ["E_MISSING_NAME /spec/rules/0/match/schema"],
    ],
    [
      "reports a missing column",
      { rules: [{ match: { table: "customers", column: "e-mail" }, set: on }] },
      ["E_MISSING_NAME /spec/rules/0/match/column"],
    ],
    [
      "reports missing names of rules that ignore, and of expect entries",
      { rules: [{ match: { table: "nope" }, ignore: true }], expect: [{ match: { table: "none" }, syncMode: "full" }] },
      ["E_MISSING_NAME /spec/expect/0/match/table", "E_MISSING_NAME /spec/rules/0/match/table"],
    ],
    [
      "reports missing names of the literal tree, at the key",
      { schemas: { sale: {}, public: { tables: { order: {}, orders: { columns: { mail: on } } } } } },
      [
        "E_MISSING_NAME /spec/schemas/public/tables/order",
        "E_MISSING_NAME /spec/schemas/public/tables/orders/columns/mail",
        "E_MISSING_NAME /spec/schemas/sale",
      ],
    ],
    [
      "warns with missing: warn",
      { missing: "warn", rules: [{ match: { table: "nope" }, set: on }], schemas: { nope: {} } },
      ["W_MISSING_NAME /spec/rules/0/match/table", "W_MISSING_NAME /spec/schemas/nope"],
    ],
    [
      "does not report missing names with missing: ignore",
      { missing: "ignore", rules: [{ match: { table: "nope" }, set: on }], schemas: { nope: {} } },
      [],
    ],
    ["does not report a missing name with minMatches: 0", { rules: [{ match: { table: "nope" }, set: on, minMatches: 0 }] }, []],
    ["does not report a missing name that a list excludes", { rules: [{ match: { table: ["*", "!nope"] }, set: on }] }, []],
    [
      "reads an escaped glob character as part of a literal name",
      { rules: [{ match: { table: "a\\*" }, set: on }] },
      ["E_MISSING_NAME /spec/rules/0/match/table"],
    ],
    [
      "warns about a glob that matches nothing",
      { rules: [{ match: { table: ["orders", "tmp_*"] }, set: on }] },
      ["W_NO_MATCH /spec/rules/0/match/table/1"],
    ],
    [
      "warns about the uppermost glob only",
      { rules: [{ match: { schema: "x*", table: "y*", column: "z" }, set: on }] },
      ["W_NO_MATCH /spec/rules/0/match/schema"],
    ],
    [
      "does not warn about a glob whose nodes where excludes",
      { rules: [{ match: { table: "*", where: { enabled: false } }, set: off }] },
      [],
    ],
    [
      "warns about a rule whose where excludes every node by attributes that apply does not change",
      {
        rules: [
          { match: { column: "email", where: { syncMode: "increment" } }, set: on },
          { match: { column: "*", where: { syncMode: "increment" } }, set: on, minMatches: 0 },
          { match: { column: "email", where: { syncMode: "increment", hashed: true } }, set: on },
          { match: { column: "email", where: { isPrimaryKey: true } }, set: on },
          { match: { table: "order*", where: { syncMode: "incremental" } }, set: on },
        ],
        expect: [{ match: { table: "*", where: { syncMode: "increment" } }, cursorField: "x" }],
      },
      ["W_NO_MATCH /spec/expect/0", "W_NO_MATCH /spec/rules/0", "W_NO_MATCH /spec/rules/3"],
    ],
    [
      "warns about a rule whose patterns exclude every name",
      {
        rules: [
          { match: { table: "!*" }, set: on },
          { match: { table: "!*", column: "email" }, set: on },
          { match: { table: "!nope" }, set: on },
        ],
      },
      ["W_NO_MATCH /spec/rules/0", "W_NO_MATCH /spec/rules/1"],
    ],
    [
      "warns about a glob that matches nothing in a rule with enough matches",
      { rules: [{ match: { table: ["orders", "tmp_*"] }, set: on, minMatches: 1 }] },
      ["W_NO_MATCH /spec/rules/0/match/table/1"],
    ],
    [
      "reports a rule with too few matches once",
      { rules: [{ match: { table: "tmp_*" }, set: on, minMatches: 1 }] },
      ["E_MIN_MATCHES /spec/rules/0/minMatches"],
    ],
    ["does not warn with minMatches: 0", { rules: [{ match: { table: "tmp_*" }, set: on, minMatches: 0 }] }, []],
    [
      "refuses fewer nodes than minMatches",
      { rules: [{ match: { column: "email" }, set: { hashed: false }, minMatches: 4 }] },
      ["E_MIN_MATCHES /spec/rules/0/minMatches"],
    ],
    ["accepts exactly minMatches", { rules: [{ match: { column: "email" }, set: { hashed: false }, minMatches: 3 }] }, []],
    [
      "counts only what where matches",
      { rules: [{ match: { column: "*", where: { isPrimaryKey: true } }, set: on, minMatches: 5 }] },
      ["E_MIN_MATCHES /spec/rules/0/minMatches"],
    ],
    [
      "does not report a rule that decides one node",
      {
        rules: [
          { match: { column: "email" }, set: hash },
          { match: { schema: "public", column: "email" }, set: { hashed: false } },
        ],
      },
      [],
    ],
  ])("%s", (_sentence, spec, problems) => {
    expect(problemsOf(spec)).toEqual(problems);
  });

  test("accepts key columns that are already disabled or hashed", () => {
    const live = { s: schema({ t: table({ id: column({ isPrimaryKey: true, enabled: false, hashed: true }) }) }) };
    expect(problemsOf({ rules: [{ match: { column: "id" }, set: { enabled: false, hashed: true } }] }, live)).toEqual([]);
  });

  test("does not suggest missing: warn where it is set", () => {
    const { problemsInFull } = compareFleet({ manifests: [config({ missing: "warn", schemas: { nope: {} } })] });
    expect(problemsInFull.map(({ message }) => message)).toEqual([
      expect.stringContaining("Correct the name, or set spec.missing to ignore."),
    ]);
  });

  test("suggests a similar name", () => {
    const { problemsInFull } = compareFleet({
      manifests: [
        config({ rules: [{ match: { schema: "public", table: "ordres" }, set: on }], schemas: { sales: { tables: { customer: {} } } } }),
      ],
    });
    expect(problemsInFull.map(({ message, address }) => [address, message])).toEqual([
      [
        "Schemas/shop",
        'shop has no table "customer" in sales. Did you mean customers? Correct the name, or set spec.missing to warn or ignore.',
      ],
      [
        "Schemas/shop",
        'shop has no table "ordres" in the schemas that the rule matches. Did you mean orders? Correct the name, or set spec.missing to warn or ignore. If the rule may match nothing, set minMatches: 0.',
      ],
    ]);
  });

  test("says that another pattern of the match excludes a name that exists", () => {
    const { problemsInFull } = compareFleet({
      manifests: [config({ rules: [{ match: { schema: "public", table: ["orders", "!ord*"] }, set: on }] })],
    });
    expect(problemsInFull.map(({ message }) => message)).toEqual([
      'shop has the table "orders", but another pattern of the match excludes it. Remove one of the two, or set spec.missing to warn or ignore. If the rule may match nothing, set minMatches: 0.',
    ]);
  });

  test("refuses a rule once, for all columns that it disables", () => {
    const live = {
      s: schema(
        Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`t${index + 10}`, table({ id: column({ isPrimaryKey: true }) })])),
      ),
    };
    const { problemsInFull, changes } = compareFleet({
      manifests: [config({ rules: [{ id: "no-ids", match: { column: "id" }, set: off }] })],
      live: { shop: live },
    });
    expect(changes).toEqual([]);
    expect(problemsInFull.map(({ message }) => message)).toEqual([
      'Rule "no-ids" disables 30 primary key columns of shop: s.t10.id, s.t11.id, s.t12.id, s.t13.id, s.t14.id and 25 more columns. Without them, the service cannot replicate their tables. Hash them instead, disable their tables, or leave them enabled.',
    ]);
  });
});

describe("a sync mode or cursor", () => {
  const sets = (set: object, match: object = { table: "orders" }): SchemaConfigSpec => ({ rules: [{ match, set }] });
  const at = "/spec/rules/0/set";
  test.each<[string, SchemaConfigSpec, isExtended: boolean, readonly string[]]>([
    ["is an error without the switch", sets({ cursorField: "id" }), false, [`E_UNWRITABLE_FIELD ${at}/cursorField`]],
    [
      "of the literal tree, too",
      { schemas: { public: { tables: { orders: { syncMode: "Incremental" } } } } },
      false,
      ["E_UNWRITABLE_FIELD /spec/schemas/public/tables/orders/syncMode"],
    ],
    ["that no request takes is an error", sets({ syncMode: "Incremntal" }), true, [`E_WRONG_VALUE ${at}/syncMode`]],
    ["of columns is an error", sets({ syncMode: "Incremental" }, { column: "id" }), true, [`E_WRONG_VALUE ${at}/syncMode`]],
    ["that is not a column is not sent", sets({ syncMode: "Full Refresh", cursorField: "gone" }), true, ["W_CURSOR_MISSING /spec/rules/0"]],
    ["that the table has changes nothing", sets({ cursorField: "updated_at" }), true, []],
    ["says what a change costs", sets({ cursorField: "note" }), true, ["W_RESYNC /spec/rules/0"]],
    [
      "cannot be disabled",
      { rules: [...(sets({ cursorField: "note" }).rules ?? []), { match: { table: "orders", column: "note" }, set: off }] },
      true,
      ["E_DISABLES_KEY /spec/rules/1", "W_RESYNC /spec/rules/0"],
    ],
  ])("%s", (_, spec, isExtended, problems) => {
    const view = isExtended ? { extended: { missing: new Set<never>() } } : {};
    expect(compareFleet({ manifests: [config(spec)], view }).problems).toEqual(problems);
  });
});

describe("invalid rules are refused without an account", () => {
  const rule = { match: { table: "orders" }, set: on };
  test.each<[string, SchemaConfigSpec, Readonly<Record<string, RuleSetSpec["rules"]>>, readonly string[]]>([
    ["a match without a level", { rules: [{ match: { ignoreCase: true }, set: on }] }, {}, ["E_MATCH_LEVEL /spec/rules/0/match"]],
    ["a match of empty lists", { rules: [{ match: { table: [] }, set: on }] }, {}, ["E_MATCH_LEVEL /spec/rules/0/match"]],
    [
      "a where with an attribute that the level does not have",
      { rules: [{ match: { table: "*", where: { isPrimaryKey: true } }, set: on }] },
      {},
      ["E_MATCH_LEVEL /spec/rules/0/match/where/isPrimaryKey"],
    ],
    ["a rule with ignore and set", { rules: [{ match: { table: "*" }, set: on, ignore: true }] }, {}, ["E_WRONG_VALUE /spec/rules/0"]],
    [
      "an expect entry with an attribute that the level does not have",
      { expect: [{ match: { column: "id" }, syncMode: "full" }] },
      {},
      ["E_MATCH_LEVEL /spec/expect/0/syncMode"],
    ],
    ["an unknown RuleSet", { rules: [rule, { use: "pi" }] }, { pii: [rule] }, ["E_UNKNOWN_REFERENCE /spec/rules/1/use"]],
    [
      "an unknown RuleSet that a RuleSet uses, once at its line",
      { rules: [{ use: "pii" }, { use: "pii" }] },
      { pii: [{ use: "no" }] },
      ["E_UNKNOWN_REFERENCE pii.yaml/spec/rules/0/use"],
    ],
    [
      "RuleSets that use each other",
      { rules: [{ use: "a" }] },
      { a: [rule, { use: "b" }], b: [{ use: "a" }] },
      ["E_TOO_MANY_RULES b.yaml/spec/rules/0/use"],
    ],
    ["a RuleSet that uses itself", { rules: [{ use: "a" }] }, { a: [{ use: "a" }] }, ["E_TOO_MANY_RULES a.yaml/spec/rules/0/use"]],
    [
      "an invalid rule in a RuleSet, at its line there",
      { rules: [{ use: "a" }] },
      { a: [rule, { match: {}, set: on }] },
      ["E_MATCH_LEVEL a.yaml/spec/rules/1/match"],
    ],
  ])("%s", (_sentence, spec, sets, problems) => {
    const manifests = [config(spec), ...Object.entries(sets).map(([name, rules]) => ruleSet(name, rules))];
    const compared = compareFleet({ manifests });
    expect(compared.problems).toEqual(problems);
    expect(compared.units).toEqual([]);
    const offline = ruleProblems(manifests).map(
      ({ code, place }) => `${code} ${place?.file === "shops.yaml" ? "" : place?.file}${place?.pointer}`,
    );
    expect(offline).toEqual(expect.arrayContaining([...problems]));
  });

  test("an unknown RuleSet is reported with a similar name", () => {
    const [problem] = ruleProblems([config({ rules: [{ use: "pi" }] }), ruleSet("pii", [])]);
    expect(problem?.message).toBe('SchemaConfig/shops uses RuleSet "pi", which no manifest defines. Did you mean pii?');
  });

  test("unused RuleSets are checked too", () => {
    const manifests = [ruleSet("a", [{ use: "b" }, { match: {}, set: on }])];
    expect(ruleProblems(manifests).map(({ code }) => code)).toEqual(["E_MATCH_LEVEL", "E_UNKNOWN_REFERENCE"]);
  });

  test("the number of rules is limited if RuleSets use others twice each", () => {
    const sets = Array.from({ length: 40 }, (_, index) =>
      ruleSet(`s${index}`, index === 39 ? [rule] : [{ use: `s${index + 1}` }, { use: `s${index + 1}` }]),
    );
    const { problems } = compareFleet({ manifests: [config({ rules: [{ use: "s0" }] }), ...sets] });
    expect(problems).toEqual([expect.stringMatching(/^E_TOO_MANY_RULES s\d+\.yaml/u)]);
  });

  test("a SchemaConfig is compared although another one is invalid", () => {
    const { units, problems } = compareFleet({
      manifests: [config({ integration: "shop", rules: [{ match: {}, set: on }] }, "a"), config({ integration: "b" }, "b")],
      live: { shop: shop(), b: shop() },
    });
    expect(problems).toEqual(["E_MATCH_LEVEL a.yaml/spec/rules/0/match"]);
    expect(units.map(({ address }) => address)).toEqual(["Schemas/b"]);
  });
});

describe("a RuleSet", () => {
  const pii = ruleSet("pii", [
    { id: "emails", match: { column: "*email*" }, set: hash, reason: "register 12" },
    { match: { column: "phone" }, set: hash },
  ]);
  test("replaces its use, and its rules have their own names", () => {
    const spec: SchemaConfigSpec = {
      rules: [{ use: "pii" }, { match: { table: ["orders", "audit_log"], column: "email" }, set: { hashed: false } }],
    };
    const { changes, found } = compareFleet({ manifests: [config(spec), pii] });
    expect(changes).toEqual(["sales.customers.email hashed true", "sales.customers.phone hashed true"]);
    expect(found[0]?.items[0]?.changes.map(({ cause }) => [cause?.rule, cause?.reason, cause?.place.file, cause?.place.pointer])).toEqual([
      ["emails", "register 12", "pii.yaml", "/spec/rules/0"],
      ["pii rule 2", undefined, "pii.yaml", "/spec/rules/1"],
    ]);
  });

  test("overrides the rules before its use", () => {
    expect(
      compareFleet({
        manifests: [config({ rules: [{ match: { table: "customers", column: "email" }, set: { hashed: false } }, { use: "pii" }] }), pii],
      }).changes,
    ).toContain("sales.customers.email hashed true");
  });

  test("may use others", () => {
    expect(compareFleet({ manifests: [config({ rules: [{ use: "all" }] }), ruleSet("all", [{ use: "pii" }]), pii] }).changes).toHaveLength(
      4,
    );
  });

  test("is written out in a desired state that waits", () => {
    const { found } = compareFleet({ manifests: [config({ rules: [{ use: "pii" }] }), pii], live: { shop: {} } });
    expect(found[0]?.waiting).toMatchObject([{ liveId: "shop", desired: { rules: [{ id: "emails" }, { set: { hashed: true } }] } }]);
  });
});

// A literal name is a name in any Unicode form, and is sent as the service wrote it.
describe("a literal name in another Unicode form", () => {
  const [composed, decomposed] = ["pr\u00e9nom", "pre\u0301nom"];
  const live = (...columns: readonly string[]) => ({
    sch\u00e9ma: schema({ t\u00e9: table(Object.fromEntries(columns.map((name) => [name, column()]))) }),
  });
  const written = (...columns: readonly string[]): SchemaConfigSpec => ({
    schemas: { "sche\u0301ma": { tables: { "te\u0301": { columns: Object.fromEntries(columns.map((name) => [name, hash])) } } } },
  });
  test.each<[what: string, names: readonly string[], columns: readonly string[], hashed: readonly string[], problems: readonly string[]]>([
    ["composed, of a decomposed one", [composed], [decomposed], [decomposed], []],
    ["decomposed, of a composed one", [decomposed], [composed], [composed], []],
    ["of one with both forms, each with an entry", [composed, decomposed], [composed, decomposed], [composed, decomposed], []],
    ["of two", [composed], [composed, decomposed], [composed, decomposed], ["W_HIDDEN_CHARACTER"]],
    ["of none", [composed], ["prenom"], [], ["E_MISSING_NAME"]],
  ])("%s", (_, names, columns, hashed, problems) => {
    const found = compareFleet({ manifests: [config(written(...names))], live: { shop: live(...columns) } });
    expect(found.problems.map((one) => one.split(" ")[0])).toEqual(problems);
    expect([...found.changes].sort()).toEqual(hashed.map((name) => `sch\u00e9ma.t\u00e9.${name} hashed true`).sort());
  });
});

test("a name with a dot in a match may be two names", () => {
  const { problemsInFull } = compareFleet({
    manifests: [config({ rules: [{ match: { table: "sales.customers" }, set: { enabled: true } }] })],
  });
  expect(problemsInFull.map(({ message }) => message)).toEqual([
    expect.stringContaining("A pattern matches within one name: write schema and table apart. Correct the name, or"),
  ]);
});

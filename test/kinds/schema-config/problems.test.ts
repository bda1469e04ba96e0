import { describe, expect, test } from "vitest";
import { ruleProblems } from "../../../src/kinds/schema-config/compiled-config.ts";
import type { Resource, RuleSetSpec, SchemaConfigSpec } from "../../../src/model/resource.ts";
import { column, compareFleet, config, ruleSet, schema, shop, table } from "./fleet.ts";

const on = { enabled: true } as const;
const off = { enabled: false } as const;
const hash = { hashed: true } as const;

const problemsOf = (spec: SchemaConfigSpec, live = shop(), others: readonly Resource[] = []): readonly string[] =>
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
      ["E_DISABLES_PRIMARY_KEY /spec/rules/1"],
    ],
    [
      "refuses to disable a cursor column",
      { rules: [{ match: { table: "orders", column: "updated_at" }, set: off }] },
      ["E_DISABLES_CURSOR /spec/rules/0"],
    ],
    [
      "refuses it from a literal, at its line",
      { schemas: { public: { tables: { orders: { columns: { id: off } } } } } },
      ["E_DISABLES_PRIMARY_KEY /spec/schemas/public/tables/orders/columns/id/enabled"],
    ],
    [
      "refuses it from unmatched",
      { unmatched: { columns: "disable" }, rules: [{ match: { schema: "public", column: "*" }, set: on }] },
      ["E_DISABLES_PRIMARY_KEY /spec/unmatched/columns"],
    ],
    [
      "takes no offence where a later rule keeps the key",
      {
        rules: [
          { match: { schema: "sales", column: "*" }, set: off },
          { match: { column: "*", where: { isPrimaryKey: true } }, set: on },
        ],
      },
      [],
    ],
    [
      "warns of hashing a primary key",
      { rules: [{ match: { table: "orders", column: "id" }, set: hash }] },
      ["W_HASHES_PRIMARY_KEY /spec/rules/0"],
    ],
    [
      "warns of a literal that hashes a primary key",
      { schemas: { public: { tables: { orders: { columns: { id: hash } } } } } },
      ["W_HASHES_PRIMARY_KEY /spec/schemas/public/tables/orders/columns/id/hashed"],
    ],
    [
      "warns of column rules in a table that ends up disabled",
      {
        rules: [
          { match: { table: "customers" }, set: off },
          { match: { table: "customers", column: ["email", "phone"] }, set: { hashed: false } },
        ],
      },
      ["W_COLUMN_RULES_IN_DISABLED_TABLE /spec/rules/1"],
    ],
    [
      "warns of such literals",
      { schemas: { sales: { tables: { customers: { enabled: false, columns: { email: { hashed: true } } } } } } },
      ["W_COLUMN_RULES_IN_DISABLED_TABLE /spec/schemas/sales/tables/customers/columns"],
    ],
    [
      "keeps silent about literals that only say what is so already, as imported ones do",
      { schemas: { sales: { tables: { customers: { enabled: false, columns: { email: { enabled: true, hashed: false } } } } } } },
      [],
    ],
    [
      "warns of rules for every table only where they would change a column of a disabled one",
      {
        rules: [
          { match: { table: "customers" }, set: off },
          { match: { column: "email" }, set: hash },
          { match: { column: "email" }, set: on },
        ],
      },
      ["W_COLUMN_RULES_IN_DISABLED_TABLE /spec/rules/1"],
    ],
    [
      "misses a literal table of a match",
      { rules: [{ match: { schema: "public", table: ["orders", "ordr_items"] }, set: on }] },
      ["E_MISSING_NAME /spec/rules/0/match/table/1"],
    ],
    [
      "misses a literal only where no place has it",
      {
        rules: [
          { match: { table: "customers", column: "phone" }, set: on },
          { match: { schema: ["public", "sales"], table: "customers" }, set: on },
        ],
      },
      [],
    ],
    [
      "misses a schema once, not what would be in it",
      { rules: [{ match: { schema: "sale", table: "customers", column: "email" }, set: on }] },
      ["E_MISSING_NAME /spec/rules/0/match/schema"],
    ],
    [
      "misses a column",
      { rules: [{ match: { table: "customers", column: "e-mail" }, set: on }] },
      ["E_MISSING_NAME /spec/rules/0/match/column"],
    ],
    [
      "misses names of rules that ignore, and of assertions",
      { rules: [{ match: { table: "nope" }, ignore: true }], expect: [{ match: { table: "none" }, syncMode: "full" }] },
      ["E_MISSING_NAME /spec/expect/0/match/table", "E_MISSING_NAME /spec/rules/0/match/table"],
    ],
    [
      "misses names of the literal tree, at the key",
      { schemas: { sale: {}, public: { tables: { order: {}, orders: { columns: { mail: on } } } } } },
      [
        "E_MISSING_NAME /spec/schemas/public/tables/order",
        "E_MISSING_NAME /spec/schemas/public/tables/orders/columns/mail",
        "E_MISSING_NAME /spec/schemas/sale",
      ],
    ],
    [
      "only warns with missing: warn",
      { missing: "warn", rules: [{ match: { table: "nope" }, set: on }], schemas: { nope: {} } },
      ["W_MISSING_NAME /spec/rules/0/match/table", "W_MISSING_NAME /spec/schemas/nope"],
    ],
    ["says nothing with missing: ignore", { missing: "ignore", rules: [{ match: { table: "nope" }, set: on }], schemas: { nope: {} } }, []],
    ["does not miss what minMatches: 0 allows to be absent", { rules: [{ match: { table: "nope" }, set: on, minMatches: 0 }] }, []],
    ["does not miss what a list leaves out", { rules: [{ match: { table: ["*", "!nope"] }, set: on }] }, []],
    [
      "takes an escaped glob sign as part of a literal",
      { rules: [{ match: { table: "a\\*" }, set: on }] },
      ["E_MISSING_NAME /spec/rules/0/match/table"],
    ],
    [
      "warns of a glob that matches nothing",
      { rules: [{ match: { table: ["orders", "tmp_*"] }, set: on }] },
      ["W_GLOB_NO_MATCH /spec/rules/0/match/table/1"],
    ],
    [
      "warns of the uppermost glob only",
      { rules: [{ match: { schema: "x*", table: "y*", column: "z" }, set: on }] },
      ["W_GLOB_NO_MATCH /spec/rules/0/match/schema"],
    ],
    [
      "does not warn of a glob whose nodes where leaves out",
      { rules: [{ match: { table: "*", where: { enabled: false } }, set: off }] },
      [],
    ],
    [
      "warns of a rule whose nodes where leaves out by what no apply changes",
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
      ["W_RULE_NO_MATCH /spec/expect/0", "W_RULE_NO_MATCH /spec/rules/0", "W_RULE_NO_MATCH /spec/rules/3"],
    ],
    [
      "warns of a rule that leaves every name out",
      {
        rules: [
          { match: { table: "!*" }, set: on },
          { match: { table: "!*", column: "email" }, set: on },
          { match: { table: "!nope" }, set: on },
        ],
      },
      ["W_RULE_NO_MATCH /spec/rules/0", "W_RULE_NO_MATCH /spec/rules/1"],
    ],
    [
      "warns of a glob that matches nothing in a rule that matches enough",
      { rules: [{ match: { table: ["orders", "tmp_*"] }, set: on, minMatches: 1 }] },
      ["W_GLOB_NO_MATCH /spec/rules/0/match/table/1"],
    ],
    [
      "tells what minMatches refuses once",
      { rules: [{ match: { table: "tmp_*" }, set: on, minMatches: 1 }] },
      ["E_MIN_MATCHES /spec/rules/0/minMatches"],
    ],
    ["is silent with minMatches: 0", { rules: [{ match: { table: "tmp_*" }, set: on, minMatches: 0 }] }, []],
    [
      "refuses fewer nodes than minMatches",
      { rules: [{ match: { column: "email" }, set: { hashed: false }, minMatches: 4 }] },
      ["E_MIN_MATCHES /spec/rules/0/minMatches"],
    ],
    ["is content with as many as minMatches", { rules: [{ match: { column: "email" }, set: { hashed: false }, minMatches: 3 }] }, []],
    [
      "counts for minMatches what where leaves",
      { rules: [{ match: { column: "*", where: { isPrimaryKey: true } }, set: on, minMatches: 5 }] },
      ["E_MIN_MATCHES /spec/rules/0/minMatches"],
    ],
    [
      "tells of a rule whose nodes later ones all overrule",
      {
        rules: [
          { match: { table: "orders" }, set: off },
          { match: { table: "*" }, set: on },
        ],
      },
      ["I_RULE_SHADOWED /spec/rules/0"],
    ],
    [
      "tells of a rule that earlier ones make needless",
      {
        rules: [
          { match: { column: "*" }, set: on },
          { match: { column: "email" }, set: on },
        ],
      },
      ["I_RULE_SHADOWED /spec/rules/1"],
    ],
    [
      "tells of a rule that the literal tree overrules",
      { rules: [{ match: { table: "customers" }, set: off }], schemas: { sales: { tables: { customers: on } } } },
      ["I_RULE_SHADOWED /spec/rules/0"],
    ],
    [
      "tells of an ignoring rule whose nodes are all set again",
      {
        rules: [
          { match: { table: "customers", column: "email" }, ignore: true },
          { match: { column: "email" }, set: on },
        ],
      },
      ["I_RULE_SHADOWED /spec/rules/0"],
    ],
    [
      "does not tell of a rule that decides one node",
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

  test("does not mind columns that are off or hashed already", () => {
    const live = { s: schema({ t: table({ id: column({ isPrimaryKey: true, enabled: false, hashed: true }) }) }) };
    expect(problemsOf({ rules: [{ match: { column: "id" }, set: { enabled: false, hashed: true } }] }, live)).toEqual([]);
  });

  test("tells what a name may have been meant for, and where it was looked for", () => {
    const { problemsInFull } = compareFleet({
      manifests: [
        config({ rules: [{ match: { schema: "public", table: "ordres" }, set: on }], schemas: { sales: { tables: { customer: {} } } } }),
      ],
    });
    expect(problemsInFull.map(({ message, address }) => [address, message])).toEqual([
      [
        "SchemaConfig/shops@shop",
        'shop has no table "customer" in sales. Did you mean customers? Correct the name, or set spec.missing to warn or ignore.',
      ],
      [
        "SchemaConfig/shops@shop",
        'shop has no table "ordres" where the rule looks for it. Did you mean orders? Correct the name, or set spec.missing to warn or ignore. In a rule that may match nothing, set minMatches: 0.',
      ],
    ]);
  });

  test("refuses a rule once, however many columns it disables", () => {
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
      'Rule "no-ids" disables 30 primary key columns of shop: s.t10.id, s.t11.id, s.t12.id, s.t13.id, s.t14.id and 25 more. Without them their tables can\'t be replicated. Hash instead, disable the table, or leave them out of the match.',
    ]);
  });
});

describe("rules that can't be right are refused before any account is looked at", () => {
  const rule = { match: { table: "orders" }, set: on };
  test.each<[string, SchemaConfigSpec, Readonly<Record<string, RuleSetSpec["rules"]>>, readonly string[]]>([
    ["a match that names nothing", { rules: [{ match: { ignoreCase: true }, set: on }] }, {}, ["E_EMPTY_MATCH /spec/rules/0/match"]],
    ["a match of empty lists", { rules: [{ match: { table: [] }, set: on }] }, {}, ["E_EMPTY_MATCH /spec/rules/0/match"]],
    [
      "a where that the level lacks",
      { rules: [{ match: { table: "*", where: { isPrimaryKey: true } }, set: on }] },
      {},
      ["E_WHERE_LEVEL /spec/rules/0/match/where/isPrimaryKey"],
    ],
    ["ignore and set in one", { rules: [{ match: { table: "*" }, set: on, ignore: true }] }, {}, ["E_IGNORE_AND_SET /spec/rules/0"]],
    [
      "an assertion that the level lacks",
      { expect: [{ match: { column: "id" }, syncMode: "full" }] },
      {},
      ["E_EXPECT_LEVEL /spec/expect/0/syncMode"],
    ],
    ["an unknown set", { rules: [rule, { use: "pi" }] }, { pii: [rule] }, ["E_UNKNOWN_RULE_SET /spec/rules/1/use"]],
    [
      "an unknown set that a set uses, once at its line",
      { rules: [{ use: "pii" }, { use: "pii" }] },
      { pii: [{ use: "no" }] },
      ["E_UNKNOWN_RULE_SET pii.yaml/spec/rules/0/use"],
    ],
    [
      "sets that use each other",
      { rules: [{ use: "a" }] },
      { a: [rule, { use: "b" }], b: [{ use: "a" }] },
      ["E_RULE_SET_CYCLE b.yaml/spec/rules/0/use"],
    ],
    ["a set that uses itself", { rules: [{ use: "a" }] }, { a: [{ use: "a" }] }, ["E_RULE_SET_CYCLE a.yaml/spec/rules/0/use"]],
    [
      "a mistake in a set, at its line in the set",
      { rules: [{ use: "a" }] },
      { a: [rule, { match: {}, set: on }] },
      ["E_EMPTY_MATCH a.yaml/spec/rules/1/match"],
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

  test("an unknown set comes with the nearest name", () => {
    const [problem] = ruleProblems([config({ rules: [{ use: "pi" }] }), ruleSet("pii", [])]);
    expect(problem?.message).toBe('SchemaConfig/shops uses RuleSet "pi", which no manifest defines. Did you mean pii?');
  });

  test("sets that nobody uses are checked as well", () => {
    const manifests = [ruleSet("a", [{ use: "b" }, { match: {}, set: on }])];
    expect(ruleProblems(manifests).map(({ code }) => code)).toEqual(["E_EMPTY_MATCH", "E_UNKNOWN_RULE_SET"]);
  });

  test("sets that use sets twice each are not multiplied out without end", () => {
    const sets = Array.from({ length: 40 }, (_, index) =>
      ruleSet(`s${index}`, index === 39 ? [rule] : [{ use: `s${index + 1}` }, { use: `s${index + 1}` }]),
    );
    const { problems } = compareFleet({ manifests: [config({ rules: [{ use: "s0" }] }), ...sets] });
    expect(problems).toEqual([expect.stringMatching(/^E_TOO_MANY_RULES s\d+\.yaml/u)]);
  });

  test("one configuration's mistake does not keep another from being compared", () => {
    const { units, problems } = compareFleet({
      manifests: [config({ integration: "shop", rules: [{ match: {}, set: on }] }, "a"), config({ integration: "b" }, "b")],
      live: { shop: shop(), b: shop() },
    });
    expect(problems).toEqual(["E_EMPTY_MATCH a.yaml/spec/rules/0/match"]);
    expect(units.map(({ address }) => address)).toEqual(["SchemaConfig/b@b"]);
  });
});

describe("a RuleSet", () => {
  const pii = ruleSet("pii", [
    { id: "emails", match: { column: "*email*" }, set: hash, reason: "register 12" },
    { match: { column: "phone" }, set: hash },
  ]);
  test("stands in the place of use, and its rules name themselves", () => {
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

  test("before a use is overruled by it", () => {
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

  test("is spelled out in a wish that waits for its integration", () => {
    const { found } = compareFleet({ manifests: [config({ rules: [{ use: "pii" }] }), pii], live: { shop: {} } });
    expect(found[0]?.deferred).toMatchObject([{ liveId: "shop", desired: { rules: [{ id: "emails" }, { set: { hashed: true } }] } }]);
  });
});

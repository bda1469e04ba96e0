// A pattern that matches nothing is reported once, over all integrations that use it.
import { describe, expect, test } from "vitest";
import type { Manifest, SchemaConfigSpec } from "../../../../../src/core/base/model/manifest.ts";
import { column, compareFleet, config, ruleSet, schema, table } from "../fleet.ts";

const on = { enabled: true } as const;
const hash = { hashed: true } as const;
const one = (name: string) => ({ s: schema({ [name]: table({ id: column(), email: column() }) }) });
const all = { integrations: { names: ["shard-*"] } };
const two = { "shard-1": one("orders"), "shard-2": one("billing") };

const problems = (
  spec: SchemaConfigSpec,
  live: Parameters<typeof compareFleet>[0]["live"] = two,
  only?: (label: string) => boolean,
  others: readonly Manifest[] = [],
): readonly string[] =>
  compareFleet({ manifests: [config({ ...all, ...spec }), ...others], live, ...(only === undefined ? {} : { only }) }).problems;

describe("over all integrations of a SchemaConfig", () => {
  test("a glob must match in one of them; one that matches in none is reported once", () => {
    expect(
      problems({
        rules: [
          { match: { table: "ord*" }, set: on },
          { match: { table: "x*" }, set: on },
        ],
      }),
    ).toEqual(["W_NO_MATCH /spec/rules/1/match/table"]);
  });

  test.each([
    ["*MAIL*", "In another case it would match email. Set ignoreCase: true in the match, or correct the case."],
    ["*phone*", "Correct or remove the pattern."],
  ])("a glob that matches in none says what %s would match in another case", (pattern, advice) => {
    const rules = [{ match: { column: pattern }, set: hash }];
    const { problemsInFull } = compareFleet({ manifests: [config({ ...all, rules })], live: two });
    expect(problemsInFull.map(({ message }) => message)).toEqual([expect.stringContaining(advice)]);
  });

  test("minMatches counts all of them together", () => {
    expect(
      problems({
        rules: [
          { match: { column: "email" }, set: hash, minMatches: 2 },
          { match: { column: "email" }, set: hash, minMatches: 3 },
        ],
      }).filter((problem) => problem.startsWith("E_")),
    ).toEqual(["E_MIN_MATCHES /spec/rules/1/minMatches"]);
  });

  test("nothing is reported if some of them were not compared", () => {
    const spec: SchemaConfigSpec = {
      rules: [
        { match: { table: "x*" }, set: on },
        { match: { column: "email" }, set: hash, minMatches: 3 },
      ],
    };
    expect(problems(spec, two, (label) => label === "shard-1")).toEqual([]);
    expect(problems(spec, { ...two, "shard-3": {} })).toEqual([]);
    expect(problems(spec, { ...two, "shard-3": undefined })).toEqual([]);
  });

  test("a missing name is reported for the integration that lacks it", () => {
    const { problemsInFull } = compareFleet({
      manifests: [config({ ...all, missing: "error", rules: [{ match: { table: "orders" }, set: on }] })],
      live: two,
    });
    expect(problemsInFull.map(({ code, address }) => [code, address])).toEqual([["E_MISSING_NAME", "Schemas/shard-2"]]);
  });

  test.each([{}, { missing: "nowhere" as const }])(
    "by default and with missing: nowhere, a name must exist in one of them: %j",
    (missing) => {
      const tables = (...names: readonly string[]) => ({ s: { tables: Object.fromEntries(names.map((name) => [name, {}])) } });
      expect(problems({ ...missing, schemas: tables("orders", "billing") })).toEqual([]);
      expect(problems({ ...missing, schemas: tables("orders", "returns") })).toEqual(["E_MISSING_NAME /spec/schemas/s/tables/returns"]);
      expect(problems({ ...missing, schemas: { other: { tables: { t: { columns: { c: {} } } } } } })).toEqual([
        "E_MISSING_NAME /spec/schemas/other",
      ]);
      expect(problems({ ...missing, schemas: { s: { tables: { orders: { columns: { email: {}, fax: {} } } } } } })).toEqual([
        "E_MISSING_NAME /spec/schemas/s/tables/orders/columns/fax",
      ]);
      const rules = [{ match: { table: ["orders", "billing", "returns"], column: "email" }, set: hash }];
      expect(problems({ ...missing, rules })).toEqual(["E_MISSING_NAME /spec/rules/0/match/table/2"]);
      expect(problems({ ...missing, rules }, two, (label) => label === "shard-1")).toEqual([]);
    },
  );

  test("with missing: nowhere and one integration, a name must exist there", () => {
    const schemas = { s: { tables: { returns: {} } } };
    expect(problems({ missing: "nowhere", schemas }, { "shard-1": one("orders") })).toEqual([
      "E_MISSING_NAME /spec/schemas/s/tables/returns",
    ]);
  });

  test("a rule of a RuleSet must match in one of the SchemaConfigs that use it", () => {
    const pii = ruleSet("pii", [
      { match: { column: "*mail" }, set: hash },
      { match: { column: "*ssn*" }, set: hash },
      { match: { table: "ord*", column: "id" }, set: on },
    ]);
    const a = config({ integration: "shard-1", rules: [{ use: "pii" }] }, "a");
    const b = config({ integration: "shard-2", rules: [{ use: "pii" }] }, "b");
    expect(compareFleet({ manifests: [a, b, pii], live: two }).problems).toEqual(["W_NO_MATCH pii.yaml/spec/rules/1/match/column"]);
    expect(compareFleet({ manifests: [a, b, pii], live: two, only: (label) => label === "shard-1" }).problems).toEqual([]);
  });

  test("a warning is reported once, with examples and the number of all nodes", () => {
    const live = Object.fromEntries(
      Array.from({ length: 9 }, (_, index) => [`shard-${index}`, { s: schema({ t: table({ id: column({ isPrimaryKey: true }) }) }) }]),
    );
    const { problemsInFull } = compareFleet({
      manifests: [config({ ...all, rules: [{ id: "hash-all", match: { column: "*" }, set: hash }] })],
      live,
    });
    expect(problemsInFull.map(({ message }) => message)).toEqual([
      'Rule "hash-all" hashes primary key columns: s.t.id of shard-0, s.t.id of shard-1, s.t.id of shard-2 and 6 more columns, in 9 integrations. Rows are then identified by the hash, and joins on the readable value find nothing. To exclude them, add where: { isPrimaryKey: false }.',
    ]);
  });

  test("compared one by one or all at once, every integration has the same changes", () => {
    const spec: SchemaConfigSpec = {
      ...all,
      unmatched: { tables: "disable" },
      rules: [
        { match: { table: "ord*" }, set: on },
        { match: { column: "email", where: { hashed: false } }, set: hash },
      ],
    };
    const together = compareFleet({ manifests: [config(spec)], live: two }).changes;
    const apart = Object.keys(two).flatMap(
      (name) => compareFleet({ manifests: [config(spec)], live: two, only: (label) => label === name }).changes,
    );
    expect(together).toEqual([
      "shard-1: s.orders.email hashed true",
      "shard-2: s.billing enabled false",
      "shard-2: s.billing.email hashed true",
    ]);
    expect(apart).toEqual(together);
  });
});

describe("unknown columns", () => {
  const live = { "shard-1": { s: schema({ t: table(undefined, { enabled: false }) }) } };
  test("are not missing, and globs are not reported because of them", () => {
    expect(
      problems(
        {
          rules: [
            { match: { column: "email" }, set: hash },
            { match: { column: "x*" }, set: hash },
          ],
        },
        live,
      ),
    ).toEqual([]);
  });
});

describe("a new integration that lacks names", () => {
  const rules = [{ match: { column: "email" }, set: hash }];
  const schemas = { s: { tables: { nope: on } } };
  const live = { shop: { s: schema({ t: table({ email: column() }) }) } };
  test.each([
    [undefined, [], 1],
    ["warn", ["s.t.email hashed true"], 0],
    ["ignore", ["s.t.email hashed true"], 0],
  ] as const)("waits for them unless missing allows it: %s", (missing, changes, waiting) => {
    const spec = { rules, schemas, ...(missing === undefined ? {} : { missing }) };
    const compared = compareFleet({ manifests: [config(spec)], live, view: { fresh: new Set(["shop"]) } });
    expect([compared.changes, compared.found.flatMap(({ waiting }) => waiting).length]).toEqual([changes, waiting]);
  });

  test.each([
    ["only for a first schema", { shop: {} }, 1],
    ["for nothing more once there is one", live, 0],
  ])("waits %s if the manifest writes out no names", (_, now, waiting) => {
    const manifests = [config({ rules: [{ match: { column: "*mail*" }, set: hash }] })];
    const { found } = compareFleet({ manifests, live: now, view: { fresh: new Set(["shop"]) } });
    expect(found.flatMap(({ waiting }) => waiting)).toHaveLength(waiting);
  });
});

import { describe, expect, test } from "vitest";
import { compileConfig, makeRuleProgram } from "../../../../src/core/kinds/schema-config/compiled-config.ts";
import { expand } from "../../../../src/core/kinds/schema-config/coverage.ts";
import { newRuleCache } from "../../../../src/core/kinds/schema-config/rules/rule-cache.ts";
import { ruleSetsIn } from "../../../../src/core/kinds/schema-config/rules/rule-sets.ts";
import type { LiveColumn, LiveSchemas, LiveTable } from "../../../../src/core/model/live.ts";
import type { SchemaConfigSpec, SchemaTree } from "../../../../src/core/model/resource.ts";
import { inferRules, literalSchemas } from "../../../../src/features/import/schemas/infer-rules.ts";
import { resourceOf } from "../../../support/accounts/view.ts";
import fc from "../../../support/fast-check.ts";
import { runs } from "../../../support/sample.ts";
import { schemaEntry } from "../random-account.ts";
import { differences } from "./differences.ts";

const clear: LiveColumn = { enabled: true, hashed: false };
const hashed: LiveColumn = { enabled: true, hashed: true };
const off: LiveColumn = { enabled: false, hashed: false };
const table = (columns: Readonly<Record<string, LiveColumn>>, enabled = true): LiveTable => ({ enabled, columns });
const schema = (tables: Readonly<Record<string, LiveTable>>, enabled = true): LiveSchemas[string] => ({ enabled, tables });

/** The desired state of a SchemaConfig over live schemas. */
function desiredBy(spec: SchemaConfigSpec, live: LiveSchemas): SchemaTree {
  const config = resourceOf("SchemaConfig", "c", { integration: "i", ...spec });
  return expand(newRuleCache(makeRuleProgram([compileConfig(config as never, ruleSetsIn([]))])), live); // resourceOf does not keep the type of the spec
}

const idsOf = (live: LiveSchemas): readonly string[] => inferRules(live).rules.map((rule) => ("id" in rule ? (rule.id ?? "") : ""));

describe("nodes with the same state share a rule", () => {
  test("a column name is listed with the state of most columns of that name; others are exceptions", () => {
    const live = {
      s: schema({ a: table({ id: clear, email: hashed }), b: table({ id: clear, email: hashed }), c: table({ email: clear }) }),
    };
    expect(inferRules(live)).toEqual({
      rules: [
        { id: "live-schemas-on", match: { schema: ["s"] }, set: { enabled: true } },
        { id: "live-tables-on", match: { schema: ["s"], table: ["a", "b", "c"] }, set: { enabled: true } },
        { id: "live-columns-hashed", match: { schema: ["s"], column: ["email"] }, set: { enabled: true, hashed: true } },
        { id: "live-columns-clear", match: { schema: ["s"], column: ["id"] }, set: { enabled: true, hashed: false } },
      ],
      schemas: { s: { tables: { c: { columns: { email: { hashed: false } } } } } },
    });
  });

  test("of two equally frequent states, the one that protects becomes the rule", () => {
    const live = { s: schema({ a: table({ email: hashed }), b: table({ email: clear }), c: table({ x: off }), d: table({ x: hashed }) }) };
    expect(idsOf(live)).toEqual(["live-schemas-on", "live-tables-on", "live-columns-hashed", "live-columns-off"]);
  });

  test("if most tables are off, one rule turns all off and the enabled ones are listed", () => {
    const tables = Object.fromEntries(["a", "b", "c", "d", "e"].map((name) => [name, table({}, name === "c")]));
    expect(inferRules({ s: schema(tables) }).rules.slice(1)).toEqual([
      { id: "live-tables-off-all", match: { schema: ["s"], table: ["*"] }, set: { enabled: false } },
      { id: "live-tables-on", match: { schema: ["s"], table: ["c"] }, set: { enabled: true } },
    ]);
  });

  test("a table whose columns are all hashed gets its own rule; one whose columns are all unhashed does not", () => {
    const live = { s: schema({ people: table({ id: hashed, name: hashed }), orders: table({ id: clear, total: clear }) }) };
    expect(inferRules(live).rules.at(-1)).toEqual({
      id: "live-columns-hashed-all",
      match: { schema: ["s"], table: ["people"], column: ["id", "name"] },
      set: { enabled: true, hashed: true },
    });
  });

  test("schemas with an equal rule share it, even if their other rules differ", () => {
    const users = table({ id: clear, email: hashed });
    const live = { t1: schema({ users }), t2: schema({ users, log: table({ id: clear, ip: clear }) }), t3: schema({ users }) };
    const { rules } = inferRules(live);
    expect(rules.map((rule) => ("match" in rule ? [rule.id, rule.match.schema] : []))).toEqual([
      ["live-schemas-on", ["t1", "t2", "t3"]],
      ["live-tables-on", ["t1", "t3"]],
      ["live-tables-on-2", ["t2"]],
      ["live-columns-hashed", ["t1", "t2", "t3"]],
      ["live-columns-clear", ["t1", "t3"]],
      ["live-columns-clear-2", ["t2"]],
    ]);
  });

  test("the rule that turns all tables of a schema off comes before rules that enable tables", () => {
    const off_ = (name: string) => [name, table({}, false)] as const;
    const mostlyOff = schema({ ...Object.fromEntries(["a", "b", "c", "d"].map(off_)), x: table({}) });
    const live = { s1: schema({ x: table({}) }), s2: mostlyOff, s3: mostlyOff };
    expect(idsOf(live)).toEqual(["live-schemas-on", "live-tables-off-all", "live-tables-on"]);
    expect(differences(desiredBy(inferRules(live), live), live)).toEqual([]);
  });

  test("if one rule turns all tables off, the columns of disabled tables are not listed, unless a rule would change them", () => {
    const old = table({ email: clear, old_id: clear, secret: hashed }, false);
    const live = {
      s: schema({
        users: table({ id: clear, email: hashed }),
        more: table({ email: hashed }),
        a: old,
        b: table({}, false),
        c: table({}, false),
        d: table({}, false),
      }),
      few: schema({ users: table({ id: clear }), old: table({ old_id: clear }, false) }),
    };
    const { rules, schemas } = inferRules(live);
    const columns = rules.flatMap((rule) =>
      "match" in rule && rule.match.column !== undefined ? [[rule.match.schema, rule.match.column]] : [],
    );
    expect(columns).toEqual([
      [["s"], ["email"]],
      [["few"], ["id", "old_id"]],
      [["s"], ["id"]],
    ]);
    expect(schemas).toEqual({ s: { tables: { a: { columns: { email: { hashed: false } } } } } });
  });
});

const liveSchemas = fc.dictionary(fc.constantFrom("public", "a*b", "__proto__", "", "x.y"), schemaEntry, {
  noNullPrototype: true,
}) as fc.Arbitrary<LiveSchemas>;

test("rules and exceptions cover every node except columns of tables that one rule turns off; the literal tree covers every node", () => {
  fc.assert(
    fc.property(liveSchemas, (live) => {
      const everything = leavesOf(literalSchemas(live));
      const [byRules, byTree] = [desiredBy(inferRules(live), live), desiredBy({ schemas: literalSchemas(live) }, live)];
      for (const desired of [byRules, byTree]) expect(differences(desired, live)).toEqual([]);
      expect(leavesOf(byTree)).toEqual(everything);
      const ruled = new Set(leavesOf(byRules));
      const left = everything.filter((leaf) => !ruled.has(leaf));
      const mayBeLeft = Object.entries(live).flatMap(([name, { enabled, tables }]) => {
        const off = Object.keys(tables).filter((one) => tables[one]?.enabled === false);
        const all = off.length > 3 && off.length * 2 > Object.keys(tables).length ? (enabled ? off : Object.keys(tables)) : [];
        return all.map((one) => JSON.stringify([name, "tables", one, "columns"]).slice(0, -1));
      });
      expect(left.filter((leaf) => !mayBeLeft.some((place) => leaf.startsWith(place)))).toEqual([]);
    }),
    { numRuns: runs(30, 2_000) },
  );
});

test("nodes that the source adds later are never enabled and never unhashed", () => {
  fc.assert(
    fc.property(liveSchemas, liveSchemas, (live, grown) => {
      const desired = desiredBy(inferRules(live), grown);
      const exposed = differences(desired, grown).filter(
        ({ path: [schemaName, tableName, columnName], key, value }) =>
          isNewName(live, schemaName, tableName, columnName) && (key === "hashed" ? value : !value),
      );
      expect(exposed).toEqual([]);
    }),
    { numRuns: runs(30, 2_000) },
  );
});

/** A schema or table that did not exist, or a column whose name did not exist in the schema. */
function isNewName(live: LiveSchemas, schemaName: string, tableName: string | undefined, columnName: string | undefined): boolean {
  if (!Object.hasOwn(live, schemaName)) return true;
  const tables = live[schemaName]?.tables ?? {};
  if (tableName === undefined) return false;
  if (columnName === undefined) return !Object.hasOwn(tables, tableName);
  return !Object.values(tables).some(({ columns = {} }) => Object.hasOwn(columns, columnName));
}

/** Paths of the leaves, as JSON. */
const leavesOf = (tree: object, path: readonly string[] = []): readonly string[] =>
  Object.entries(tree)
    .flatMap(([key, member]): readonly string[] =>
      typeof member === "object" && member !== null ? leavesOf(member, [...path, key]) : [JSON.stringify([...path, key])],
    )
    .sort();

test("the result does not depend on the order of the keys", () => {
  const shuffled = (live: LiveSchemas): LiveSchemas =>
    Object.fromEntries(
      Object.entries(live)
        .reverse()
        .map(([name, { tables, ...rest }]) => [name, { ...rest, tables: Object.fromEntries(Object.entries(tables).reverse()) }]),
    );
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom("public", "b", "c"), schemaEntry), (live) => {
      expect(JSON.stringify(inferRules(shuffled(live)))).toBe(JSON.stringify(inferRules(live)));
    }),
  );
});

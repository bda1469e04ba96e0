// Inferred rules give the account what it has, and expose nothing that comes later.
import { describe, expect, test } from "vitest";
import type { LiveColumn, LiveSchemas, LiveTable } from "../../../../src/core/base/model/live.ts";
import type { SchemaConfigSpec, SchemaTree } from "../../../../src/core/base/model/manifest.ts";
import { compileConfig, makeRuleProgram } from "../../../../src/core/kinds/schema-config/compiled-config.ts";
import { newRuleCache } from "../../../../src/core/kinds/schema-config/rules/rule-cache.ts";
import { ruleSetsIn } from "../../../../src/core/kinds/schema-config/rules/rule-sets.ts";
import { inferRules } from "../../../../src/features/import/schemas/infer-rules.ts";
import { resourceOf } from "../../../support/accounts/view.ts";
import { expand } from "../../../support/expand.ts";
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

const hash = { hashed: true };

describe("rules", () => {
  test("list a name that is hashed everywhere once, and others with their tables; what is readable is in none", () => {
    const live = {
      s: schema({
        a: table({ id: clear, email: hashed, iban: hashed }),
        b: table({ id: clear, email: hashed, phone: off }),
        c: table({ email: clear }),
      }),
    };
    expect(inferRules(live)).toEqual({
      rules: [
        { id: "live-columns-hashed", match: { schema: ["s"], column: ["iban"] }, set: hash },
        { id: "live-columns-off", match: { schema: ["s"], column: ["phone"] }, set: { enabled: false } },
        { id: "live-columns-hashed-2", match: { schema: ["s"], table: ["a", "b"], column: ["email"] }, set: hash },
      ],
      schemas: {},
    });
  });

  test("turn off all tables except the enabled ones, if most tables are off, and leave out columns of those that are off", () => {
    const old = table({ email: clear, secret: hashed }, false);
    const none = table({}, false);
    const tables = { users: table({ id: clear, email: hashed }), more: table({ email: hashed }), a: old, b: none, c: none, d: none };
    expect(inferRules({ s: schema(tables) }).rules).toEqual([
      { id: "live-tables-off-all", match: { schema: ["s"], table: ["*", "!more", "!users"] }, set: { enabled: false } },
      { id: "live-columns-hashed", match: { schema: ["s"], table: ["more", "users"], column: ["email"] }, set: hash },
    ]);
  });

  test("are shared by schemas in which they are equal", () => {
    const users = table({ id: clear, email: hashed });
    const live = { t1: schema({ users }), t2: schema({ users, log: table({ email: clear }) }), t3: schema({ users }) };
    const { rules } = inferRules(live);
    expect(rules.map((rule) => ("match" in rule ? [rule.id, rule.match.schema] : []))).toEqual([
      ["live-columns-hashed", ["t1", "t3"]],
      ["live-columns-hashed-2", ["t2"]],
    ]);
  });

  test("are none for an account that protects nothing", () => {
    expect(inferRules({ s: schema({ a: table({ id: clear }) }) })).toEqual({ rules: [], schemas: {} });
  });
});

const liveSchemas = fc.dictionary(fc.constantFrom("public", "a*b", "__proto__", "", "x.y"), schemaEntry, {
  noNullPrototype: true,
}) as fc.Arbitrary<LiveSchemas>;

/** A literal tree of what is off or hashed. */
const protectedIn = (live: LiveSchemas): SchemaTree => {
  const each = <T extends LiveColumn, U>(nodes: Readonly<Record<string, T>>, below: (node: T) => U) =>
    Object.fromEntries(
      Object.entries(nodes).map(([name, node]) => [
        name,
        { ...(node.enabled === false ? { enabled: false } : {}), ...(node.hashed === true ? hash : {}), ...below(node) },
      ]),
    );
  return each(live, ({ tables }) => ({ tables: each(tables, ({ columns = {} }) => ({ columns: each(columns, () => ({})) })) }));
};

test("rules declare what is off or hashed, and nothing else", () => {
  fc.assert(
    fc.property(liveSchemas, (live) => {
      const written = inferRules(live);
      const [byRules, byTree] = [desiredBy(written, live), desiredBy({ schemas: protectedIn(live) }, live)];
      for (const desired of [byRules, byTree]) expect(differences(desired, live)).toEqual([]);
      expect(JSON.stringify(written)).not.toMatch(/"enabled":true|"hashed":false/u);
      const ruled = new Set(leavesOf(byRules));
      const left = leavesOf(byTree).filter((leaf) => !ruled.has(leaf));
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

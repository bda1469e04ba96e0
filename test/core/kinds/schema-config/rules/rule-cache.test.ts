// A cached match is what a new cache computes: a known match is used only for nodes that no rule can tell apart.
import { expect, test } from "vitest";
import type { ColumnLabels } from "../../../../../src/core/base/model/columns.ts";
import type { LiveColumn, LiveSchema, LiveSchemas, LiveTable } from "../../../../../src/core/base/model/live.ts";
import type { SchemaMatch, SchemaRule } from "../../../../../src/core/base/model/manifest.ts";
import type { NodePath } from "../../../../../src/core/base/model/nodes.ts";
import { labelRoots } from "../../../../../src/core/kinds/patterns/labels.ts";
import { compileConfig, makeRuleProgram } from "../../../../../src/core/kinds/schema-config/compiled-config.ts";
import { newRuleCache, type RuleCache, withLabels } from "../../../../../src/core/kinds/schema-config/rules/rule-cache.ts";
import { ruleSetsIn } from "../../../../../src/core/kinds/schema-config/rules/rule-sets.ts";
import { managedAt } from "../../../../../src/core/kinds/schema-config/scan.ts";
import fc from "../../../../support/fast-check.ts";
import { runs } from "../../../../support/sample.ts";
import { config } from "../fleet.ts";

/** Few names, so that they meet. */
const name = fc.constantFrom("a", "b", "c");
const flag = fc.option(fc.boolean(), { nil: undefined });
const syncMode = fc.constantFrom(undefined, "full", "incremental");
const destination = fc.option(name, { nil: undefined });

/** The record without members that are undefined. */
const told = <T extends object>(made: fc.Arbitrary<T>): fc.Arbitrary<T> => made.map((one) => JSON.parse(JSON.stringify(one)) as T);
const attributes = { nameInDestination: destination, enabled: flag };
const all = <T>(value: fc.Arbitrary<T>) => fc.record({ a: value, b: value, c: value });
const column = told(fc.record({ ...attributes, hashed: flag, isPrimaryKey: flag })) as fc.Arbitrary<LiveColumn>;
const table = told(fc.record({ ...attributes, syncMode, columns: all(column) })) as fc.Arbitrary<LiveTable>;
const schema = told(fc.record({ ...attributes, tables: fc.record({ a: table, b: table }) })) as fc.Arbitrary<LiveSchema>;
const live: fc.Arbitrary<LiveSchemas> = fc.record({ a: schema, b: schema });

const pattern = fc.constantFrom("*", "*", "a", "b", "!c");
const sometimes = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const label = fc.constantFrom("pii", "secret");
const where = fc.constantFrom<(SchemaMatch["where"] & object)[]>(
  { enabled: true },
  { enabled: false, hashed: true },
  { hashed: false },
  { isPrimaryKey: true },
  { isPrimaryKey: false },
  { syncMode: "full" },
  { syncMode: "incremental" },
  {},
);
const match = fc.constantFrom(0, 1, 1, 2, 2, 3, 3).chain((depth) =>
  told(
    fc.record({
      schema: depth === 0 ? pattern : sometimes(pattern),
      table: depth === 0 ? fc.constant(undefined) : depth === 1 ? pattern : sometimes(pattern),
      column: depth === 2 ? pattern : fc.constant(undefined),
      label: depth === 3 ? label : fc.constant(undefined),
      where: sometimes(where),
    }),
  ),
) as fc.Arbitrary<SchemaMatch>;
const rule = fc
  .tuple(match, fc.boolean(), fc.boolean(), fc.integer({ min: 0, max: 2 }))
  .map(
    ([made, enabled, hashed, sort]): SchemaRule =>
      sort === 0
        ? { match: made, ignore: true }
        : { match: made, set: { enabled, ...(made.column === undefined && made.label === undefined ? {} : { hashed }) } },
  );
const entry = match.map((made) => ({ match: made, nameInDestination: "a" }));

const ab = fc.constantFrom("a", "b");
const labelled = fc.record({ side: fc.constantFrom("source", "destination"), schema: ab, table: ab, column: name, label });

const labels: fc.Arbitrary<ColumnLabels> = fc.array(labelled, { maxLength: 8 }).map((columns) => ({
  defined: ["pii", "secret"],
  patterns: [
    { label: "secret", origin: { place: { file: "c.yaml", document: 0, pointer: "/p" } }, match: { column: "c" } },
  ] as unknown as ColumnLabels["patterns"],
  columns: columns.map((one, index) => ({
    ...one,
    origin: { place: { file: `${index}.csv`, document: 0, pointer: "" } },
    describedBy: "x",
  })) as unknown as ColumnLabels["columns"],
}));

/** All nodes, live or not. */
const paths: readonly NodePath[] = ["a", "b", "c"].flatMap((top): readonly NodePath[] => [
  [top],
  ...["a", "b", "c"].flatMap((middle): readonly NodePath[] => [
    [top, middle],
    ...["a", "b", "c"].map((bottom): NodePath => [top, middle, bottom]),
  ]),
]);

/** The tree as it could be in another account: one member of all nodes is different or gone, or nodes are gone. */
const other = (tree: LiveSchemas, which: string): LiveSchemas =>
  JSON.parse(JSON.stringify(tree), (key, value) => {
    if (key === which) return which === "columns" ? {} : which === "syncMode" ? (value === "full" ? "incremental" : "full") : undefined;
    return which === "all" && ["enabled", "hashed", "isPrimaryKey", "nameInDestination"].includes(key) ? undefined : value;
  });
const changed = fc.constantFrom("columns", "syncMode", "enabled", "hashed", "isPrimaryKey", "nameInDestination", "all");

/** What the rules do with a node. */
function found(cache: RuleCache, tree: LiveSchemas, path: NodePath): string {
  const { match, resolution } = managedAt(cache, tree, path);
  const indices = [match.rules, match.namedBy, match.expectations, match.applied].map((rules) => rules.map(({ index }) => index));
  const { enabledBy, hashedBy, enabled, hashed, covered, ignored } = resolution;
  const causes = [enabledBy, hashedBy].map((by) => (by?.type === "rule" ? [by.index, by.cause.label] : undefined));
  return JSON.stringify([path, indices, match.counted.patterns, enabled, hashed, covered, ignored, causes]);
}

test("a match is the same whatever was matched before, in any account with any labels", () => {
  fc.assert(
    fc.property(
      fc.array(rule, { minLength: 2, maxLength: 6 }),
      fc.array(entry, { maxLength: 1 }),
      fc.tuple(live, changed),
      labels,
      (rules, expected, [tree, which], ofColumns) => {
        const program = makeRuleProgram([compileConfig(config({ rules, expect: expected }), ruleSetsIn([]))]);
        const shared = newRuleCache(program);
        const roots = labelRoots(ofColumns);
        for (const scope of [roots({ names: ["one"] }), roots({ names: ["two"], destinationSchema: "b" })])
          for (const account of [tree, other(tree, which), other(tree, "all"), {}])
            for (const path of paths)
              expect(
                found(
                  withLabels(shared, () => scope),
                  account,
                  path,
                ),
              ).toBe(
                found(
                  withLabels(newRuleCache(program), () => scope),
                  account,
                  path,
                ),
              );
      },
    ),
    { numRuns: runs(60, 2_000) },
  );
});

import type { LiveColumn, LiveSchemas, LiveTable } from "../../../../src/core/base/model/live.ts";
import type { SchemaConfigSpec, SchemaRule } from "../../../../src/core/base/model/manifest.ts";
import fc from "../../../support/fast-check.ts";
import { column, schema, table } from "./fleet.ts";
import type { Sets } from "./reference.ts";

// Random configurations and accounts for the properties.

// Few names, so that rules often match nodes; some of them hostile.
const names = ["a", "b", "ab", "B", "__proto__", "a.b", "a/b", "constructor", "*"];
// The first ones more often: cached results of a name matter if it occurs again with other
// attributes.
export const name = fc.oneof({ weight: 2, arbitrary: fc.constantFrom("a", "b") }, { weight: 3, arbitrary: fc.constantFrom(...names) });
const pattern = fc.oneof(
  fc.constantFrom("*", "a*", "?", "{a,b}", "[!a]*", "*b", "\\*", "!a", "!*b", "[a-b]", "a?b", "{a,*{b,r}}", "*o*", "!{a,B}", "_*_"),
  name.map((text) => text.replace("*", "\\*")),
);
const part = fc.oneof(pattern, fc.array(pattern, { minLength: 1, maxLength: 3 }));
const flag = fc.boolean();
export const sparse = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
const record = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<Partial<T>> =>
  fc.record(model, { requiredKeys: [] }) as unknown as fc.Arbitrary<Partial<T>>;

const match = fc.constantFrom(0, 1, 2).chain((depth) =>
  fc
    .record({
      schema: depth === 0 ? part : sparse(part),
      table: depth === 1 ? part : depth === 2 ? sparse(part) : fc.constant(undefined),
      column: depth === 2 ? part : fc.constant(undefined),
      ignoreCase: sparse(flag),
      where: sparse(whereFor(depth)),
    })
    .map((made) => JSON.parse(JSON.stringify(made)) as SchemaRule extends infer R ? (R extends { match: infer M } ? M : never) : never),
);

function whereFor(depth: number): fc.Arbitrary<object> {
  const mode = fc.constantFrom("full", "incremental");
  if (depth === 0) return record({ enabled: flag });
  return depth === 1
    ? record({ enabled: flag, syncMode: mode })
    : record({ enabled: flag, hashed: flag, isPrimaryKey: flag, syncMode: mode });
}

export const rule: fc.Arbitrary<SchemaRule> = match.chain((made) => {
  const columnSet = fc.constantFrom<object>(
    { enabled: true },
    { enabled: false },
    { hashed: true },
    { hashed: false },
    { enabled: true, hashed: true },
    { enabled: false, hashed: false },
  );
  const set = made.column === undefined ? fc.record({ enabled: flag }) : columnSet;
  return fc.oneof(
    { weight: 3, arbitrary: set.map((fields) => ({ match: made, set: fields })) },
    { weight: 1, arbitrary: fc.constant({ match: made, ignore: true }) },
  );
});

const mode = fc.constantFrom("ignore", "enable", "disable", "error");
const mapOf = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> =>
  fc.array(fc.tuple(name, value), { maxLength: 4 }).map((entries) => Object.fromEntries(entries));
const columnTree = record({ enabled: flag, hashed: flag });
const tableTree = record({ enabled: flag, columns: mapOf(columnTree) });
export const tree = mapOf(record({ enabled: flag, tables: mapOf(tableTree) }));
const spec: fc.Arbitrary<SchemaConfigSpec> = record({
  unmatched: record({ schemas: mode, tables: mode }),
  rules: fc.array(rule, { maxLength: 6 }),
  schemas: tree,
}) as fc.Arbitrary<SchemaConfigSpec>;
export const layers = fc.array(spec, { minLength: 1, maxLength: 3 });

/** Layers whose rules use sets, which use each other. */
export const withSets: fc.Arbitrary<readonly [readonly SchemaConfigSpec[], Sets]> = fc
  .tuple(layers, fc.array(rule, { maxLength: 3 }), fc.array(rule, { maxLength: 3 }), fc.array(fc.nat(), { maxLength: 6 }))
  .map(([specs, inner, outer, places]) => {
    const put = (rules: readonly SchemaRule[], use: string, at: number): readonly SchemaRule[] =>
      rules.toSpliced(at % (rules.length + 1), 0, { use });
    const sets = { inner, outer: put(outer, "inner", places[0] ?? 0) };
    const used = specs.map((one, index) => {
      const at = places[index + 1];
      return at === undefined ? one : { ...one, rules: put(one.rules ?? [], at % 2 === 0 ? "inner" : "outer", at) };
    });
    return [used, sets];
  });

const liveColumn = fc
  .record({ enabled: flag, hashed: flag, isPrimaryKey: fc.constantFrom(true, false, undefined) })
  .map(({ isPrimaryKey, ...rest }): LiveColumn => {
    const { isPrimaryKey: _untold, ...core } = column();
    return { ...core, ...rest, ...(isPrimaryKey === undefined ? {} : { isPrimaryKey }) };
  });
const liveTable = fc
  .record({
    enabled: flag,
    columns: fc.option(mapOf(liveColumn), { nil: undefined, freq: 8 }),
    syncMode: fc.constantFrom("full", "incremental"),
    cursorField: sparse(name),
  })
  .map(
    ({ columns, cursorField, ...rest }): LiveTable => table(columns, { ...rest, ...(cursorField === undefined ? {} : { cursorField }) }),
  );
const tree2 = mapOf(fc.record({ enabled: flag, tables: mapOf(liveTable) }).map(({ enabled, tables }) => schema(tables, { enabled })));
export const live: fc.Arbitrary<LiveSchemas> = tree2;

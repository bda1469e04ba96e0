import { byText } from "../model/address.ts";
import { getOrAdd } from "../model/maps.ts";

/** Columns by schema and table. */
export type Tables = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;

/** Columns that the same integrations have. */
export interface ColumnGroup {
  readonly integrations: readonly string[];
  readonly tables: Tables;
}

/** The integrations that have the same columns in a table, by their positions. */
interface Shape {
  readonly columns: ReadonlySet<string>;
  readonly integrations: number[];
}

interface Draft {
  readonly positions: readonly number[];
  readonly tables: Map<string, Map<string, Set<string>>>;
}

/**
 * The columns of all integrations, without repetition: each column is in one group, with all
 * integrations that have it. Equal integrations share one group, and an integration that has more
 * columns is also in a second one. Sorted by integrations; tables and columns are not.
 */
export function groupColumns(byIntegration: ReadonlyMap<string, Tables>): readonly ColumnGroup[] {
  const names = [...byIntegration.keys()].sort(byText);
  const drafts = new Map<string, Draft>();
  const add = (positions: readonly number[], path: readonly [schema: string, table: string], columns: Iterable<string>): void => {
    const key = positions.join();
    const draft = getOrAdd(drafts, key, () => ({ positions, tables: new Map() }));
    const into = getOrAdd(getOrAdd(draft.tables, path[0], newMap), path[1], newSet);
    for (const column of columns) into.add(column);
  };
  for (const [schema, tables] of shapesOf(names, byIntegration))
    for (const [table, shapes] of tables) {
      const [only, another] = shapes;
      if (only !== undefined && another === undefined) add(only.integrations, [schema, table], only.columns);
      else for (const [column, positions] of byColumn(shapes)) add(positions, [schema, table], [column]);
    }
  return [...drafts.values()]
    .sort((a, b) => comparePositions(a.positions, b.positions))
    .map(({ positions, tables }) => ({ integrations: positions.map((position) => names[position] ?? ""), tables }));
}

const newMap = <K, V>(): Map<K, V> => new Map();
const newSet = (): Set<string> => new Set();

/** By schema and table, the different sets of columns. */
function shapesOf(
  names: readonly string[],
  byIntegration: ReadonlyMap<string, Tables>,
): ReadonlyMap<string, ReadonlyMap<string, readonly Shape[]>> {
  const found = new Map<string, Map<string, Map<string, Shape>>>();
  // Most integrations share the sets of others, so most keys are known.
  const keys = new Map<ReadonlySet<string>, string>();
  const keyOf = (columns: ReadonlySet<string>): string => getOrAdd(keys, columns, () => JSON.stringify([...columns].sort()));
  for (const [position, name] of names.entries())
    for (const [schema, tables] of byIntegration.get(name) ?? [])
      for (const [table, columns] of tables) {
        if (columns.size === 0) continue;
        const shapes = getOrAdd(getOrAdd(found, schema, newMap<string, Map<string, Shape>>), table, newMap<string, Shape>);
        getOrAdd(shapes, keyOf(columns), (): Shape => ({ columns, integrations: [] })).integrations.push(position);
      }
  return new Map(
    [...found].map(([schema, tables]) => [schema, new Map([...tables].map(([table, shapes]) => [table, [...shapes.values()]]))]),
  );
}

function byColumn(shapes: readonly Shape[]): ReadonlyMap<string, readonly number[]> {
  const found = new Map<string, number[]>();
  for (const { columns, integrations } of shapes)
    for (const column of columns) for (const position of integrations) getOrAdd(found, column, (): number[] => []).push(position);
  for (const positions of found.values()) positions.sort((a, b) => a - b);
  return found;
}

/** By the first integration that differs; a longer list first. */
function comparePositions(a: readonly number[], b: readonly number[]): number {
  for (let index = 0; index < Math.min(a.length, b.length); index++) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return b.length - a.length;
}

/** The columns of each integration of the groups. Integrations that are in the same groups share one value. */
export function tablesByIntegration(groups: readonly ColumnGroup[]): ReadonlyMap<string, Tables> {
  const positions = new Map<string, number[]>();
  for (const [position, { integrations }] of groups.entries())
    for (const name of integrations) getOrAdd(positions, name, (): number[] => []).push(position);
  const known = new Map<string, Tables>();
  return new Map(
    [...positions].map(([name, of]) => [
      name,
      getOrAdd(known, of.join(), () => union(of.flatMap((position) => groups[position]?.tables ?? []))),
    ]),
  );
}

/** The columns of all; one alone stays as it is. */
function union(all: readonly Tables[]): Tables {
  const [only, another] = all;
  if (only !== undefined && another === undefined) return only;
  const found = new Map<string, Map<string, Set<string>>>();
  for (const schemas of all)
    for (const [schema, tables] of schemas)
      for (const [table, columns] of tables) {
        const into = getOrAdd(getOrAdd(found, schema, newMap<string, Set<string>>), table, newSet);
        for (const column of columns) into.add(column);
      }
  return found;
}

import { byText } from "../model/address.ts";
import type { GoneColumn, SeenColumns, SeenGroup } from "../model/columns.ts";
import { emptyRecord } from "../model/json/json.ts";
import { getOrAdd } from "../model/maps.ts";

/** The columns in the records, for looking up. */
export interface RecordedColumns {
  /** Undefined if no run has recorded the integration. */
  readonly tables: (liveId: string) => Tables | undefined;
  /** ISO 8601: the column was added after this time, if that is known. */
  readonly since: (liveId: string, column: Pick<GoneColumn, "schema" | "table" | "column">) => string | undefined;
}

export function columnsSeen(seen: SeenColumns | undefined): RecordedColumns {
  const byAfter = partsOf(seen);
  const whole = tablesByIntegration(byAfter.flatMap(({ groups }) => groups));
  return {
    tables: (liveId) => whole.get(liveId),
    since(liveId, { schema, table, column }) {
      if (!whole.has(liveId)) return undefined;
      const part = byAfter.find(({ tables }) => tables.get(liveId)?.get(schema)?.get(table)?.has(column) === true);
      return part === undefined ? seen?.at : part.after;
    },
  };
}

/** The columns that one recording saw first. */
interface Part {
  readonly after: string | undefined;
  readonly groups: readonly ColumnGroup[];
  readonly tables: ReadonlyMap<string, Tables>;
}

function partsOf(seen: SeenColumns | undefined): readonly Part[] {
  const groups = new Map<string | undefined, ColumnGroup[]>();
  for (const { integrations, after, schemas } of seen?.groups ?? []) {
    getOrAdd(groups, after, () => []).push({ integrations, tables: tablesIn(schemas) });
  }
  return [...groups].map(([after, of]) => ({ after, groups: of, tables: tablesByIntegration(of) }));
}

const tablesIn = (schemas: SeenGroup["schemas"]): Tables =>
  new Map(
    Object.entries(schemas).map(([schema, tables]) => [
      schema,
      new Map(Object.entries(tables).map(([table, columns]) => [table, new Set(columns)])),
    ]),
  );

/**
 * The columns as they are now, for the records. A column that the records have keeps its date; one that
 * they lack, in an integration that they have, was added after they were written.
 */
export function recordedGroups(seen: SeenColumns | undefined, now: ReadonlyMap<string, Tables>): readonly SeenGroup[] {
  const records = columnsSeen(seen);
  const byDate = new Map<string | undefined, Map<string, Tables>>();
  const add = (after: string | undefined, liveId: string, tables: Tables): void => {
    getOrAdd(byDate, after, () => new Map<string, Tables>()).set(liveId, tables);
  };
  for (const { after, tables } of partsOf(seen))
    for (const [liveId, known] of tables) {
      const live = now.get(liveId);
      add(after, liveId, live === undefined ? known : filtered(known, ([schema, table, column]) => has(live, schema, table, column)));
    }
  for (const [liveId, live] of now) {
    const known = records.tables(liveId);
    if (known === undefined) add(undefined, liveId, live);
    else {
      const added = filtered(live, ([schema, table, column]) => !has(known, schema, table, column));
      if (added.size > 0) add(seen?.at, liveId, added);
    }
  }
  return [...byDate]
    .sort(([a = ""], [b = ""]) => byText(a, b))
    .flatMap(([after, dated]) =>
      groupColumns(dated).map(({ integrations, tables }) => ({
        integrations,
        ...(after === undefined ? {} : { after }),
        schemas: jsonOf(tables),
      })),
    );
}

const has = (tables: Tables, schema: string, table: string, column: string): boolean =>
  tables.get(schema)?.get(table)?.has(column) === true;

/** The columns for which `test` holds. A set that loses none stays the same value. */
function filtered(tables: Tables, test: (path: readonly [schema: string, table: string, column: string]) => boolean): Tables {
  const found = new Map<string, Map<string, ReadonlySet<string>>>();
  for (const [schema, ofSchema] of tables)
    for (const [table, columns] of ofSchema) {
      const kept = [...columns].filter((column) => test([schema, table, column]));
      if (kept.length === 0) continue;
      getOrAdd(found, schema, () => new Map()).set(table, kept.length === columns.size ? columns : new Set(kept));
    }
  return found;
}

function jsonOf(tables: Tables): SeenGroup["schemas"] {
  const schemas = emptyRecord<Readonly<Record<string, readonly string[]>>>();
  for (const [schema, ofSchema] of [...tables].sort(byKey)) {
    const record = emptyRecord<readonly string[]>();
    for (const [table, columns] of [...ofSchema].sort(byKey)) record[table] = [...columns].sort(byText);
    schemas[schema] = record;
  }
  return schemas;
}

const byKey = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => byText(a, b);

/** Columns by schema and table. */
export type Tables = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;

/** Columns that the same integrations have. */
interface ColumnGroup {
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
function groupColumns(byIntegration: ReadonlyMap<string, Tables>): readonly ColumnGroup[] {
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
function tablesByIntegration(groups: readonly ColumnGroup[]): ReadonlyMap<string, Tables> {
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

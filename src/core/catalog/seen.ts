import { byText } from "../model/address.ts";
import type { GoneColumn, SeenColumns, SeenGroup } from "../model/columns.ts";
import { emptyRecord } from "../model/json/json.ts";
import { getOrAdd } from "../model/maps.ts";
import { type ColumnGroup, groupColumns, type Tables, tablesByIntegration } from "./groups.ts";

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

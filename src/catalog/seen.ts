import type { GoneColumn, SeenColumns, SeenGroup } from "../model/columns.ts";
import { type ColumnGroup, type Tables, tablesByIntegration } from "./groups.ts";

/** The columns in the records, for looking up. */
export interface RecordedColumns {
  /** Undefined if no run has recorded the integration. */
  readonly tables: (liveId: string) => Tables | undefined;
  /** ISO 8601: the column was added after this time, if that is known. */
  readonly since: (liveId: string, column: Omit<GoneColumn, "address">) => string | undefined;
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
    const list = groups.get(after) ?? [];
    groups.set(after, list);
    list.push({ integrations, tables: tablesIn(schemas) });
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

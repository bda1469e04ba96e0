import type { ColumnReview, ReviewedIntegration, ReviewedUnit, SeenColumns, TableColumns } from "../model/columns.ts";
import type { LiveColumn, LiveSchemas } from "../model/live.ts";
import { type ColumnGroup, type Tables, tablesByIntegration } from "./groups.ts";
import { columnsSeen, recordedGroups } from "./seen.ts";

export interface ReviewOptions {
  /** The groups of the catalog file for the target; undefined without a catalog file. */
  readonly reviewed: readonly ColumnGroup[] | undefined;
  /** What runs have recorded, if anything. */
  readonly seen: SeenColumns | undefined;
}

/** A review that also keeps the columns that it has compared. */
export interface KeepingReview extends ColumnReview {
  /**
   * The columns of the compared integrations as they are, by name. Tables whose columns are not known
   * keep the columns that they are compared with.
   */
  readonly compared: () => ReadonlyMap<string, Tables>;
}

const none: Tables = new Map();

/**
 * Compares columns with the catalog file or, without one, with those that earlier runs recorded. Nearly
 * all tables of a fleet have a known shape, so comparing one costs one look-up for each column.
 */
export function newReview({ reviewed, seen }: ReviewOptions): KeepingReview {
  const records = columnsSeen(seen);
  const byName = tablesByIntegration(reviewed ?? []);
  const knownOf = ({ name, liveId }: ReviewedIntegration): Tables | undefined =>
    reviewed === undefined ? records.tables(liveId) : (byName.get(name) ?? none);
  const kept: { readonly integration: ReviewedIntegration; readonly tables: Tables }[] = [];
  const intern = newIntern();
  return {
    hasFile: reviewed !== undefined,
    compare(integration, live) {
      const known = knownOf(integration);
      const { tables, ...difference } = compareTables(known ?? none, live, intern);
      kept.push({ integration, tables });
      // Of an integration that no run has recorded, nothing is new.
      return known === undefined ? { added: [], gone: [] } : difference;
    },
    seen: () => recordedGroups(seen, new Map(kept.map(({ integration, tables }) => [integration.liveId, tables]))),
    since: ({ liveId }, column) => records.since(liveId, column),
    compared: () => new Map(kept.map(({ integration, tables }) => [integration.name, tables])),
  };
}

type Columns = ReadonlySet<string>;

/** Returns one value for equal sets, because most integrations of a fleet are equal. */
type Intern = (columns: Readonly<Record<string, LiveColumn>>) => Columns;

function newIntern(): Intern {
  const known = new Map<string, Columns>();
  return (columns) => {
    const names = Object.keys(columns);
    const key = JSON.stringify(names);
    const set = known.get(key) ?? new Set(names);
    known.set(key, set);
    return set;
  };
}

function compareTables(known: Tables, live: LiveSchemas, intern: Intern): ReviewedUnit & { readonly tables: Tables } {
  const added: TableColumns[] = [];
  const gone: TableColumns[] = [];
  const found = new Map<string, ReadonlyMap<string, Columns>>();
  for (const schema of Object.keys(live)) {
    const { tables = {} } = live[schema] ?? {};
    const knownTables = known.get(schema);
    const ofSchema = new Map<string, Columns>();
    found.set(schema, ofSchema);
    for (const table of Object.keys(tables)) {
      const columns = tables[table]?.columns;
      const before = knownTables?.get(table);
      if (columns === undefined || (before !== undefined && hasExactly(columns, before))) {
        if (before !== undefined) ofSchema.set(table, before);
        continue;
      }
      ofSchema.set(table, intern(columns));
      append(added, { schema, table, columns: Object.keys(columns).filter((name) => before?.has(name) !== true) });
      append(gone, { schema, table, columns: [...(before ?? [])].filter((name) => !Object.hasOwn(columns, name)) });
    }
  }
  for (const [schema, tables] of known)
    for (const [table, columns] of tables)
      if (found.get(schema)?.has(table) !== true) append(gone, { schema, table, columns: [...columns] });
  return { added, gone, tables: found };
}

function append(list: TableColumns[], one: TableColumns): void {
  if (one.columns.length > 0) list.push(one);
}

function hasExactly(columns: Readonly<Record<string, LiveColumn>>, known: Columns): boolean {
  let count = 0;
  // Responses are plain JSON and inherit nothing that could be listed here; this form of loop is the fastest.
  for (const name in columns) {
    if (!known.has(name)) return false;
    count++;
  }
  return count === known.size;
}

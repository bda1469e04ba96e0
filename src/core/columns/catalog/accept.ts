import { getOrAdd } from "../../base/model/maps.ts";
import type { Tables } from "./blocks.ts";
import { catalogText, type ReviewedById, type ReviewedIntegrationColumns } from "./blocks.ts";

/** What of the live columns is accepted. */
export interface Acceptance {
  /** The integrations that were read, by id. */
  readonly live: ReviewedById;
  readonly selects: (id: string) => boolean;
  /** Of the columns of an integration that is selected. */
  readonly includes: (path: ColumnPath) => boolean;
  /** Whether the catalog keeps an integration that was not read. */
  readonly keeps: (id: string) => boolean;
  /** The names that integrations have now, by id. */
  readonly names: ReadonlyMap<string, string>;
}

type ColumnPath = readonly [schema: string, table: string, column: string];

interface AcceptedColumns {
  readonly text: string;
  /** Columns that the catalog has now and did not have before, and vice versa. */
  readonly accepted: number;
  readonly removed: number;
  /** Integrations whose name in the catalog changes. */
  readonly renamed: number;
  /** Integrations that the catalog did not have: all of their columns are accepted. */
  readonly added: readonly string[];
}

/**
 * The catalog with the live columns that are accepted, and without the accepted ones that are gone. An integration that the
 * catalog does not have is accepted whole, and with the first integration the whole target: an entry with some of the columns would
 * make all others new.
 */
export function acceptColumns(reviewed: ReviewedById, acceptance: Acceptance): AcceptedColumns {
  const { live, includes, keeps, names } = acceptance;
  const selects = reviewed.size === 0 ? () => true : acceptance.selects;
  const after = new Map<string, ReviewedIntegrationColumns>();
  const added: string[] = [];
  let [accepted, removed, renamed] = [0, 0, 0];
  for (const id of new Set([...reviewed.keys(), ...live.keys()])) {
    const [known, now] = [reviewed.get(id), live.get(id)];
    const name = names.get(id) ?? now?.name ?? known?.name ?? "";
    if (now === undefined || !selects(id)) {
      const keptAsItIs = known !== undefined && (now !== undefined || keeps(id));
      if (keptAsItIs) after.set(id, { name, tables: known.tables });
      else removed += columnsIn(known?.tables);
    } else {
      const merged = known === undefined ? whole(now.tables) : mergeTables(known.tables, now.tables, includes);
      accepted += merged.accepted;
      removed += merged.removed;
      after.set(id, { name, tables: merged.tables });
      if (known === undefined) added.push(id);
    }
    if (known !== undefined && after.has(id) && known.name !== name) renamed++;
  }
  return { text: catalogText(after), accepted, removed, renamed, added };
}

const whole = (tables: Tables): Merged => ({ tables, accepted: columnsIn(tables), removed: 0 });

const columnsIn = (tables: Tables = new Map()): number =>
  [...tables.values()].reduce((sum, ofSchema) => [...ofSchema.values()].reduce((of, columns) => of + columns.size, sum), 0);

interface Merged {
  readonly tables: Tables;
  readonly accepted: number;
  readonly removed: number;
}

const none: ReadonlySet<string> = new Set();

function mergeTables(known: Tables, now: Tables, includes: (path: ColumnPath) => boolean): Merged {
  const tables = new Map<string, Map<string, ReadonlySet<string>>>();
  let [accepted, removed] = [0, 0];
  for (const schema of new Set([...known.keys(), ...now.keys()])) {
    const [knownTables, nowTables] = [known.get(schema), now.get(schema)];
    for (const table of new Set([...(knownTables?.keys() ?? []), ...(nowTables?.keys() ?? [])])) {
      const [before, live] = [knownTables?.get(table) ?? none, nowTables?.get(table) ?? none];
      const kept = [...before].filter((column) => live.has(column) || !includes([schema, table, column]));
      const added = before === live ? [] : [...live].filter((column) => !before.has(column) && includes([schema, table, column]));
      removed += before.size - kept.length;
      accepted += added.length;
      // One value for all integrations with the same columns, if possible.
      const isLive = kept.length + added.length === live.size && kept.every((column) => live.has(column));
      const columns = isLive ? live : new Set([...kept, ...added]);
      if (columns.size > 0) getOrAdd(tables, schema, () => new Map()).set(table, columns);
    }
  }
  return { tables, accepted, removed };
}

import { byText, integrationOfSchemas } from "../model/address.ts";
import type { GoneColumn } from "../model/columns.ts";
import type { Catalog } from "./file.ts";
import { groupColumns, type Tables, tablesByIntegration } from "./groups.ts";
import { catalogPieces } from "./print.ts";

/** What of the live columns is accepted. */
export interface Acceptance {
  readonly target: string;
  /** The columns of the integrations that were read, by name in addresses. */
  readonly live: ReadonlyMap<string, Tables>;
  /** Whether the column of the integration is accepted. */
  readonly includes: (integration: string, path: ColumnPath) => boolean;
  /** Whether the catalog keeps an integration that was not read. */
  readonly keeps: (integration: string) => boolean;
}

type ColumnPath = readonly [schema: string, table: string, column: string];

export interface AcceptedColumns {
  readonly text: string;
  /** Columns that the catalog has now and did not have before, and vice versa. */
  readonly accepted: number;
  readonly removed: number;
}

/** The catalog with the live columns that are accepted, and without the accepted ones that are gone. */
export function acceptColumns(catalog: Catalog, { target, live, includes, keeps }: Acceptance): AcceptedColumns {
  const before = tablesByIntegration(catalog.get(target) ?? []);
  const after = new Map<string, Tables>();
  let [accepted, removed] = [0, 0];
  for (const name of [...new Set([...before.keys(), ...live.keys()])].sort(byText)) {
    const known = before.get(name) ?? new Map();
    const now = live.get(name);
    if (now === known || (now === undefined && keeps(name))) after.set(name, known);
    else {
      const merged = mergeTables(known, now ?? new Map(), (path) => includes(name, path));
      accepted += merged.accepted;
      removed += merged.removed;
      if (now !== undefined) after.set(name, merged.tables);
    }
  }
  const text = [...catalogPieces(new Map([...catalog, [target, groupColumns(after)]]))].join("");
  return { text, accepted, removed };
}

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
      if (columns.size > 0) tables.set(schema, (tables.get(schema) ?? new Map<string, ReadonlySet<string>>()).set(table, columns));
    }
  }
  return { tables, accepted, removed };
}

/** The same for lists of new and gone columns, as a report has them. Columns of each list have the address of their integration. */
export function acceptListed(
  catalog: Catalog,
  {
    target,
    newColumns,
    goneColumns,
  }: { readonly target: string; readonly newColumns: readonly GoneColumn[]; readonly goneColumns: readonly GoneColumn[] },
): AcceptedColumns {
  const live = new Map<string, Tables>(tablesByIntegration(catalog.get(target) ?? []));
  const change = ({ address, schema, table, column }: GoneColumn, how: "add" | "delete"): void => {
    const name = integrationOfSchemas(address) ?? address;
    const before = live.get(name) ?? new Map<string, ReadonlyMap<string, ReadonlySet<string>>>();
    const columns = new Set(before.get(schema)?.get(table));
    columns[how](column);
    live.set(name, new Map([...before, [schema, new Map([...(before.get(schema) ?? []), [table, columns]])]]));
  };
  for (const one of newColumns) change(one, "add");
  for (const one of goneColumns) change(one, "delete");
  return acceptColumns(catalog, { target, live, includes: () => true, keeps: () => true });
}

import { emptyRecord, own } from "../../model/json/json.ts";
import type { LiveSchemas, LiveTable } from "../../model/live.ts";
import { isReplicated, type TablePath, walk } from "../../model/schema-tree.ts";
import type { Reads } from "../../model/service.ts";

/** The schemas of one integration as they were read. */
export interface ObservedSchemas {
  readonly tree: LiveSchemas;
  /** How many tables had their columns read with a request of their own. */
  readonly columnReads: number;
  /** Those of them for which the service returned no columns (404). */
  readonly withoutColumns: readonly TablePath[];
}

/** A tree for which no columns were read table by table. */
export const observedAt = (tree: LiveSchemas): ObservedSchemas => ({ tree, columnReads: 0, withoutColumns: [] });

/** Reads the columns of some tables with one request each, and adds them to the tree. */
export async function withColumns(
  { id, tree }: { readonly id: string; readonly tree: LiveSchemas },
  tables: readonly TablePath[],
  reads: Reads,
): Promise<ObservedSchemas> {
  if (tables.length === 0) return observedAt(tree);
  const read = await Promise.all(tables.map(async (path) => ({ path, columns: await reads.columns(id, ...path) })));
  const schemas = Object.assign(emptyRecord<LiveSchemas[string]>(), tree);
  const copied = new Map<string, Record<string, LiveTable>>();
  for (const {
    path: [schema, table],
    columns,
  } of read) {
    const known = own(tree, schema);
    const entry = own(known?.tables, table);
    if (known === undefined || entry === undefined || columns === undefined) continue;
    const tablesAfter = copied.get(schema) ?? Object.assign(emptyRecord<LiveTable>(), known.tables);
    copied.set(schema, tablesAfter);
    tablesAfter[table] = { ...entry, columns };
    schemas[schema] = { ...known, tables: tablesAfter };
  }
  return {
    tree: schemas,
    columnReads: tables.length,
    withoutColumns: read.flatMap(({ path, columns }) => (columns === undefined ? [path] : [])),
  };
}

/** Names of tables. */
export type Tables = readonly (readonly [schema: string, table: string])[];

/**
 * An integration's schemas with the columns of every replicated table, and of the tables in
 * `further`: if the response has no columns (docs/service-interface.md), they are read table by
 * table. The columns of other tables stay unknown. Undefined: the integration is gone.
 */
export async function readSchemas(
  reads: Reads,
  id: string,
  further: (live: LiveSchemas) => Tables = () => [],
): Promise<LiveSchemas | undefined> {
  const live = await reads.schemas(id);
  if (live === undefined) return undefined;
  const hasNoColumns = (schema: string, table: string): boolean => {
    const entry = own(own(live, schema)?.tables, table);
    return entry !== undefined && entry.columns === undefined;
  };
  const replicated: TablePath[] = [];
  walk(live, {
    table(entry, path, schema) {
      if (entry.columns === undefined && isReplicated(schema, path[1])) replicated.push(path);
      return false;
    },
  });
  const others = further(live).filter(([name, table]) => {
    const schema = own(live, name);
    return schema !== undefined && hasNoColumns(name, table) && !isReplicated(schema, table);
  });
  const { tree } = await withColumns({ id, tree: live }, [...replicated, ...others], reads);
  return tree;
}

import { emptyRecord } from "../../base/model/json/json.ts";
import type { LiveSchemas, LiveTable } from "../../base/model/live.ts";
import { getOrAdd } from "../../base/model/maps.ts";
import { nodePointer } from "../../base/model/nodes.ts";
import { nodesAt, type TablePath } from "../../base/model/schema-tree.ts";
import type { Reads, SchemasRead } from "../../base/model/service.ts";
import { tablesWithoutColumns } from "./coverage.ts";

/** The schemas of one integration as they were read. */
export interface ObservedSchemas {
  readonly tree: LiveSchemas;
  /** How many tables had their columns read with a request of their own. */
  readonly columnReads: number;
  /** Those of them for which the service returned no columns (404). */
  readonly withoutColumns: readonly TablePath[];
  /** The entries of `tree` whose columns were read so. */
  readonly apart?: ReadonlySet<LiveTable>;
  /** Why the service has no schemas of the integration yet; then the tree is empty. */
  readonly notYet?: string;
  readonly unread?: SchemasRead["unread"];
}

/** A tree for which no columns were read table by table. */
export const observedAt = (tree: LiveSchemas): ObservedSchemas => ({ tree, columnReads: 0, withoutColumns: [] });

/** The schemas of an integration, with the columns of some tables. Undefined: the integration is gone. */
export async function readWithColumns(
  reads: Reads,
  id: string,
  tables: (tree: LiveSchemas) => readonly TablePath[],
): Promise<ObservedSchemas | undefined> {
  const read = await reads.schemas(id);
  if (read === undefined) return undefined;
  const { tree, notYet, unread = [] } = read;
  if (notYet !== undefined) return { ...observedAt(tree), notYet };
  if (unread.length === 0) return withColumns({ id, tree }, tables(tree), reads);
  const left = new Set(unread.map(({ path }) => nodePointer(path)));
  const readable = tables(tree).filter((path) => !left.has(nodePointer(path)));
  return { ...(await withColumns({ id, tree }, readable, reads)), unread };
}

/** The schemas of an integration, if all their tables can be read. Undefined: the integration is gone. @throws ServiceError */
export async function wholeSchemas(reads: Reads, id: string): Promise<LiveSchemas | undefined> {
  const read = await reads.schemas(id);
  for (const { failure } of read?.unread ?? []) throw failure;
  return read?.tree;
}

/** Reads the columns of some tables with one request each, and adds them to the tree. */
export async function withColumns(
  { id, tree }: { readonly id: string; readonly tree: LiveSchemas },
  tables: readonly TablePath[],
  reads: Reads,
): Promise<ObservedSchemas> {
  if (tables.length === 0) return observedAt(tree);
  const read = await Promise.all(tables.map(async (path) => ({ path, columns: await reads.columns(id, path[0], path[1]) })));
  const schemas = Object.assign(emptyRecord<LiveSchemas[string]>(), tree);
  const copied = new Map<string, Record<string, LiveTable>>();
  const apart = new Set<LiveTable>();
  for (const { path, columns } of read) {
    const [schema, table] = path;
    const { schema: known, table: entry } = nodesAt(tree, path);
    if (known === undefined || entry === undefined || columns === undefined) continue;
    const tablesAfter = getOrAdd(copied, schema, () => Object.assign(emptyRecord<LiveTable>(), known.tables));
    const whole = { ...entry, columns };
    apart.add(whole);
    tablesAfter[table] = whole;
    schemas[schema] = { ...known, tables: tablesAfter };
  }
  return {
    tree: schemas,
    columnReads: tables.length,
    apart,
    withoutColumns: read.flatMap(({ path, columns }) => (columns === undefined ? [path] : [])),
  };
}

/** Whether the service shows the table, and not its columns. */
export function hasUnknownColumns(live: LiveSchemas, path: TablePath): boolean {
  const { table } = nodesAt(live, path);
  return table !== undefined && table.columns === undefined;
}

/**
 * An integration's schemas with the columns of every replicated table, and of the tables in
 * `further`: if the response has no columns (docs/service-interface.md), they are read table by
 * table. The columns of other tables stay unknown. Undefined: the integration is gone.
 */
export async function readSchemas(
  reads: Reads,
  id: string,
  further: (live: LiveSchemas) => readonly TablePath[] = () => [],
): Promise<LiveSchemas | undefined> {
  const tree = await wholeSchemas(reads, id);
  if (tree === undefined) return undefined;
  const others = new Set(further(tree).map((path) => nodePointer(path)));
  const tables = tablesWithoutColumns(tree, ({ path, now }) => now.replicated !== false || others.has(nodePointer(path)));
  return (await withColumns({ id, tree }, tables, reads)).tree;
}

import { lists } from "../../kinds/index.ts";
import type { AccountView } from "../../kinds/kind.ts";
import { withColumns } from "../../kinds/schema-config/index.ts";
import { type TablePath, walk } from "../../kinds/schema-config/tree.ts";
import type { Project } from "../../manifests/project.ts";
import { own } from "../../model/json/json.ts";
import type { LiveSchema, LiveSchemas } from "../../model/live.ts";
import type { List, Listed, Reads } from "../../model/service.ts";
import { type KnownRecords, observeAccount } from "../observe.ts";
import { ignoring } from "../scope.ts";
import type { RunReads } from "./cached-reads.ts";

/**
 * The whole account: every list, whether or not a manifest needs it, and each manifest's live
 * object. `today` is a day, YYYY-MM-DD. `suspicions` are sentences about lists that may be
 * incomplete. Throws ServiceError.
 */
export async function readAccount(
  project: Project,
  records: KnownRecords,
  { reads, today }: { readonly reads: RunReads; readonly today: string },
): Promise<{ readonly account: AccountView; readonly suspicions: readonly string[] }> {
  const { resources, settings } = project;
  // A list that can't be read ends the command here; observeAccount would only report it.
  await Promise.all(lists.map((list) => reads.list(list)));
  const { account, suspicions } = await observeAccount({
    project,
    compared: resources,
    records,
    reads,
    ignored: ignoring(settings.ignore, today).ignored,
    alsoNeeded: lists,
  });
  return { account, suspicions };
}

/** The objects with what only GET of a single one returns. */
export const readWhole = <T extends Listed>(reads: Reads, list: List<T>, items: readonly T[]): Promise<readonly T[]> =>
  Promise.all(list.brief === undefined ? items : items.map(async (item) => (await reads.one(list, item.id)) ?? item));

/** Names of tables. */
export type Tables = readonly (readonly [schema: string, table: string])[];

/** Whether the table and its schema are enabled, so that its enabled columns are replicated. */
export const isReplicated = (schema: LiveSchema, table: string): boolean => schema.enabled && own(schema.tables, table)?.enabled === true;

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

/** The result of reading for an item, or why the read failed. */
export type ReadAhead<Item, Read> = { readonly item: Item; readonly read: Read } | { readonly item: Item; readonly error: unknown };

/** Reads for each item, in order, at most `ahead` items before the one in use: no more results are held in memory. */
export async function* readAhead<Item, Read>(
  items: readonly Item[],
  ahead: number,
  read: (item: Item) => Promise<Read>,
): AsyncGenerator<ReadAhead<Item, Read>> {
  const pending = new Map<number, Promise<ReadAhead<Item, Read>>>();
  const start = (index: number): void => {
    const item = items[index];
    if (item === undefined) return;
    const outcome = read(item).then(
      (value) => ({ item, read: value }),
      (error: unknown) => ({ item, error }),
    );
    pending.set(index, outcome);
  };
  for (let index = 0; index < ahead; index++) start(index);
  for (let index = 0; index < items.length; index++) {
    start(index + ahead);
    const outcome = await pending.get(index);
    pending.delete(index);
    if (outcome !== undefined) yield outcome;
  }
}

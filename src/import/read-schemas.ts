import { withColumns } from "../kinds/schema-config/index.ts";
import { own } from "../model/json.ts";
import type { LiveSchemas } from "../model/live.ts";
import type { Reads } from "../model/service.ts";
import { flows } from "./column-profile.ts";

/** Names of tables. */
export type Tables = readonly (readonly [schema: string, table: string])[];

/**
 * An integration's schemas with the columns of every table that replicates: where the answer leaves columns out (interface §4.3, the snake_case form),
 * they are read table by table, and so are those of tables that `further` names, such as those that a plan looks into. Other tables keep unknown
 * columns. Undefined: the integration is gone.
 */
export async function readSchemas(
  reads: Reads,
  id: string,
  further: (live: LiveSchemas) => Tables = () => [],
): Promise<LiveSchemas | undefined> {
  const live = await reads.schemas(id);
  if (live === undefined) return undefined;
  const isBlind = (schema: string, table: string): boolean => {
    const entry = own(own(live, schema)?.tables, table);
    return entry !== undefined && entry.columns === undefined;
  };
  const replicating = Object.entries(live).flatMap(([name, schema]) =>
    Object.keys(schema.tables).flatMap((table) => (flows(schema, table) && isBlind(name, table) ? [[name, table] as const] : [])),
  );
  const more = further(live).filter(([name, table]) => {
    const schema = own(live, name);
    return schema !== undefined && isBlind(name, table) && !flows(schema, table);
  });
  return withColumns(id, live, [...replicating, ...more], reads);
}

/** What was read for an item, or why it could not be. */
export type ReadAhead<Item, Read> = { readonly item: Item; readonly read: Read } | { readonly item: Item; readonly error: unknown };

/** Reads for each item, in the order of the items, at most `ahead` further ones at a time: no more than those are ever held. */
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

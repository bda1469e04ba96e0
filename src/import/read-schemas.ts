import { emptyRecord, own } from "../model/json.ts";
import type { LiveSchema, LiveSchemas, LiveTable } from "../model/live.ts";
import type { Reads } from "../model/service.ts";

/**
 * An integration's schemas with the columns of every table that replicates: where the answer leaves columns out (interface §4.3, the snake_case form),
 * they are read table by table. Tables that are off keep unknown columns. Undefined: the integration is gone.
 */
export async function readSchemas(reads: Pick<Reads, "schemas" | "columns">, id: string): Promise<LiveSchemas | undefined> {
  const live = await reads.schemas(id);
  if (live === undefined) return undefined;
  const schemas = emptyRecord<LiveSchema>();
  let isWhole = true;
  for (const name of Object.keys(live)) {
    const schema = own(live, name);
    if (schema === undefined) continue;
    const blind = schema.enabled ? Object.keys(schema.tables).filter((table) => isBlind(own(schema.tables, table))) : [];
    if (blind.length === 0) {
      schemas[name] = schema;
      continue;
    }
    isWhole = false;
    const read = await Promise.all(blind.map(async (table) => [table, await reads.columns(id, name, table)] as const));
    const tables = Object.assign(emptyRecord<LiveTable>(), schema.tables);
    for (const [table, columns] of read) {
      const known = own(tables, table);
      if (known !== undefined && columns !== undefined) tables[table] = { ...known, columns };
    }
    schemas[name] = { ...schema, tables };
  }
  return isWhole ? live : schemas;
}

const isBlind = (table: LiveTable | undefined): boolean => table?.enabled === true && table.columns === undefined;

import { byText } from "../../model/address.ts";
import { emptyRecord, own } from "../../model/json/json.ts";
import type { LiveSchema, LiveSchemas, LiveTable } from "../../model/live.ts";
import type { ColumnTree, SchemaTree } from "../../model/resource.ts";

export type WritableTables = Record<string, { readonly enabled?: boolean; readonly columns?: Readonly<Record<string, ColumnTree>> }>;
export interface WritableSchema {
  readonly enabled?: boolean;
  readonly tables?: WritableTables;
}

/** The live state of all nodes as a literal tree, by name. */
export function literalSchemas(live: LiveSchemas): SchemaTree {
  const tree = emptyRecord<WritableSchema>();
  for (const name of Object.keys(live).sort(byText)) {
    const schema = own(live, name);
    if (schema !== undefined) tree[name] = literalSchema(schema);
  }
  return tree;
}

export function literalSchema(schema: LiveSchema): WritableSchema {
  const tables: WritableTables = emptyRecord();
  for (const [name, table] of sortedTables(schema)) {
    const columns = emptyRecord<ColumnTree>();
    for (const column of Object.keys(table.columns ?? {}).sort(byText)) {
      const live = own(table.columns, column);
      if (live !== undefined) columns[column] = { enabled: live.enabled, hashed: live.hashed };
    }
    tables[name] = { enabled: table.enabled, ...(Object.keys(columns).length === 0 ? {} : { columns }) };
  }
  return { enabled: schema.enabled, ...(Object.keys(tables).length === 0 ? {} : { tables }) };
}

/** The tables by name. */
export function sortedTables({ tables }: LiveSchema): readonly (readonly [name: string, table: LiveTable])[] {
  return Object.entries(tables).sort(([a], [b]) => byText(a, b));
}

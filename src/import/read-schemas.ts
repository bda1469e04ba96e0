import { withColumns } from "../kinds/schema-config/index.ts";
import { own } from "../model/json.ts";
import type { LiveSchemas } from "../model/live.ts";
import type { Reads } from "../model/service.ts";
import { flows } from "./column-states.ts";

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

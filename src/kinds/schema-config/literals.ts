import { own } from "../../model/json.ts";
import type { ColumnTree, SchemaTree, TableTree } from "../../model/resource.ts";
import type { Layer } from "./program.ts";

// The literal trees of all layers side by side while a walk goes down. Undefined instead of a list of nothing: most places have no literal.

type SchemaEntry = SchemaTree[string];

function anyOf<T>(entries: readonly (T | undefined)[]): readonly (T | undefined)[] | undefined {
  return entries.some((entry) => entry !== undefined) ? entries : undefined;
}

export const literalSchemas = (layers: readonly Layer[], schema: string): readonly (SchemaEntry | undefined)[] | undefined =>
  anyOf(layers.map(({ config }) => own(config.spec.schemas, schema)));

export const literalTables = (
  schemas: readonly (SchemaEntry | undefined)[] | undefined,
  table: string,
): readonly (TableTree | undefined)[] | undefined => schemas && anyOf(schemas.map((entry) => own(entry?.tables, table)));

/** The maps of columns; a map that is there and empty counts as none. */
export const literalColumnMaps = (
  tables: readonly (TableTree | undefined)[] | undefined,
): readonly (Readonly<Record<string, ColumnTree>> | undefined)[] | undefined =>
  tables &&
  anyOf(tables.map((entry) => (entry?.columns === undefined || Object.keys(entry.columns).length === 0 ? undefined : entry.columns)));

/** What each layer's literal tree says of the column, in a list that is used again for the next one. */
export function literalColumns(
  maps: readonly (Readonly<Record<string, ColumnTree>> | undefined)[],
  column: string,
  into: (ColumnTree | undefined)[],
): readonly (ColumnTree | undefined)[] | undefined {
  let any = false;
  for (let layer = 0; layer < maps.length; layer++) {
    const entry = memberOf(maps[layer], column);
    into[layer] = entry;
    any ||= entry !== undefined;
  }
  return any ? into : undefined;
}

/** The same as `own`, in half the time: entries are objects, and what objects inherit are functions, but for `__proto__`. */
export function memberOf<T extends object>(map: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  const member: unknown = map?.[name];
  if (member === undefined) return undefined;
  return typeof member === "object" && name !== "__proto__" ? (member as T) : own(map, name);
}

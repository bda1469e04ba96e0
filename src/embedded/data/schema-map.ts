import { invalid } from "../http/call.ts";
import type { ColumnEntry, SchemaEntry, SchemaMap, TableEntry } from "./account.ts";
import { isObject, type JsonObject, mapValues, own } from "./own.ts";

/** The snake_case form of GET schemas, which has no columns (docs/service-interface.md#schema-configuration). */
export function snakeForm(schemas: SchemaMap): object {
  return mapValues(schemas, (schema) => ({
    name_in_destination: schema.nameInDestination,
    enabled: schema.enabled,
    tables: mapValues(schema.tables, (table) => ({
      name_in_destination: table.nameInDestination,
      enabled: table.enabled,
      sync_mode: table.syncMode,
      ...(table.cursorField === undefined ? {} : { cursor_field: table.cursorField }),
    })),
  }));
}

/**
 * Applies the `schemas` of a PATCH body to the map (docs/service-interface.md#schema-configuration): named nodes only, named members only. Everything is checked before
 * anything changes. Throws a 400 for an unknown schema, table or column and for a value of the wrong type; members that the interface
 * does not list are ignored.
 */
export function mergeSchemas(live: SchemaMap, patch: unknown): void {
  const changes: (() => void)[] = [];
  for (const [name, schema, change] of named(live, patch, "schemas")) {
    changes.push(...flags(schema, change, ["enabled"], name));
    for (const [tableName, table, tableChange] of named(schema.tables, change["tables"], `${name}/tables`)) {
      changes.push(...flags(table, tableChange, ["enabled"], `${name}/${tableName}`));
      for (const [columnName, column, columnChange] of named(table.columns, tableChange["columns"], `${name}/${tableName}/columns`)) {
        changes.push(...flags(column, columnChange, ["enabled", "hashed"], `${name}/${tableName}/${columnName}`));
      }
    }
  }
  for (const change of changes) change();
}

/** Pairs each named node of the patch with the live one. An absent patch contains none. */
function* named<T extends SchemaEntry | TableEntry | ColumnEntry>(
  live: Readonly<Record<string, T>>,
  patch: unknown,
  where: string,
): Generator<readonly [string, T, JsonObject]> {
  if (patch === undefined) return;
  if (!isObject(patch)) throw invalid(`${where} must be an object.`);
  for (const [name, change] of Object.entries(patch)) {
    const node = own(live, name);
    if (node === undefined) throw invalid(`${where} has no ${JSON.stringify(name)}.`);
    if (!isObject(change)) throw invalid(`${where}/${name} must be an object.`);
    yield [name, node, change];
  }
}

function flags<F extends string>(node: { [K in F]: boolean }, change: JsonObject, names: readonly F[], where: string): (() => void)[] {
  return names.flatMap((name) => {
    const value = own(change, name);
    if (value === undefined) return [];
    if (typeof value !== "boolean") throw invalid(`${where}: ${name} must be true or false.`);
    return [
      () => {
        node[name] = value;
      },
    ];
  });
}

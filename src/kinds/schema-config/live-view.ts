import { isObject } from "../../model/json/json.ts";
import { urlPath } from "../../model/json/pointer.ts";
import type { LiveView } from "../kind.ts";
import { kindNames } from "../manifests.ts";

export const liveView: LiveView = {
  one: { path: (id) => urlPath(["v1", "integrations", id, "schemas"]), read: (id, reads) => reads.schemas(id) },
  idOf: kindNames.integration,
  columns: ["schema", "table", "column", "enabled", "hashed", "isPrimaryKey", "syncMode", "cursorField", "nameInDestination"],
  rows: columnRows,
};

/**
 * Each schema, its tables and their columns, one row each; every row has the names of its parents.
 */
function columnRows(schemas: object): readonly object[] {
  return entriesOf(schemas).flatMap(([schema, { tables, ...ofSchema }]) => [
    { schema, ...ofSchema },
    ...entriesOf(tables).flatMap(([table, { columns, ...ofTable }]) => [
      { schema, table, ...ofTable },
      ...entriesOf(columns).map(([column, ofColumn]) => ({ schema, table, column, ...ofColumn })),
    ]),
  ]);
}

function entriesOf(map: unknown): readonly (readonly [string, Readonly<Record<string, unknown>>])[] {
  return isObject(map) ? Object.entries(map).flatMap(([name, entry]) => (isObject(entry) ? [[name, entry] as const] : [])) : [];
}

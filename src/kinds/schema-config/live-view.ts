import { urlPath } from "../../model/json/pointer.ts";
import type { LiveSchemas } from "../../model/live.ts";
import { walk } from "../../model/schema-tree.ts";
import type { LiveView } from "../kind.ts";
import { kindNames } from "../manifests.ts";

export const liveView: LiveView = {
  one: { path: (id) => urlPath(["v1", "integrations", id, "schemas"]), read: (id, reads) => reads.schemas(id) },
  idOf: kindNames.integration,
  columns: ["schema", "table", "column", "enabled", "hashed", "isPrimaryKey", "syncMode", "cursorField", "nameInDestination"],
  rows: columnRows,
};

/** Each schema, its tables and their columns, one row each; every row has the names of its parents. */
function columnRows(schemas: object): readonly object[] {
  const rows: object[] = [];
  walk(schemas as LiveSchemas, {
    schema({ tables: _, ...entry }, [schema]) {
      rows.push({ schema, ...entry });
      return true;
    },
    table({ columns: _, ...entry }, [schema, table]) {
      rows.push({ schema, table, ...entry });
      return true;
    },
    column: (entry, [schema, table, column]) => void rows.push({ schema, table, column, ...entry }),
  });
  return rows;
}

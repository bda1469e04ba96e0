import { fromPointer, type Pointer } from "../../base/model/json/pointer.ts";
import type { LiveSchemas } from "../../base/model/live.ts";
import { walk } from "../../base/model/schema-tree.ts";
import type { LiveView, ManifestKind } from "../kind.ts";
import { kindNames } from "../manifests.ts";
import { wholeSchemas } from "./read.ts";

// What reading a SchemaConfig or a RuleSet needs to know.

const readOnlyNodeFields: ReadonlySet<string> = new Set([
  "nameInDestination",
  "isPrimaryKey",
  "name_in_destination",
  "sync_mode",
  "cursor_field",
  "is_primary_key",
]);

/** In `set` of a rule and, for a SchemaConfig, in the literal tree. */
export function readOnlyNodeField(parent: Pointer, key: string): string | undefined {
  const [spec, member, , set, ...below] = fromPointer(parent);
  const isNode = spec === "spec" && (member === "schemas" || (member === "rules" && set === "set" && below.length === 0));
  if (!isNode || !readOnlyNodeFields.has(key)) return undefined;
  return `The service shows \`${key}\`, and dimsync has no request that changes it. Assert it under spec.expect instead, or change it in the service.`;
}

/** Keys of `labels` in a selector are names of labels. */
export const isLabel = (path: readonly (string | number)[]): boolean => path.at(-1) === "labels";

/** The rules of a RuleSet act through the SchemaConfigs that use them. */
export const ruleSet: ManifestKind = { name: kindNames.ruleSet, references: () => [], readOnlyField: readOnlyNodeField };

export const liveView: LiveView = {
  one: { read: (id, reads) => wholeSchemas(reads, id) },
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

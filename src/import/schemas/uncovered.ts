import { isReplicated } from "../../engine/read-account.ts";
import { explain } from "../../kinds/schema-config/explain.ts";
import type { RuleCache } from "../../kinds/schema-config/rule-cache.ts";
import type { NodePath } from "../../kinds/schema-config/tree.ts";
import { emptyRecord, own } from "../../model/json.ts";
import type { LiveColumn, LiveSchema, LiveSchemas, LiveTable } from "../../model/live.ts";
import { toPointer } from "../../model/pointer.ts";
import type { ColumnTree, SchemaRule, SchemaTree } from "../../model/resource.ts";
import type { Uncovered } from "./add-rules.ts";
import { nameOfPattern } from "./escape-glob.ts";

export interface Managed {
  readonly rules: RuleCache;
  readonly live: LiveSchemas;
  /** The rules expanded over the live schemas. */
  readonly desired: SchemaTree;
}

/** The nodes that nothing covers. `leavesOut`: the columns of the schema's tables that are not replicated stay unmanaged. */
export function uncoveredNodes({ rules, live, desired }: Managed, leavesOut: (schema: string) => boolean): Uncovered {
  const nodes = new Set<string>();
  // What has a desired value is covered; only the rest needs an explanation, which is slow.
  const isUncovered = (wanted: ColumnTree | undefined, path: NodePath): boolean =>
    wanted?.enabled === undefined && wanted?.hashed === undefined && explain(rules, live, path).state === "unmanaged";
  const schemas = emptyRecord<LiveSchema>();
  for (const [name, schema] of Object.entries(live)) {
    const wantedSchema = own(desired, name);
    const tables = emptyRecord<LiveTable>();
    for (const [tableName, table] of Object.entries(schema.tables)) {
      const wantedTable = own(wantedSchema?.tables, tableName);
      const columns = emptyRecord<LiveColumn>();
      const hasColumns = isReplicated(schema, tableName) || !leavesOut(name);
      for (const [column, node] of Object.entries((hasColumns ? table.columns : undefined) ?? {}))
        if (isUncovered(own(wantedTable?.columns, column), [name, tableName, column])) columns[column] = node;
      const isNew = isUncovered(wantedTable, [name, tableName]);
      if (isNew) nodes.add(toPointer([name, tableName]));
      if (isNew || Object.keys(columns).length > 0) tables[tableName] = { ...table, columns };
    }
    const isNew = isUncovered(wantedSchema, [name]);
    if (isNew) nodes.add(toPointer([name]));
    if (isNew || Object.keys(tables).length > 0) schemas[name] = { ...schema, tables };
  }
  return { schemas, nodes };
}

/** Whether import has turned all tables of the schema off with one rule, and so leaves the columns of those that are off unmanaged. */
export const listsAllTables = (rules: readonly SchemaRule[], schema: string): boolean =>
  rules.some(
    (rule) =>
      "match" in rule &&
      /^live-tables-off-all/u.test(rule.id ?? "") &&
      Array.isArray(rule.match.schema) &&
      rule.match.schema.some((pattern: string) => nameOfPattern(pattern) === schema),
  );

import { isUncovered, type RuleCache, walkResolved } from "../../kinds/schemas.ts";
import { emptyRecord, own } from "../../model/json/json.ts";
import { toPointer } from "../../model/json/pointer.ts";
import type { LiveColumn, LiveSchema, LiveSchemas, LiveTable } from "../../model/live.ts";
import type { NodePath } from "../../model/nodes.ts";
import type { SchemaRule } from "../../model/resource.ts";
import { type ColumnPath, isReplicated, nodesAt, type TablePath } from "../../model/schema-tree.ts";
import type { Uncovered } from "./add-rules.ts";
import { nameOfPattern } from "./escape-glob.ts";

/** The nodes that nothing covers. `leavesOut`: the columns of the schema's tables that are not replicated stay unmanaged. */
export function uncoveredNodes(rules: RuleCache, live: LiveSchemas, leavesOut: (schema: string) => boolean): Uncovered {
  const nodes = new Set<string>();
  const schemas: Branches = emptyRecord();
  walkResolved(rules, live, {
    schema({ node, path, resolution }) {
      if (!isUncovered(rules, resolution, 0)) return;
      nodes.add(toPointer(path));
      branchOf(schemas, node, path);
    },
    table({ node, path, resolution }) {
      const { schema } = nodesAt(live, path);
      if (schema === undefined) return false;
      if (isUncovered(rules, resolution, 1)) {
        nodes.add(toPointer(path));
        columnsOf(branchOf(schemas, schema, path), node, path);
      }
      return isReplicated(schema, path[1]) || !leavesOut(path[0]);
    },
    column({ node, path, resolution }) {
      const { schema, table } = nodesAt(live, path);
      if (schema === undefined || table === undefined || !isUncovered(rules, resolution, 2)) return;
      columnsOf(branchOf(schemas, schema, path), table, path)[path[2]] = node;
    },
  });
  return { schemas, nodes };
}

/** The part of the live tree that is above uncovered nodes. */
type Branches = Record<string, Branch>;
interface Branch extends Omit<LiveSchema, "tables"> {
  readonly tables: Record<string, LiveTable & { readonly columns: Record<string, LiveColumn> }>;
}

function branchOf(schemas: Branches, schema: LiveSchema, [name]: NodePath): Branch {
  const known = own(schemas, name);
  if (known !== undefined) return known;
  const branch: Branch = { ...schema, tables: emptyRecord() };
  schemas[name] = branch;
  return branch;
}

function columnsOf({ tables }: Branch, table: LiveTable, [, name]: TablePath | ColumnPath): Record<string, LiveColumn> {
  const known = own(tables, name);
  if (known !== undefined) return known.columns;
  const columns = emptyRecord<LiveColumn>();
  tables[name] = { ...table, columns };
  return columns;
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

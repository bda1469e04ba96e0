import { explain, type RuleCache } from "../../kinds/schemas.ts";
import { emptyRecord, own } from "../../model/json/json.ts";
import { toPointer } from "../../model/json/pointer.ts";
import type { LiveColumn, LiveSchema, LiveSchemas, LiveTable } from "../../model/live.ts";
import type { NodePath } from "../../model/nodes.ts";
import type { ColumnTree, SchemaRule, SchemaTree } from "../../model/resource.ts";
import { type ColumnPath, isReplicated, type TablePath, walk } from "../../model/schema-tree.ts";
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
  const schemas: Branches = emptyRecord();
  walk(live, {
    schema(schema, path) {
      if (isUncovered(own(desired, path[0]), path)) {
        nodes.add(toPointer(path));
        branchOf(schemas, schema, path);
      }
      return true;
    },
    table(table, path, schema) {
      if (isUncovered(own(own(desired, path[0])?.tables, path[1]), path)) {
        nodes.add(toPointer(path));
        columnsOf(branchOf(schemas, schema, path), table, path);
      }
      return isReplicated(schema, path[1]) || !leavesOut(path[0]);
    },
    column(column, path, table, schema) {
      const wanted = own(own(own(desired, path[0])?.tables, path[1])?.columns, path[2]);
      if (isUncovered(wanted, path)) columnsOf(branchOf(schemas, schema, path), table, path)[path[2]] = column;
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

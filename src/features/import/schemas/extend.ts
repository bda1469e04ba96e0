import { isUncovered, type Question, type RuleCache, type SchemaConfigUnit, scan } from "../../../core/kinds/schemas.ts";
import { emptyRecord, isObject, own } from "../../../core/model/json/json.ts";
import { toPointer } from "../../../core/model/json/pointer.ts";
import type { LiveColumn, LiveSchema, LiveSchemas, LiveTable } from "../../../core/model/live.ts";
import type { NodePath } from "../../../core/model/nodes.ts";
import type { SchemaConfigSpec, SchemaRule, SchemaTree } from "../../../core/model/resource.ts";
import { atOnce } from "../../../core/model/runtime/event-loop.ts";
import { type ColumnPath, isReplicated, type TablePath } from "../../../core/model/schema-tree.ts";
import { addRules, type Uncovered } from "./add-rules.ts";
import { nameOfPattern } from "./escape-glob.ts";
import { inferRules, literalSchemas, liveRuleId } from "./infer-rules.ts";

const isWrittenByImport = (rule: SchemaRule): boolean => "id" in rule && rule.id !== undefined && liveRuleId.test(rule.id);

/**
 * The spec with what is off or hashed and nothing covers: in the rules that import wrote, else with --literal in the literal tree. What
 * is covered stays as it is, also if the account differs: `drift --resolve accept` accepts that. The same object if nothing has to change.
 */
export function extendSpec(
  { resource: { spec }, rules: current }: SchemaConfigUnit,
  live: LiveSchemas,
  literal: boolean,
): SchemaConfigSpec {
  const rules = spec.rules ?? [];
  const hasRules = rules.some(isWrittenByImport);
  if (!hasRules && !literal) return spec;
  const uncovered = uncoveredNodes(current, live, (schema) => !literal && listsAllTables(rules, schema));
  const takenIds = new Set(rules.flatMap((rule) => ("id" in rule && rule.id !== undefined ? [rule.id] : [])));
  const added = hasRules
    ? inferRules(uncovered.schemas, { takenIds, isWhole: false })
    : { rules: [], schemas: literalSchemas(uncovered.schemas) };
  const withRules = addRules(rules, added.rules, uncovered);
  const isExtended = Object.keys(added.schemas).length > 0;
  if (withRules === rules && !isExtended) return spec;
  return {
    ...spec,
    ...(withRules === rules ? {} : { rules: withRules }),
    ...(isExtended ? { schemas: merged(spec.schemas, added.schemas) } : {}),
  };
}

/** Both trees; where both have a leaf, that of the second. */
function merged(first: SchemaTree | undefined, second: SchemaTree): SchemaTree {
  return mergedNodes(first ?? {}, second) as SchemaTree; // both are trees
}

function mergedNodes(first: object, second: object): object {
  const result = emptyRecord<unknown>();
  for (const [key, value] of [...Object.entries(first), ...Object.entries(second)]) {
    const known = own(result, key);
    result[key] = isObject(known) && isObject(value) ? mergedNodes(known, value) : value;
  }
  return result;
}

/** The nodes that nothing covers. `leavesOut`: the columns of the schema's tables that are not replicated stay unmanaged. */
function uncoveredNodes(rules: RuleCache, live: LiveSchemas, leavesOut: (schema: string) => boolean): Uncovered {
  const nodes = new Set<string>();
  const schemas: Branches = emptyRecord();
  const question: Question = {
    schema({ live: schema, path, managed }) {
      if (!isUncovered(managed)) return;
      nodes.add(toPointer(path));
      branchOf(schemas, schema, path);
    },
    table({ live: table, path, managed }, { live: schema }) {
      if (isUncovered(managed)) {
        nodes.add(toPointer(path));
        columnsOf(branchOf(schemas, schema, path), table, path);
      }
      return isReplicated(schema, path[1]) || !leavesOut(path[0]);
    },
    column({ live: column, path, managed }, { live: table }, { live: schema }) {
      if (isUncovered(managed)) columnsOf(branchOf(schemas, schema, path), table, path)[path[2]] = column;
    },
  };
  atOnce(scan(live, [question], { rules }));
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
const listsAllTables = (rules: readonly SchemaRule[], schema: string): boolean =>
  rules.some(
    (rule) =>
      "match" in rule &&
      /^live-tables-off-all/u.test(rule.id ?? "") &&
      Array.isArray(rule.match.schema) &&
      rule.match.schema.some((pattern: string) => nameOfPattern(pattern) === schema),
  );

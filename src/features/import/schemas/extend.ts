import { isUncovered, type Question, type RuleCache, type SchemaConfigUnit, scan } from "../../../core/kinds/schemas.ts";
import { emptyRecord, isObject, own, sameJson } from "../../../core/model/json/json.ts";
import { toPointer } from "../../../core/model/json/pointer.ts";
import type { LiveColumn, LiveSchema, LiveSchemas, LiveTable } from "../../../core/model/live.ts";
import type { NodePath } from "../../../core/model/nodes.ts";
import type { ColumnTree, SchemaConfigSpec, SchemaRule, SchemaTree } from "../../../core/model/resource.ts";
import { type ColumnPath, isReplicated, type TablePath } from "../../../core/model/schema-tree.ts";
import { nameOfPattern } from "./escape-glob.ts";
import { inferRules, literalSchemas, liveRuleId } from "./infer-rules.ts";

/** Whether import has written the rule. */
const isLive = (rule: SchemaRule): boolean => "match" in rule && rule.id !== undefined && liveRuleId.test(rule.id);

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
  const hasRules = rules.some(isLive);
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
  scan(live, [question], { rules });
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

/** Nodes that no rule, literal entry or `ignore` covers. */
interface Uncovered {
  /** Includes the covered schemas and tables above uncovered nodes. */
  readonly schemas: LiveSchemas;
  /** Pointers of the schemas and tables that are themselves uncovered: `/public/users`. */
  readonly nodes: ReadonlySet<string>;
}

type Level = "schema" | "table" | "column";

/** The match of a rule that import wrote: lists only. */
type ListMatch = { readonly [level in Level]?: readonly string[] };

/**
 * Adds names to the list of the rule with the same effect in the same schemas. If there is no such
 * rule, the added one goes after the rules that import wrote, so that the user's rules below still win.
 */
function addRules(rules: readonly SchemaRule[], added: readonly SchemaRule[], uncovered: Uncovered): readonly SchemaRule[] {
  if (added.length === 0) return rules;
  const result = [...rules];
  for (const rule of added) {
    if (!("match" in rule) || rule.id === undefined) continue;
    const match = rule.match as ListMatch; // inferRules writes lists
    const level = levelOf(match);
    const names = (match[level] ?? []).filter((name) => level === "column" || areUncovered(uncovered, match, { level, name }));
    if (names.length === 0) continue;
    const addition: Addition = { level, match: { ...match, [level]: names }, set: rule.set ?? {} };
    const at = result.findIndex((known) => accepts(known, addition));
    if (at >= 0) result[at] = extended(result[at], addition);
    else result.splice(result.findLastIndex(isLive) + 1, 0, { ...rule, match: addition.match });
  }
  return result;
}

interface Addition {
  readonly level: Level;
  readonly match: ListMatch;
  readonly set: ColumnTree;
}

function levelOf({ table, column }: ListMatch): Level {
  if (column !== undefined) return "column";
  return table === undefined ? "schema" : "table";
}

function areUncovered({ nodes }: Uncovered, { schema = [] }: ListMatch, node: { readonly level: Level; readonly name: string }): boolean {
  const name = nameOfPattern(node.name) ?? "";
  if (node.level === "schema") return nodes.has(toPointer([name]));
  return schema.some((one) => nodes.has(toPointer([nameOfPattern(one) ?? "", name])));
}

/** Whether the rule is one of import's lists with the same effect, in the same schemas. */
function accepts(rule: SchemaRule, { level, match: wanted, set }: Addition): boolean {
  if (!isLive(rule) || !("match" in rule) || rule.ignore === true) return false;
  const { match } = rule;
  const list = match[level];
  if (match.where !== undefined || match.ignoreCase === true || !Array.isArray(list)) return false;
  if (list.includes("*") || wanted[level]?.includes("*") === true) return false;
  if (!sameJson(rule.set ?? {}, set)) return false;
  if (
    level === "column" && wanted.table !== undefined
      ? !sameNames(wanted.table, match.table)
      : level !== "table" && match.table !== undefined
  )
    return false;
  if (level !== "column" && match.column !== undefined) return false;
  return level === "schema" || sameNames(wanted.schema, match.schema);
}

function sameNames(names: readonly string[] | undefined, list: string | readonly string[] | undefined): boolean {
  const known = Array.isArray(list) ? list : [];
  return names !== undefined && names.length === known.length && names.every((name) => known.includes(name));
}

function extended(rule: SchemaRule | undefined, { level, match }: Addition): SchemaRule {
  if (rule === undefined || !("match" in rule)) throw new Error("Only a rule that was found is extended.");
  const list = rule.match[level] as readonly string[]; // `accepts` has seen a list
  const names = (match[level] ?? []).filter((name) => !list.includes(name));
  return names.length === 0 ? rule : { ...rule, match: { ...rule.match, [level]: [...list, ...names].sort() } };
}

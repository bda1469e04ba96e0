import { toPointer } from "../../../core/model/json/pointer.ts";
import type { LiveSchemas } from "../../../core/model/live.ts";
import type { ColumnTree, SchemaRule } from "../../../core/model/resource.ts";
import { nameOfPattern } from "./escape-glob.ts";
import { liveRuleId } from "./infer-rules.ts";

/** Nodes that no rule, literal entry or `ignore` covers. */
export interface Uncovered {
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
export function addRules(rules: readonly SchemaRule[], added: readonly SchemaRule[], uncovered: Uncovered): readonly SchemaRule[] {
  if (added.length === 0) return rules;
  const result = [...rules];
  for (const rule of added) {
    if (!("match" in rule) || rule.id === undefined) continue;
    const match = rule.match as ListMatch; // inferRules writes lists
    const level = levelOf(match);
    const names = (match[level] ?? []).filter((name) => level === "column" || isUncovered(uncovered, match, { level, name }));
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

function isUncovered({ nodes }: Uncovered, { schema = [] }: ListMatch, node: { readonly level: Level; readonly name: string }): boolean {
  const name = nameOfPattern(node.name) ?? "";
  if (node.level === "schema") return nodes.has(toPointer([name]));
  return schema.some((one) => nodes.has(toPointer([nameOfPattern(one) ?? "", name])));
}

const isLive = (rule: SchemaRule): boolean => "match" in rule && rule.id !== undefined && liveRuleId.test(rule.id);

/** Whether the rule is one of import's lists with the same effect, in the same schemas. */
function accepts(rule: SchemaRule, { level, match: wanted, set }: Addition): boolean {
  if (!isLive(rule) || !("match" in rule) || rule.ignore === true) return false;
  const { match } = rule;
  const list = match[level];
  if (match.where !== undefined || match.ignoreCase === true || !Array.isArray(list)) return false;
  if (list.includes("*") || wanted[level]?.includes("*") === true) return false;
  if (rule.set?.enabled !== set.enabled || rule.set?.hashed !== set.hashed) return false;
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

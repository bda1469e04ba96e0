import type { LiveSchemas } from "../model/live.ts";
import { toPointer } from "../model/pointer.ts";
import type { ColumnTree, SchemaRule } from "../model/resource.ts";
import { nameOfPattern } from "./escape-glob.ts";
import { liveRuleId } from "./infer-rules.ts";

/** What nothing covers and nothing ignores. */
export interface Fresh {
  /** With the way to it: schemas and tables that are covered are here for what is below them. */
  readonly schemas: LiveSchemas;
  /** Pointers of schemas and tables that are uncovered themselves. */
  readonly nodes: ReadonlySet<string>;
}

const isFresh = ({ nodes }: Fresh, level: "schema" | "table", { schema = [] }: Match, pattern: string): boolean => {
  const name = nameOfPattern(pattern) ?? "";
  return level === "schema" ? nodes.has(toPointer([name])) : schema.some((one) => nodes.has(toPointer([nameOfPattern(one) ?? "", name])));
};

type Match = { readonly schema?: readonly string[]; readonly table?: readonly string[]; readonly column?: readonly string[] };

/**
 * New names go into the list of the rule that says the same of the same schemas; what finds none becomes a rule of its own behind those that import wrote:
 * a person's rules below them keep the last word.
 */
export function addRules(rules: readonly SchemaRule[], added: readonly SchemaRule[], fresh: Fresh): readonly SchemaRule[] {
  const result = [...rules];
  const host = (set: ColumnTree, match: Match, level: Level): boolean => {
    const at = result.findIndex((known) => isLive(known) && takes(known, set, match, level));
    const found = result[at];
    if (found === undefined || !("match" in found)) return false;
    const list = found.match[level] as readonly string[]; // `takes` has seen a list
    const names = (match[level] ?? []).filter((name) => !list.includes(name));
    if (names.length > 0) result[at] = { ...found, match: { ...found.match, [level]: [...list, ...names].sort() } };
    return true;
  };
  for (const rule of added) {
    if (!("match" in rule) || rule.id === undefined) continue;
    const match = rule.match as Match; // compactSchemas writes lists
    const set = rule.set ?? {};
    const level = match.column !== undefined ? "column" : match.table !== undefined ? "table" : "schema";
    const names = (match[level] ?? []).filter((name) => level === "column" || isFresh(fresh, level, match, name));
    const wanted = { ...match, [level]: names };
    if (names.length === 0 || host(set, wanted, level)) continue;
    result.splice(result.findLastIndex(isLive) + 1, 0, { ...rule, match: wanted });
  }
  return result;
}

type Level = "schema" | "table" | "column";

const isLive = (rule: SchemaRule): boolean => "match" in rule && rule.id !== undefined && liveRuleId.test(rule.id);

function takes(rule: SchemaRule, wanted: ColumnTree, names: Match, level: Level): boolean {
  if (!("match" in rule) || rule.ignore === true) return false;
  const { match, set } = rule;
  const list = match[level];
  if (match.where !== undefined || match.ignoreCase === true || !Array.isArray(list)) return false;
  if (list.includes("*") || names[level]?.includes("*") === true) return false;
  if (set?.enabled !== wanted.enabled || set?.hashed !== wanted.hashed) return false;
  if (level !== "table" && match.table !== undefined) return false;
  if (level === "schema") return match.column === undefined;
  if (level === "table" && match.column !== undefined) return false;
  const inSchemas = Array.isArray(match.schema) ? match.schema : [];
  return names.schema !== undefined && names.schema.length === inSchemas.length && names.schema.every((name) => inSchemas.includes(name));
}

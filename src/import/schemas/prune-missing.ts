import { walk } from "../../kinds/schema-config/tree.ts";
import { own } from "../../model/json/json.ts";
import type { LiveSchemas, LiveTable } from "../../model/live.ts";
import type { NodePath } from "../../model/nodes.ts";
import type { SchemaConfigSpec, SchemaMatch, SchemaRule, SchemaTree } from "../../model/resource.ts";
import { nameOfPattern } from "./escape-glob.ts";
import { liveRuleId } from "./infer-rules.ts";
import { draftOf, removeNode, treeOf } from "./schema-tree.ts";

/** The spec without names that no longer exist, in the rules that import wrote and in the literal tree. The same object if all exist. */
export function pruneMissing(spec: SchemaConfigSpec, live: LiveSchemas): SchemaConfigSpec {
  const rules = spec.rules?.flatMap((rule) => prunedRule(rule, live));
  const schemas = spec.schemas === undefined ? undefined : prunedTree(spec.schemas, live);
  const sameRules =
    rules === undefined || (rules.length === spec.rules?.length && rules.every((rule, index) => rule === spec.rules?.[index]));
  if (sameRules && schemas === spec.schemas) return spec;
  const { rules: _rules, schemas: _schemas, ...rest } = spec;
  return { ...rest, ...(rules === undefined || rules.length === 0 ? {} : { rules }), ...(schemas === undefined ? {} : { schemas }) };
}

type Level = "schema" | "table" | "column";

/** Nothing if no name of one of its lists exists. */
function prunedRule(rule: SchemaRule, live: LiveSchemas): readonly SchemaRule[] {
  if (!("match" in rule) || rule.id === undefined || !liveRuleId.test(rule.id)) return [rule];
  const names = liveNames(rule.match, live);
  const kept: Partial<Record<Level, readonly string[]>> = {};
  let isChanged = false;
  for (const level of ["schema", "table", "column"] as const) {
    const list = rule.match[level];
    const existing = names[level];
    if (!Array.isArray(list) || existing === undefined) continue;
    const left = list.filter((pattern: string) => {
      const name = nameOfPattern(pattern);
      return name === undefined ? existing.size > 0 : existing.has(name);
    });
    if (left.length === 0) return [];
    isChanged ||= left.length < list.length;
    kept[level] = left;
  }
  return isChanged ? [{ ...rule, match: { ...rule.match, ...kept } }] : [rule];
}

/** The names that exist where the rule applies; undefined if unknown, because the service did not return the columns. */
function liveNames(match: SchemaMatch, live: LiveSchemas): Readonly<Record<Level, ReadonlySet<string> | undefined>> {
  const schemas = Object.keys(live)
    .filter(matcherOf(match.schema))
    .flatMap((name) => own(live, name) ?? []);
  const isMatched = matcherOf(match.table);
  const tables = schemas.flatMap((schema) => Object.entries(schema.tables).flatMap(([name, table]) => (isMatched(name) ? [table] : [])));
  return {
    schema: new Set(Object.keys(live)),
    table: new Set(schemas.flatMap((schema) => Object.keys(schema.tables))),
    column: match.column === undefined ? undefined : columnNames(tables),
  };
}

function columnNames(tables: readonly LiveTable[]): ReadonlySet<string> | undefined {
  const names = new Set<string>();
  for (const { columns } of tables) {
    if (columns === undefined) return undefined;
    for (const name of Object.keys(columns)) names.add(name);
  }
  return names;
}

/** A list that import wrote contains names and `*`; any other glob is treated as `*`. */
function matcherOf(patterns: string | readonly string[] | undefined): (name: string) => boolean {
  if (patterns === undefined) return () => true;
  const names = (typeof patterns === "string" ? [patterns] : patterns).map(nameOfPattern);
  const literal = new Set(names);
  return names.includes(undefined) ? () => true : (name) => literal.has(name);
}

/** The same tree if all of its nodes exist. */
function prunedTree(schemas: SchemaTree, live: LiveSchemas): SchemaTree | undefined {
  const missing: NodePath[] = [];
  const check = (path: NodePath, node: object | undefined): boolean => {
    if (node === undefined) missing.push(path);
    return node !== undefined;
  };
  walk(schemas, {
    schema: (_, path) => check(path, own(live, path[0])),
    table: (_, path) => check(path, own(own(live, path[0])?.tables, path[1])),
    column(_, path) {
      const known = own(own(live, path[0])?.tables, path[1])?.columns;
      if (known !== undefined) check(path, own(known, path[2]));
    },
  });
  if (missing.length === 0) return schemas;
  const draft = draftOf(schemas);
  for (const path of missing) removeNode(draft, path);
  return treeOf(draft);
}

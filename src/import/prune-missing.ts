import { own } from "../model/json.ts";
import type { LiveSchemas, LiveTable } from "../model/live.ts";
import type { SchemaConfigSpec, SchemaMatch, SchemaRule } from "../model/resource.ts";
import { nameOfPattern } from "./escape-glob.ts";
import { liveRuleId } from "./infer-rules.ts";
import { draftOf, treeOf } from "./schema-tree.ts";

/** The spec without names that the account no longer has: in rules that import wrote, and in the literal tree. The same object where all are there. */
export function pruneMissing(spec: SchemaConfigSpec, live: LiveSchemas): SchemaConfigSpec {
  const rules = spec.rules?.flatMap((rule) => ruleWithoutGone(rule, live));
  const schemas = spec.schemas === undefined ? undefined : treeWithoutGone(spec.schemas, live);
  const sameRules =
    rules === undefined || (rules.length === spec.rules?.length && rules.every((rule, index) => rule === spec.rules?.[index]));
  if (sameRules && schemas === spec.schemas) return spec;
  const { rules: _rules, schemas: _schemas, ...rest } = spec;
  return { ...rest, ...(rules === undefined || rules.length === 0 ? {} : { rules }), ...(schemas === undefined ? {} : { schemas }) };
}

function ruleWithoutGone(rule: SchemaRule, live: LiveSchemas): readonly SchemaRule[] {
  if (!("match" in rule) || rule.id === undefined || !liveRuleId.test(rule.id)) return [rule];
  const { schema, table } = rule.match;
  const [inSchema, inTable] = [meant(schema), meant(table)];
  const schemas = Object.keys(live).filter(inSchema);
  const tables = schemas.flatMap((name) => {
    const all = own(live, name)?.tables ?? {};
    return Object.keys(all).flatMap((one) => (inTable(one) ? [own(all, one)] : []));
  });
  // Columns that the answer left out are unknown, not gone.
  const blind = tables.some((one) => one?.columns === undefined);
  const kept: Record<string, readonly string[]> = {};
  const known = {
    schema: new Set(Object.keys(live)),
    table: new Set(schemas.flatMap((name) => Object.keys(own(live, name)?.tables ?? {}))),
    column: blind || rule.match.column === undefined ? undefined : columnNames(tables),
  };
  let changed = false;
  for (const level of ["schema", "table", "column"] as const) {
    const list = rule.match[level];
    const names = known[level];
    if (!Array.isArray(list) || names === undefined) continue;
    const left = list.filter((pattern: string) => {
      const name = nameOfPattern(pattern);
      return name === undefined ? names.size > 0 : names.has(name);
    });
    if (left.length === 0) return [];
    changed ||= left.length < list.length;
    kept[level] = left;
  }
  return changed ? [{ ...rule, match: { ...rule.match, ...kept } as SchemaMatch }] : [rule];
}

function columnNames(tables: readonly (LiveTable | undefined)[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const table of tables) for (const name of Object.keys(table?.columns ?? {})) names.add(name);
  return names;
}

/** A list that import wrote holds names and `*`; anything else is taken to mean everything. */
function meant(patterns: string | readonly string[] | undefined): (name: string) => boolean {
  if (patterns === undefined) return () => true;
  const names = (typeof patterns === "string" ? [patterns] : patterns).map(nameOfPattern);
  const literal = new Set(names);
  return names.includes(undefined) ? () => true : (name) => literal.has(name);
}

function treeWithoutGone(schemas: NonNullable<SchemaConfigSpec["schemas"]>, live: LiveSchemas): SchemaConfigSpec["schemas"] {
  const tree = draftOf(schemas);
  let dropped = false;
  const drop = (path: readonly [string, string?, string?]): void => {
    dropped = true;
    tree.drop(path);
  };
  for (const schema of Object.keys(schemas)) {
    const liveSchema = own(live, schema);
    if (liveSchema === undefined) {
      drop([schema]);
      continue;
    }
    const tables = own(schemas, schema)?.tables ?? {};
    for (const table of Object.keys(tables)) {
      const liveTable = own(liveSchema.tables, table);
      if (liveTable === undefined) drop([schema, table]);
      else if (liveTable.columns !== undefined)
        for (const column of Object.keys(own(tables, table)?.columns ?? {}))
          if (!Object.hasOwn(liveTable.columns, column)) drop([schema, table, column]);
    }
  }
  return dropped ? treeOf(tree) : schemas;
}

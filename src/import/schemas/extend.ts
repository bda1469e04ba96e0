import type { SchemaConfigUnit } from "../../kinds/schemas.ts";
import { emptyRecord, isObject, own } from "../../model/json/json.ts";
import type { LiveSchemas } from "../../model/live.ts";
import type { NodePath } from "../../model/nodes.ts";
import type { SchemaConfigSpec, SchemaRule, SchemaTree } from "../../model/resource.ts";
import { isReplicated, walk } from "../../model/schema-tree.ts";
import { addRules } from "./add-rules.ts";
import { inferRules, liveRuleId } from "./infer-rules.ts";
import { literalSchemas } from "./literal-schemas.ts";
import { listsAllTables, uncoveredNodes } from "./uncovered.ts";

export interface Extended {
  /** The same object if nothing has to change. */
  readonly spec: SchemaConfigSpec;
  /** Replicated, unhashed columns that nothing covered before. */
  readonly addedColumns: readonly NodePath[];
}

const isWrittenByImport = (rule: SchemaRule): boolean => "id" in rule && rule.id !== undefined && liveRuleId.test(rule.id);

/**
 * The spec with the nodes that nothing covers: in the rules that import wrote, else with --literal in the literal tree. What is
 * covered stays as it is, also if the account differs: `drift --resolve accept` accepts that.
 */
export function extendSpec({ resource: { spec }, rules: current }: SchemaConfigUnit, live: LiveSchemas, literal: boolean): Extended {
  const rules = spec.rules ?? [];
  const hasRules = rules.some(isWrittenByImport);
  if (!hasRules && !literal) return { spec, addedColumns: [] };
  const uncovered = uncoveredNodes(current, live, (schema) => !literal && listsAllTables(rules, schema));
  if (Object.keys(uncovered.schemas).length === 0) return { spec, addedColumns: [] };
  const addedColumns = readableColumns(uncovered.schemas);
  if (!hasRules) return { spec: { ...spec, schemas: merged(spec.schemas, literalSchemas(uncovered.schemas)) }, addedColumns };
  const takenIds = new Set(rules.flatMap((rule) => ("id" in rule && rule.id !== undefined ? [rule.id] : [])));
  const added = inferRules(uncovered.schemas, { takenIds, globs: false });
  const schemas = Object.keys(added.schemas).length === 0 ? spec.schemas : merged(spec.schemas, added.schemas);
  const withRules = { ...spec, rules: addRules(rules, added.rules, uncovered), ...(schemas === undefined ? {} : { schemas }) };
  return { spec: withRules, addedColumns };
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

/** Columns that are replicated unhashed. */
function readableColumns(schemas: LiveSchemas): readonly NodePath[] {
  const found: NodePath[] = [];
  walk(schemas, {
    table: (_, [, table], schema) => isReplicated(schema, table),
    column({ enabled, hashed }, path) {
      if (enabled && !hashed) found.push(path);
    },
  });
  return found;
}

import { compileConfig, makeRuleProgram, type Program } from "../kinds/schema-config/compiled-config.ts";
import { expand } from "../kinds/schema-config/expand.ts";
import { explain } from "../kinds/schema-config/explain.ts";
import { ruleSetsIn } from "../kinds/schema-config/rule-sets.ts";
import { emptyRecord, own } from "../model/json.ts";
import type { LiveSchema, LiveSchemas, LiveTable } from "../model/live.ts";
import { toPointer } from "../model/pointer.ts";
import type { ColumnTree, Resource, SchemaConfigSpec, SchemaRule, SchemaTree } from "../model/resource.ts";
import { addRules, type Fresh } from "./add-rules.ts";
import { flows } from "./column-profile.ts";
import { nameOfPattern } from "./escape-glob.ts";
import { inferRules, literalSchemas, liveRuleId } from "./infer-rules.ts";
import { pruneMissing } from "./prune-missing.ts";
import { draftOf, treeOf } from "./schema-tree.ts";

// A second import changes a schema configuration exactly where the plan would: what it manages and what is live otherwise becomes an entry in
// the literal tree, which has the last word. Names that the account has gained are added to the rules that import wrote itself, names that it has
// lost are taken out of them; rules and trees of a person are not widened.

export interface Reconciliation {
  readonly resources: readonly Resource[];
  /** What decides for the integration now, lowest priority first. */
  readonly program: Program;
  readonly live: LiveSchemas;
  /** Whether names that nothing covers are written into the tree, as the first import did with --literal. */
  readonly literal: boolean;
  /** Leaves that the config leaves to others. */
  readonly isIgnored: (path: NodePath, key: "enabled" | "hashed") => boolean;
}

/** The spec of the configuration with the highest priority as it should be; the same object where nothing is to be changed. */
export function reconcileSchemas({ resources, program, live, literal, isIgnored }: Reconciliation): SchemaConfigSpec {
  const top = program.layers.at(-1)?.config;
  if (top === undefined) return {};
  const sets = ruleSetsIn(resources);
  const lower = program.layers.slice(0, -1).map(({ compiled }) => compiled);
  const programOf = (spec: SchemaConfigSpec): Program => makeRuleProgram([...lower, compileConfig({ ...top, spec }, sets)]);

  // What many integrations share is neither narrowed nor widened to fit one of them.
  const isShared = top.spec.integrations !== undefined;
  const kept = isShared ? top.spec : pruneMissing(top.spec, live);
  const keptProgram = kept === top.spec ? program : programOf(kept);
  const keptDesired = expand(keptProgram, live);
  // Import goes on with what it has written also where nothing of that is left, as after the renaming of an only schema.
  const keepsUp = (top.spec.rules ?? []).some(isWrittenByImport);
  const widened = isShared ? kept : withNewNames(kept, { program: keptProgram, desired: keptDesired, live, literal, keepsUp });
  const desired = widened === kept ? keptDesired : expand(programOf(widened), live);
  const differing = differences(desired, live).filter(({ path, key }) => !isIgnored(path, key));
  if (differing.length === 0) return widened;

  // Entries are set, never taken out, also where the rules alone would do: a person may have written beside them why they are there.
  const tree = draftOf(widened.schemas);
  for (const { path, key, value } of differing) tree.set(path, key, value);
  const schemas = treeOf(tree);
  return { ...widened, ...(schemas === undefined ? {} : { schemas }) };
}

type NodePath = readonly [schema: string, table?: string, column?: string];

/** Leaves that are managed and have another value live. */
export function differences(
  desired: SchemaTree,
  live: LiveSchemas,
): readonly { readonly path: NodePath; readonly key: "enabled" | "hashed"; readonly value: boolean }[] {
  const found: { path: NodePath; key: "enabled" | "hashed"; value: boolean }[] = [];
  const look = (path: NodePath, wanted: ColumnTree | undefined, node: { readonly enabled: boolean; readonly hashed?: boolean }): void => {
    if (wanted?.enabled !== undefined && wanted.enabled !== node.enabled) found.push({ path, key: "enabled", value: node.enabled });
    if (wanted?.hashed !== undefined && node.hashed !== undefined && wanted.hashed !== node.hashed)
      found.push({ path, key: "hashed", value: node.hashed });
  };
  for (const schema of Object.keys(desired)) {
    const [wanted, node] = [own(desired, schema), own(live, schema)];
    if (wanted === undefined || node === undefined) continue;
    look([schema], wanted, node);
    for (const table of Object.keys(wanted.tables ?? {})) {
      const [wantedTable, liveTable] = [own(wanted.tables, table), own(node.tables, table)];
      if (wantedTable === undefined || liveTable === undefined) continue;
      look([schema, table], wantedTable, liveTable);
      for (const column of Object.keys(wantedTable.columns ?? {})) {
        const liveColumn = own(liveTable.columns, column);
        if (liveColumn !== undefined) look([schema, table, column], own(wantedTable.columns, column), liveColumn);
      }
    }
  }
  return found;
}

interface Managed extends Pick<Reconciliation, "program" | "live" | "literal"> {
  readonly desired: SchemaTree;
  /** Whether the rules that import writes are to have new names too. */
  readonly keepsUp: boolean;
}

const isWrittenByImport = (rule: SchemaRule): boolean => "id" in rule && rule.id !== undefined && liveRuleId.test(rule.id);

function withNewNames(spec: SchemaConfigSpec, managed: Managed): SchemaConfigSpec {
  const { literal, keepsUp } = managed;
  const rules = spec.rules ?? [];
  if (!keepsUp && !literal) return spec;
  const fresh = uncovered(managed, (schema) => !literal && saysAllOff(rules, schema));
  if (Object.keys(fresh.schemas).length === 0) return spec;
  if (!keepsUp) {
    const tree = draftOf(spec.schemas);
    tree.merge(literalSchemas(fresh.schemas));
    return { ...spec, schemas: treeOf(tree) ?? {} };
  }
  const ids = new Set(rules.flatMap((rule) => ("id" in rule && rule.id !== undefined ? [rule.id] : [])));
  const added = inferRules(fresh.schemas, { takenIds: ids, globs: false });
  const tree = draftOf(spec.schemas);
  tree.merge(added.schemas);
  const schemas = Object.keys(added.schemas).length === 0 ? spec.schemas : treeOf(tree);
  return { ...spec, rules: addRules(rules, added.rules, fresh), ...(schemas === undefined ? {} : { schemas }) };
}

/** Whether import has said off of all the schema's tables, and so leaves the columns of those that are off alone (compact-schemas.ts). */
const saysAllOff = (rules: readonly SchemaRule[], schema: string): boolean =>
  rules.some(
    (rule) =>
      "match" in rule &&
      /^live-tables-off-all/u.test(rule.id ?? "") &&
      Array.isArray(rule.match.schema) &&
      rule.match.schema.some((pattern: string) => nameOfPattern(pattern) === schema),
  );

function uncovered({ program, live, desired }: Managed, leavesOut: (schema: string) => boolean): Fresh {
  const nodes = new Set<string>();
  const isFree = (path: NodePath): boolean => explain(program, live, path).state === "unmanaged";
  const isLookedInto = (name: string, schema: LiveSchema, table: string): boolean => flows(schema, table) || !leavesOut(name);
  const schemas = emptyRecord<LiveSchema>();
  for (const name of Object.keys(live)) {
    const [schema, wanted] = [own(live, name), own(desired, name)];
    if (schema === undefined) continue;
    const tables = emptyRecord<LiveTable>();
    for (const tableName of Object.keys(schema.tables)) {
      const [table, wantedTable] = [own(schema.tables, tableName), own(wanted?.tables, tableName)];
      if (table === undefined) continue;
      const columns = emptyRecord<NonNullable<LiveTable["columns"]>[string]>();
      for (const column of isLookedInto(name, schema, tableName) ? Object.keys(table.columns ?? {}) : []) {
        const node = own(table.columns, column);
        if (node !== undefined && own(wantedTable?.columns, column) === undefined && isFree([name, tableName, column]))
          columns[column] = node;
      }
      const isNew = wantedTable?.enabled === undefined && isFree([name, tableName]);
      if (isNew) nodes.add(toPointer([name, tableName]));
      if (isNew || Object.keys(columns).length > 0) tables[tableName] = { ...table, columns };
    }
    const isNew = wanted?.enabled === undefined && isFree([name]);
    if (isNew) nodes.add(toPointer([name]));
    if (isNew || Object.keys(tables).length > 0) schemas[name] = { ...schema, tables };
  }
  return { schemas, nodes };
}

import { isReplicated } from "../../engine/reads/read-account.ts";
import { compileConfig, makeRuleProgram } from "../../kinds/schema-config/compiled-config.ts";
import { expand } from "../../kinds/schema-config/coverage.ts";
import { newRuleCache, type RuleCache, withLabels } from "../../kinds/schema-config/rules/rule-cache.ts";
import { ruleSetsIn } from "../../kinds/schema-config/rules/rule-sets.ts";
import { type Field, riskOf, walk } from "../../kinds/schema-config/tree.ts";
import { own } from "../../model/json/json.ts";
import type { LiveSchemas } from "../../model/live.ts";
import type { NodePath } from "../../model/nodes.ts";
import type { ColumnTree, Resource, SchemaConfigSpec, SchemaRule, SchemaTree } from "../../model/resource.ts";
import { addRules } from "./add-rules.ts";
import { inferRules, liveRuleId } from "./infer-rules.ts";
import { literalSchemas } from "./literal-schemas.ts";
import { pruneMissing } from "./prune-missing.ts";
import { draftOf, mergeTree, setLeaf, treeOf } from "./schema-tree.ts";
import { listsAllTables, type Managed, uncoveredNodes } from "./uncovered.ts";

// A later import changes a SchemaConfig only where the plan would: a managed node with another live value becomes an entry of the
// literal tree, which takes precedence over rules. Names that are new in the account are added to the rules that import wrote, and
// names that are gone are removed from them. The user's own rules are never changed.

export interface Reconciliation {
  readonly resources: readonly Resource[];
  /** The rules of the SchemaConfigs that select the integration now. */
  readonly rules: RuleCache;
  readonly live: LiveSchemas;
  /** Whether names that nothing covers are written into the literal tree (--literal). */
  readonly literal: boolean;
  /** False: only the literal tree may get new entries, because the caller writes them into another SchemaConfig. */
  readonly inPlace: boolean;
  /** Whether an `ignore` entry of the config covers the leaf. */
  readonly isIgnored: (path: NodePath, key: Field) => boolean;
}

export interface Reconciled {
  /** What the SchemaConfig with the highest priority should be; the same object if nothing has to change. */
  readonly spec: SchemaConfigSpec;
  /** Entries that make the manifests less strict: something is declared as enabled or unhashed that was not. */
  readonly exposing: readonly LeafDifference[];
  /** Replicated, unhashed columns that the rules did not cover before. */
  readonly addedColumns: readonly NodePath[];
}

export function reconcileSchemas({ resources, rules, live, literal, inPlace, isIgnored }: Reconciliation): Reconciled {
  const { layers } = rules.program;
  const top = layers.at(-1)?.config;
  if (top === undefined) return { spec: {}, exposing: [], addedColumns: [] };
  const sets = ruleSetsIn(resources);
  const lower = layers.slice(0, -1).map(({ compiled }) => compiled);
  const rulesOf = (spec: SchemaConfigSpec): RuleCache =>
    spec === top.spec
      ? rules
      : withLabels(newRuleCache(makeRuleProgram([...lower, compileConfig({ ...top, spec }, sets)])), () => rules.root.labels);

  const pruned = inPlace ? pruneMissing(top.spec, live) : top.spec;
  const prunedRules = rulesOf(pruned);
  const prunedDesired = expand(prunedRules, live);
  const names = { rules: prunedRules, desired: prunedDesired, live, literal, original: top.spec };
  const extended = inPlace ? withNewNames(pruned, names) : { spec: pruned, addedColumns: [] };
  const desired = extended.spec === pruned ? prunedDesired : expand(rulesOf(extended.spec), live);
  const differing = differences(desired, live).filter(({ path, key }) => !isIgnored(path, key));
  if (differing.length === 0) return { ...extended, exposing: [] };

  // Entries are set and never removed, even if the rules alone would do: the user may have written a comment beside them.
  const draft = draftOf(extended.spec.schemas);
  for (const { path, ...leaf } of differing) setLeaf(draft, path, leaf);
  const schemas = treeOf(draft);
  return {
    spec: { ...extended.spec, ...(schemas === undefined ? {} : { schemas }) },
    exposing: differing.filter(({ key, value }) => riskOf(key, value) === "exposes"),
    addedColumns: extended.addedColumns,
  };
}

/** A leaf that is managed and has this other value live. */
export interface LeafDifference {
  readonly path: NodePath;
  readonly key: Field;
  readonly value: boolean;
}

export function differences(desired: SchemaTree, live: LiveSchemas): readonly LeafDifference[] {
  const found: LeafDifference[] = [];
  const compare = (
    path: NodePath,
    wanted: ColumnTree,
    node: { readonly enabled: boolean; readonly hashed?: boolean } | undefined,
  ): void => {
    if (node === undefined) return;
    for (const key of ["enabled", "hashed"] as const) {
      const value = node[key];
      if (wanted[key] !== undefined && value !== undefined && wanted[key] !== value) found.push({ path, key, value });
    }
  };
  walk(desired, {
    schema(wanted, path) {
      compare(path, wanted, own(live, path[0]));
      return true;
    },
    table(wanted, path) {
      compare(path, wanted, own(own(live, path[0])?.tables, path[1]));
      return true;
    },
    column: (wanted, path) => compare(path, wanted, own(own(own(live, path[0])?.tables, path[1])?.columns, path[2])),
  });
  return found;
}

interface NewNames extends Managed {
  readonly literal: boolean;
  /** Before names were removed from it. */
  readonly original: SchemaConfigSpec;
}

const isWrittenByImport = (rule: SchemaRule): boolean => "id" in rule && rule.id !== undefined && liveRuleId.test(rule.id);

/** The spec with the nodes that nothing covers: in the rules that import wrote, else with --literal in the literal tree. */
function withNewNames(
  spec: SchemaConfigSpec,
  { rules: current, live, desired, literal, original }: NewNames,
): Omit<Reconciled, "exposing"> {
  // Even if none of its rules is left, as after the only schema was renamed.
  const hasRules = (original.rules ?? []).some(isWrittenByImport);
  if (!hasRules && !literal) return { spec, addedColumns: [] };
  const rules = spec.rules ?? [];
  const uncovered = uncoveredNodes({ rules: current, live, desired }, (schema) => !literal && listsAllTables(rules, schema));
  if (Object.keys(uncovered.schemas).length === 0) return { spec, addedColumns: [] };
  const addedColumns = readableColumns(uncovered.schemas);
  const draft = draftOf(spec.schemas);
  if (!hasRules) {
    mergeTree(draft, literalSchemas(uncovered.schemas));
    return { spec: { ...spec, schemas: treeOf(draft) ?? {} }, addedColumns };
  }
  const takenIds = new Set(rules.flatMap((rule) => ("id" in rule && rule.id !== undefined ? [rule.id] : [])));
  const added = inferRules(uncovered.schemas, { takenIds, globs: false });
  mergeTree(draft, added.schemas);
  const schemas = Object.keys(added.schemas).length === 0 ? spec.schemas : treeOf(draft);
  const withRules = { ...spec, rules: addRules(rules, added.rules, uncovered), ...(schemas === undefined ? {} : { schemas }) };
  return { spec: withRules, addedColumns };
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

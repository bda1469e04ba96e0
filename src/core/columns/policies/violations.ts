import type { NodePath } from "../../base/model/nodes.ts";
import type { Field } from "../../base/model/schema-tree.ts";
import { isSameMode } from "../../base/model/sync-mode.ts";
import type { Known, LabelScope, NodeState, Question, ScannedColumn, ScannedNode } from "../../kinds/index.ts";
import { labelAmong, labelsOfColumn, matchesName } from "../../kinds/index.ts";
import type { CompiledPolicy } from "./compile.ts";

// One check for both kinds of trees. In a live tree every value is known. In the literal tree of a manifest, what
// the manifest leaves out is unknown until the account is read, so conditions have three values: true, false and
// undefined for unknown.

/** A value that is not what the policy requires. */
export interface Violation {
  readonly actual: boolean;
  /** False if only the account shows whether the policy applies to the node. */
  readonly isCertain: boolean;
  /** The node that decides the value: for a table that is enabled in a disabled schema, the schema. */
  readonly decidedAt: NodePath;
}

/** A value of a node that violates a policy before the plan, after it, or both. */
export interface Violated {
  readonly path: NodePath;
  readonly key: Field;
  readonly now: Violation | undefined;
  readonly next: Violation | undefined;
}

interface PolicyOptions {
  /** Whether the tree is a literal one, in which the attributes that only the service returns are unknown. */
  readonly isLiteral: boolean;
  readonly onViolation: (violated: Violated) => void;
  /** Gets the replicated tables with columns, or values of columns, that the policy checks and the service does not show. Maybe more than once. */
  readonly onUnseen?: (table: NodePath) => void;
}

/** Something of a node before and after the plan. */
interface Both<T> {
  readonly now: T;
  readonly next: T;
}

function both<T>({ now, next }: ScannedNode, of: (state: NodeState, time: "now" | "next") => T): Both<T> {
  const before = of(now, "now");
  return { now: before, next: next === now ? before : of(next, "next") };
}

/** Finds the values that violate a policy. Columns are checked in replicated tables only. */
export function policyQuestion(policy: CompiledPolicy, { isLiteral, onViolation, onUnseen }: PolicyOptions): Question {
  const { nodes, labels: wanted } = policy;
  const { when = {}, require = {} } = policy.manifest.spec;
  const { depth } = nodes;
  /** Whether a column below can have a label that the policy checks. */
  const isPossible = (labels: LabelScope | undefined): boolean =>
    wanted === undefined || wanted.some((label) => labels?.possible.has(label));
  const onlyLive = (isMet: boolean): Known => (isLiteral ? undefined : isMet);
  const check = (
    path: NodePath,
    key: Field,
    found: Both<Omit<Violation, "actual" | "isCertain"> & { readonly actual: Known; readonly applies: Known }>,
  ): void => {
    const wantedValue = require[key];
    if (wantedValue === undefined) return;
    const violation = ({ actual, applies, decidedAt }: typeof found.now): Violation | undefined =>
      actual === undefined || actual === wantedValue || applies === false ? undefined : { actual, isCertain: applies === true, decidedAt };
    const now = violation(found.now);
    const next = found.next === found.now ? now : violation(found.next);
    if (now !== undefined || next !== undefined) onViolation({ path, key, now, next });
  };
  const required = (["enabled", "hashed"] as const).filter((key) => require[key] !== undefined);
  let inSchema: Both<Known> = { now: undefined, next: undefined };
  let inTable = inSchema;
  return {
    schema(node) {
      const { path, labels } = node;
      const isMatched = matchesName(nodes, 0, path[0]) && isPossible(labels);
      inSchema = both(node, ({ enabled }) => isMatched && holds(when.schema?.enabled, enabled));
      if (depth === 0)
        check(
          path,
          "enabled",
          both(node, ({ enabled }, time) => ({ actual: enabled, applies: inSchema[time], decidedAt: path })),
        );
      return depth !== 0 && (inSchema.now !== false || inSchema.next !== false);
    },
    table(node) {
      const { live, path, labels } = node;
      const isMatched = matchesName(nodes, 1, path[1]) && isPossible(labels);
      const mode = when.table?.syncMode;
      const isOfMode = mode === undefined || onlyLive(isSameMode(mode, live.syncMode));
      inTable = both(node, ({ replicated }, time) => isMatched && all(inSchema[time], holds(when.table?.enabled, replicated), isOfMode));
      if (depth === 1)
        check(
          path,
          "enabled",
          both(node, ({ enabled, replicated }, time) => ({
            actual: enabled === undefined ? undefined : (replicated ?? true),
            // A table that is enabled in a schema that may be disabled counts as replicated, but not for certain.
            applies: replicated === undefined && inTable[time] === true ? undefined : inTable[time],
            decidedAt: enabled === true && replicated === false ? [path[0]] : path,
          })),
        );
      const isChecked = both(node, ({ replicated }, time) => depth === 2 && inTable[time] !== false && replicated !== false);
      if (isChecked.next && live.columns === undefined) onUnseen?.(path);
      return isChecked.now || isChecked.next;
    },
    column(node, table) {
      const { live, path } = node;
      // Most columns end here.
      if (!matchesName(nodes, 2, path[2]) || !hasLabel(node, wanted)) return;
      const isKey = when.column?.isPrimaryKey;
      const isOfKind = isKey === undefined || onlyLive(isKey === (live.isPrimaryKey === true));
      const applies = both(node, ({ enabled, hashed }, time) =>
        all(inTable[time], table[time].replicated, holds(when.column?.enabled, enabled), holds(when.column?.hashed, hashed), isOfKind),
      );
      if (require.hashed !== undefined && node.next.hashed === undefined && applies.next !== false) onUnseen?.([path[0], path[1]]);
      for (const key of required)
        check(
          path,
          key,
          both(node, (state, time) => ({ actual: state[key], applies: applies[time], decidedAt: path })),
        );
    },
  };
}

const hasLabel = (column: ScannedColumn, wanted: readonly string[] | undefined): boolean =>
  wanted === undefined || labelAmong(labelsOfColumn(column), wanted) !== undefined;

const holds = (wanted: boolean | undefined, actual: Known): Known =>
  wanted === undefined ? true : actual === undefined ? undefined : wanted === actual;

/** False if one condition is false, whatever is unknown. */
const all = (...conditions: readonly Known[]): Known =>
  conditions.includes(false) ? false : conditions.includes(undefined) ? undefined : true;

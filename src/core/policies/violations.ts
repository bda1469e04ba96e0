import { columnLabels, enterLabels, type LabelScope, labelAmong } from "../kinds/patterns/labels.ts";
import { matchesName } from "../kinds/patterns/nodes.ts";
import type { LiveColumn, LiveSchema, LiveTable } from "../model/live.ts";
import type { NodePath } from "../model/nodes.ts";
import type { Steps } from "../model/runtime/event-loop.ts";
import { type ColumnPath, type Field, type SchemaPath, type TablePath, walkInSteps } from "../model/schema-tree.ts";
import { isSameMode } from "../model/sync-mode.ts";
import type { CompiledPolicy } from "./compile.ts";

// One check for both kinds of trees. In a live tree every value is known. In the literal tree of a manifest, what
// the manifest leaves out is unknown until the account is read, so conditions have three values: true, false and
// undefined for unknown.

type Known = boolean | undefined;

type CheckedColumn = Partial<LiveColumn>;

interface CheckedTable extends Partial<Omit<LiveTable, "columns">> {
  readonly columns?: Readonly<Record<string, CheckedColumn>>;
}

interface CheckedSchema extends Partial<Omit<LiveSchema, "tables">> {
  readonly tables?: Readonly<Record<string, CheckedTable>>;
}

export interface CheckedTree {
  readonly tree: Readonly<Record<string, CheckedSchema>>;
  /** Whether the tree is live. In a literal tree, the attributes that only the service returns are unknown. */
  readonly isLive: boolean;
  /** The scope of the integration's labels; undefined if the project has none. */
  readonly labels: LabelScope | undefined;
  /** The value to check instead of the tree's own, for example the planned one. */
  readonly value: (path: NodePath, key: Field, own: Known) => Known;
}

/** A value that is not what the policy requires. */
export interface Violation {
  readonly path: NodePath;
  readonly key: Field;
  readonly actual: boolean;
  /** False if only the account shows whether the policy applies to the node. */
  readonly isCertain: boolean;
  /** The node that decides the value: for a table that is enabled in a disabled schema, the schema. */
  readonly decidedAt: NodePath;
}

export interface Violations {
  readonly violations: readonly Violation[];
  /** Replicated tables with columns, or values of columns, that the policy checks and the service does not show. */
  readonly tablesWithoutColumns: readonly NodePath[];
}

/** A node as a policy sees it. */
interface NodeState {
  readonly enabled: Known;
  /** Whether it and the nodes above are enabled. */
  readonly replicated: Known;
  /** Whether the conditions of the policy hold for it and the nodes above. */
  readonly applies: Known;
  /** The labels that columns below can have. */
  readonly labels?: LabelScope | undefined;
}

const nothing: NodeState = { enabled: undefined, replicated: undefined, applies: undefined };

/** Whether a column below can have a label that the policy checks. */
const isPossible = ({ labels: wanted }: CompiledPolicy, labels: LabelScope | undefined): boolean =>
  wanted === undefined || wanted.some((label) => labels?.possible.has(label));

/** The violations of a declarative policy. Columns are checked in replicated tables only. */
export function* findViolations(policy: CompiledPolicy, checked: CheckedTree): Steps<Violations> {
  const onTree: Check = { ...checked, ...policy, root: checked.labels };
  const { depth } = policy.nodes;
  const { require = {} } = policy.resource.spec;
  const violations: Violation[] = [];
  const tablesWithoutColumns: NodePath[] = [];
  const check = (at: Pick<Violation, "path" | "key" | "decidedAt">, actual: Known, applies: Known): void => {
    if (require[at.key] === undefined || actual === undefined || actual === require[at.key] || applies === false) return;
    violations.push({ ...at, actual, isCertain: applies === true });
  };
  let schemaState = nothing;
  let tableState = nothing;
  yield* walkInSteps(checked.tree, {
    schema(entry, path) {
      schemaState = stateOfSchema(onTree, { entry, path });
      if (depth === 0) check({ path, key: "enabled", decidedAt: path }, schemaState.enabled, schemaState.applies);
      return depth !== 0 && schemaState.applies !== false;
    },
    table(entry, path) {
      tableState = stateOfTable(onTree, { entry, path }, schemaState);
      const { enabled, replicated, applies } = tableState;
      // A table that is enabled in a schema that may be disabled counts as replicated, but not for certain.
      const certainly = replicated === undefined ? undefined : applies;
      if (depth === 1 && enabled !== undefined)
        check({ path, key: "enabled", decidedAt: decidingNode(path, tableState) }, replicated ?? true, certainly);
      if (depth !== 2 || applies === false || replicated === false) return false;
      if (checked.isLive && entry.columns === undefined) tablesWithoutColumns.push(path);
      return true;
    },
    column(entry, path) {
      const { enabled, hashed, applies } = stateOfColumn(onTree, { entry, path }, tableState);
      if (checked.isLive && require.hashed !== undefined && hashed === undefined && applies !== false)
        tablesWithoutColumns.push([path[0], path[1]]);
      check({ path, key: "enabled", decidedAt: path }, enabled, applies);
      check({ path, key: "hashed", decidedAt: path }, hashed, applies);
    },
  });
  return { violations, tablesWithoutColumns };
}

/** The node that decides whether a table is replicated. */
const decidingNode = ([schema, table]: readonly [string, string], { enabled, replicated }: NodeState): NodePath =>
  enabled === true && replicated === false ? [schema] : [schema, table];

/** A policy on a tree. */
type Check = CompiledPolicy & Omit<CheckedTree, "labels"> & { readonly root: LabelScope | undefined };

interface At<Entry, Path> {
  readonly entry: Entry;
  readonly path: Path;
}

/** What the service does not show counts as enabled (`isEnabled`); in a literal tree it is unknown. */
const unknownEnabled = ({ isLive }: Check): Known => (isLive ? true : undefined);

function stateOfSchema(check: Check, { entry, path }: At<CheckedSchema, SchemaPath>): NodeState {
  const { resource, nodes, value, root: labels } = check;
  const enabled = value(path, "enabled", entry.enabled ?? unknownEnabled(check));
  const inSchema = labels && enterLabels(labels, path[0], entry.nameInDestination);
  const applies = matchesName(nodes, 0, path[0]) && isPossible(check, inSchema) && holds(resource.spec.when?.schema?.enabled, enabled);
  return { enabled, replicated: enabled, applies, labels: inSchema };
}

function stateOfTable(check: Check, { entry, path }: At<CheckedTable, TablePath>, above: NodeState): NodeState {
  const condition = check.resource.spec.when?.table;
  const enabled = check.value(path, "enabled", entry.enabled ?? unknownEnabled(check));
  const replicated = all(above.replicated, enabled);
  const syncMode = condition?.syncMode === undefined || (check.isLive ? isSameMode(condition.syncMode, entry.syncMode) : undefined);
  const labels = above.labels && enterLabels(above.labels, path[1], entry.nameInDestination);
  const applies =
    matchesName(check.nodes, 1, path[1]) &&
    isPossible(check, labels) &&
    all(above.applies, holds(condition?.enabled, replicated), syncMode);
  return { enabled, replicated, applies, labels };
}

function stateOfColumn(
  check: Check,
  { entry, path }: At<CheckedColumn, ColumnPath>,
  above: NodeState,
): Pick<NodeState, "enabled" | "applies"> & { readonly hashed: Known } {
  const condition = check.resource.spec.when?.column;
  const enabled = check.value(path, "enabled", entry.enabled ?? unknownEnabled(check));
  const hashed = check.value(path, "hashed", entry.hashed);
  const isKey =
    condition?.isPrimaryKey === undefined || (check.isLive ? condition.isPrimaryKey === (entry.isPrimaryKey === true) : undefined);
  const applies =
    matchesName(check.nodes, 2, path[2]) &&
    all(
      above.applies,
      above.replicated,
      holds(condition?.enabled, enabled),
      holds(condition?.hashed, hashed),
      isKey,
      hasLabel(check, { entry, path }, above),
    );
  return { enabled, hashed, applies };
}

function hasLabel({ labels: wanted }: Check, { entry, path }: At<CheckedColumn, ColumnPath>, { labels }: NodeState): boolean {
  if (wanted === undefined) return true;
  return labels !== undefined && labelAmong(columnLabels(labels, path[2], entry.nameInDestination), wanted) !== undefined;
}

const holds = (wanted: boolean | undefined, actual: Known): Known =>
  wanted === undefined ? true : actual === undefined ? undefined : wanted === actual;

/** False if one condition is false, whatever is unknown. */
const all = (...conditions: readonly Known[]): Known =>
  conditions.includes(false) ? false : conditions.includes(undefined) ? undefined : true;

import { isObject, own } from "../../base/model/json/json.ts";
import { keptAs } from "../../base/model/kept.ts";
import type { LiveColumn, LiveSchema, LiveSchemas, LiveTable } from "../../base/model/live.ts";
import { type ColumnTree, locationIn, type TableTexts } from "../../base/model/manifest.ts";
import { getOrAdd } from "../../base/model/maps.ts";
import { type NodePath, nodePointer } from "../../base/model/nodes.ts";
import type { Risk } from "../../base/model/plan.ts";
import {
  type Depth,
  type Field,
  isEnabled,
  literalPointer,
  type NodeCause,
  type NodeField,
  nodesAt,
  riskOf,
  type TablePath,
  tableTexts,
} from "../../base/model/schema-tree.ts";
import { isSameMode, requestMode } from "../../base/model/sync-mode.ts";
import type { Account, Decision, DifferentValue, Overlay } from "../kind.ts";
import type { Layer, ProgramRule, RuleProgram, ValueSource } from "./compiled-config.ts";
import type { Keeper } from "./keeping.ts";
import { type Expected, expectedKeys } from "./rules/compile-rule.ts";
import type { Resolution, ResolvedTexts } from "./rules/resolve-rules.ts";
import type { CachedMatch, RuleCache, RuleScope } from "./rules/rule-cache.ts";
import { addTo, addWarning, emptySample, type NodeSample, newStats, type RunningStats } from "./rules/rule-stats.ts";
import type { SchemaConfigUnit } from "./units.ts";

// What evaluate.ts collects while it walks a tree. Only nodes that differ get here, so it may allocate.

/** One value of one node that changes. */
export type NodeChange = FlagChange | TextChange;

interface TextChange extends ChangedValue<string> {
  readonly key: keyof TableTexts;
}

interface FlagChange extends ChangedValue<boolean> {
  readonly key: Field;
}

interface ChangedValue<Value> {
  readonly path: NodePath;
  /** Undefined: the service does not show it. */
  readonly before: Value | undefined;
  readonly after: Value;
  readonly risk: Risk;
  readonly cause: NodeCause;
  readonly by: ValueSource;
}

/** Columns that must not be disabled, by what disables them. */
export interface Refused {
  readonly role: "primary key" | "cursor";
  readonly by: ValueSource;
  readonly cause: NodeCause;
  readonly columns: NodeSample;
}

/** An `expect` entry that does not hold. */
export interface Unmet {
  readonly path: NodePath;
  readonly key: keyof Expected;
  readonly expected: string | boolean;
  readonly actual: string | boolean | undefined;
}

/** What becomes of a leaf that differs. Without a change: "leave" if `ignore` covers the leaf. */
export type DecideLeaf = (path: NodePath, key: NodeField, change?: Pick<DifferentValue, "live" | "wanted" | "risk">) => Decision;

/** Whether the service says that requests change nothing of the table: a nested list of another table, for example. */
export const isFixed = ({ enabledPatchSettings: settings }: Pick<LiveTable, "enabledPatchSettings">): boolean =>
  isObject(settings) && own(settings, "allowed") === false;

/**
 * The overlay of the schemas, asked by node. A flag that an apply has sent counts as sent only if the service has never shown it: if it
 * showed the flag before and does not now, the flag may have changed.
 */
export function overlayOf(
  { address, liveId }: Pick<SchemaConfigUnit, "address" | "liveId">,
  tree: LiveSchemas,
  account: Account,
): { readonly decide: DecideLeaf; readonly steps: Overlay["steps"] } {
  const overlay = account.overlay(address);
  const kept = account.kept.get(liveId)?.schemas;
  const decide: DecideLeaf = (path, key, change) => {
    const pointer = nodePointer(path, key);
    if (change === undefined) return account.ignored(address, pointer) ? "leave" : "send";
    const { wanted, live, risk } = change;
    const { table } = nodesAt(tree, path);
    // Without a spread, which would take twice as long.
    return overlay.decide({
      path: pointer,
      wanted,
      live,
      risk,
      isFixed: table !== undefined && isFixed(table),
      wasSent: live === undefined && keptAs(kept, path, key === "hashed" ? "hashed" : "disabled")?.isUnseen === true,
    });
  };
  return { decide, steps: overlay.steps };
}

/** What the comparison of one integration finds. Mutable while its tree is walked. */
export interface Evaluation {
  readonly program: RuleProgram;
  readonly decide: DecideLeaf;
  /** By name, whatever the order of the response. */
  readonly changes: NodeChange[];
  /** Key columns that a manifest disables and that stay enabled, because their table is disabled. */
  readonly keptKeys: NodePath[];
  readonly refused: Map<string, Refused>;
  /** By depth: nodes that nothing covers, if `unmatched` is `error`. */
  readonly uncovered: readonly [NodeSample, NodeSample, NodeSample];
  readonly unmet: Unmet[];
  /** What manifests keep unreadable. Undefined if nothing records it. */
  readonly keeper: Keeper | undefined;
  readonly stats: RunningStats;
  /** Live schemas, tables and columns, covered or not. */
  liveNodes: number;
  /** Those of them that are columns. */
  liveColumns: number;
  /** Live columns that nothing covers. */
  unmanagedColumns: number;
  /** Columns that become readable: replicated and not hashed after the changes, and not before. */
  exposedColumns: number;
  /** Whether literal trees name columns that a live table lacks. */
  hasMissingColumns: boolean;
}

export const newEvaluation = (cache: RuleCache, { decide, keeper }: Pick<Evaluation, "decide" | "keeper">): Evaluation => ({
  program: cache.program,
  decide,
  changes: [],
  keptKeys: [],
  refused: new Map(),
  uncovered: [emptySample(), emptySample(), emptySample()],
  unmet: [],
  keeper,
  stats: newStats(cache),
  liveNodes: 0,
  liveColumns: 0,
  unmanagedColumns: 0,
  exposedColumns: 0,
  hasMissingColumns: false,
});

/** A leaf with its live value. */
interface Leaf {
  readonly path: NodePath;
  readonly key: Field;
  readonly before: boolean | undefined;
}

/** Returns the value that the leaf should have, and records a change if it differs. */
export function collectValue(evaluation: Evaluation, { path, key, before }: Leaf, resolution: Resolution): boolean | undefined {
  const depth = (path.length - 1) as Depth;
  const set = key === "enabled" ? resolution.enabled : resolution.hashed;
  const isCovered = resolution.covered || resolution.ignored;
  const unmatched = isCovered || key === "hashed" ? undefined : evaluation.program.unmatched[depth];
  if (unmatched?.mode === "error") {
    if (evaluation.decide(path, key) === "send") addTo(evaluation.uncovered[depth], path);
    return before;
  }
  const after = set ?? (unmatched === undefined ? before : unmatched.mode === "enable");
  const by = set === undefined ? unmatched : key === "enabled" ? resolution.enabledBy : resolution.hashedBy;
  if (depth < 2 && after === false && by !== undefined) evaluation.keeper?.add(undefined, key, before === false, by);
  if (after === undefined || after === before || by === undefined) return before;
  return collectFlag(evaluation, { path, key, before, after, by });
}

interface TableTextsOf {
  readonly path: TablePath;
  readonly live: LiveTable;
  readonly texts: ResolvedTexts;
}

/**
 * Records how the sync mode and the cursor of a table change. A value that the service does not show is not sent, except the cursor with
 * a new mode: it may be shown only then.
 */
export function collectTexts(evaluation: Evaluation, { path, live, texts }: TableTextsOf): void {
  const { changes, decide, stats } = evaluation;
  const warn = (code: "W_CURSOR_MISSING" | "W_RESYNC", by: ProgramRule | Layer): void =>
    addWarning(stats, { key: `${code} ${by.type === "rule" ? by.index : by.config.address}`, code, by }, path);
  const { cursorField } = texts;
  if (cursorField !== undefined && lacksColumn(live, cursorField.value)) {
    warn("W_CURSOR_MISSING", cursorField.by);
    return;
  }
  let resyncedBy: ProgramRule | Layer | undefined;
  for (const key of tableTexts) {
    const set = texts[key];
    if (set === undefined) continue;
    const [before, { by }] = [live[key], set];
    const after = key === "syncMode" ? (requestMode(set.value) ?? set.value) : set.value;
    if (before === after || (key === "syncMode" && isSameMode(before, after))) continue;
    // A cursor that is not shown with the mode before is none.
    const known = resyncedBy === undefined ? before : (before ?? null);
    if (decide(path, key, { live: known, wanted: after, risk: "neutral" }) !== "send") continue;
    resyncedBy ??= by;
    changes.push({ path, key, before, after, risk: "neutral", cause: causeOf(by, path, key), by });
  }
  if (resyncedBy !== undefined && isEnabled(live)) warn("W_RESYNC", resyncedBy);
}

/** Whether the table is known not to have the column. */
export const lacksColumn = ({ columns }: LiveTable, name: string): boolean => columns !== undefined && own(columns, name) === undefined;

/** The table that the walk is in. */
export interface TableState {
  readonly path: TablePath;
  readonly live: LiveTable;
  /** Whether the table is enabled after the changes. */
  readonly enabled: boolean;
  /** Whether the table and its schema are enabled: after the changes, and before. */
  readonly replicated: boolean;
  readonly wasReplicated: boolean;
  /** The cursor that manifests set. */
  readonly cursor: string | undefined;
  /** The scope of its columns. */
  readonly scope: RuleScope;
  /** The literal columns by layer. */
  readonly literals: readonly (Readonly<Record<string, ColumnTree>> | undefined)[] | undefined;
  /** New columns that must stay switched off until someone has reviewed them. */
  readonly switchedOff: ReadonlySet<string> | undefined;
}

/** What a column must not be disabled as, if it must not. */
export const keyRole = (name: string, column: LiveColumn, { cursorField }: LiveTable): Refused["role"] | undefined =>
  column.isPrimaryKey === true ? "primary key" : cursorField === name ? "cursor" : undefined;

/** Whether a column is one of these new columns of its table. Key columns cannot be disabled, so they are not switched off. */
export const isSwitchedOff = (
  newColumns: ReadonlySet<string> | undefined,
  name: string,
  { column, table }: { readonly column: LiveColumn; readonly table: LiveTable },
): boolean => newColumns?.has(name) === true && keyRole(name, column, table) === undefined;

/** A new column is switched off, whatever rules and literal entries set. */
export function collectSwitchedOff(evaluation: Evaluation, path: NodePath, before: boolean | undefined): boolean | undefined {
  const { unreviewed } = evaluation.program;
  if (unreviewed === undefined || before === false) return before;
  return collectFlag(evaluation, { path, key: "enabled", before, after: false, by: unreviewed });
}

interface LeafValue extends Leaf {
  readonly after: boolean;
  readonly by: ValueSource;
}

/** Records the change if it is sent, and returns the value that the leaf has then. */
function collectFlag({ decide, changes }: Evaluation, leaf: LeafValue): boolean | undefined {
  const { path, key, before, after, by } = leaf;
  const risk = riskOf(key, after);
  const decision = decide(path, key, { live: before, wanted: after, risk });
  if (decision === "send") changes.push({ path, key, before, after, risk, cause: causeOf(by, path, key), by });
  return decision === "leave" ? before : after;
}

/** Whether the table is read by a cursor column that the service does not name: any column could be it. */
const hidesCursor = ({ syncMode, cursorField }: LiveTable): boolean =>
  cursorField === undefined && ["Incremental", "Incremental (Append-Only)"].some((mode) => isSameMode(mode, syncMode));

/** Checks changes of a column of the table: disabled or hashed key columns. A key stays enabled in a disabled table. */
export function checkColumnChanges(
  evaluation: Evaluation,
  changes: readonly NodeChange[],
  { column, table }: { readonly column: LiveColumn; readonly table: TableState },
): void {
  for (const change of changes) {
    const { path, key, after, by, cause } = change;
    const role = keyRole(path[2] ?? "", column, table.live) ?? (path[2] === table.cursor ? "cursor" : undefined);
    const source = by.type === "rule" ? `rule ${by.index}` : by.type === "mode" ? "unmatched" : cause.place.pointer;
    if (key === "hashed" && after && role === "primary key")
      addWarning(evaluation.stats, { key: `key ${source}`, code: "W_HASHES_PRIMARY_KEY", by }, path);
    if (key !== "enabled" || after) continue;
    if (role === undefined) {
      if (table.enabled && table.cursor === undefined && hidesCursor(table.live))
        addWarning(evaluation.stats, { key: `cursor ${source}`, code: "W_CURSOR_UNKNOWN", by }, path);
      continue;
    }
    if (!table.enabled) {
      // Nothing is broken, and the table can be enabled again only with its key.
      evaluation.changes.splice(evaluation.changes.lastIndexOf(change), 1);
      evaluation.keptKeys.push(path);
      continue;
    }
    addTo(getOrAdd(evaluation.refused, `${role} ${source}`, () => ({ role, by, cause, columns: emptySample() })).columns, path);
  }
}

/** Compares a node with the `expect` entries that match it; the last one counts for each member. */
export function checkExpectations(
  { unmet }: Evaluation,
  { expectations }: CachedMatch,
  path: NodePath,
  node: LiveSchema | LiveTable | LiveColumn,
): void {
  if (expectations.length === 0) return;
  const wanted: Partial<Record<keyof Expected, string | boolean>> = {};
  for (const { expected } of expectations) Object.assign(wanted, expected);
  const actual: Partial<Record<keyof Expected, string | boolean>> = node;
  for (const key of expectedKeys) {
    const expected = wanted[key];
    const is = actual[key];
    const isMet = key === "syncMode" ? isSameMode(String(expected), is?.toString()) : is === expected;
    if (expected !== undefined && !isMet) unmet.push({ path, key, expected, actual: is });
  }
}

/** Where a value is set: the rule, the `unmatched` entry, or the leaf of the literal tree. */
export function causeOf(by: ValueSource, path: NodePath, key: NodeField): NodeCause {
  return by.type === "literal" ? { place: locationIn(by.config, literalPointer(path, key)) } : by.cause;
}

import { defined } from "../../../model/json/json.ts";
import type { ColumnTree, TableTexts } from "../../../model/resource.ts";
import { type Depth, type NodeField, tableTexts } from "../../../model/schema-tree.ts";
import type { Layer, ProgramRule } from "../compiled-config.ts";

/** The literal entry of a node; for schemas and tables with the maps below. */
interface LiteralEntry extends ColumnTree, TableTexts {
  readonly tables?: unknown;
  readonly columns?: unknown;
}

/** By layer; undefined if the layer's tree has no entry for the node. */
export type Literals = readonly (LiteralEntry | undefined)[];

/** What rules and literal entries set for one node, whatever its live values are. Mutable, because it is reused for millions of nodes. */
export interface Resolution {
  enabled: boolean | undefined;
  enabledBy: ProgramRule | Layer | undefined;
  hashed: boolean | undefined;
  hashedBy: ProgramRule | Layer | undefined;
  /** Of a table, and undefined for most. */
  texts: ResolvedTexts | undefined;
  /** Whether a rule or literal entry covers the node, so that `unmatched` does not apply. */
  covered: boolean;
  ignored: boolean;
}

/** The sync mode and the cursor of a table, and what sets them. */
export type ResolvedTexts = {
  readonly [Key in keyof TableTexts]?: { readonly value: string; readonly by: ProgramRule | Layer };
};

/** What they set. */
export const textsOf = ({ texts }: Pick<Resolution, "texts">): TableTexts =>
  defined({ syncMode: texts?.syncMode?.value, cursorField: texts?.cursorField?.value });

export const newResolution = (): Resolution => ({
  enabled: undefined,
  enabledBy: undefined,
  hashed: undefined,
  hashedBy: undefined,
  texts: undefined,
  covered: false,
  ignored: false,
});

/** Of the nodes to resolve. */
export interface Place {
  readonly layers: readonly Layer[];
  readonly depth: Depth;
}

/**
 * Applies rules and literal entries in order: layer by layer its rules, then its literal tree. Fields merge, later ones
 * win, and `ignore` drops what was set before. `applied` are the rules that match the node, and the rules that ignore a
 * node above.
 */
export function resolve(into: Resolution, applied: readonly ProgramRule[], literals: Literals | undefined, { layers, depth }: Place): void {
  into.enabled = undefined;
  into.hashed = undefined;
  into.texts = undefined;
  into.covered = false;
  into.ignored = false;
  let next = 0;
  const layerCount = literals === undefined ? 1 : literals.length;
  for (let layer = 0; layer < layerCount; layer++) {
    for (; next < applied.length; next++) {
      const rule = applied[next];
      if (rule === undefined || (literals !== undefined && rule.layer > layer)) break;
      if (rule.ignores) {
        into.enabled = undefined;
        into.hashed = undefined;
        into.texts = undefined;
        into.covered = false;
        into.ignored = true;
      } else if (rule.set !== undefined) {
        merge(into, rule.set, rule, depth);
        into.covered = true;
      }
    }
    const entry = literals?.[layer];
    const source = layers[layer];
    if (entry === undefined || source === undefined) continue;
    merge(into, entry, source, depth);
    if (coversItself(entry, depth)) into.covered = true;
  }
}

function merge(into: Resolution, fields: ColumnTree & TableTexts, source: ProgramRule | Layer, depth: Depth): void {
  if (fields.enabled !== undefined) {
    into.enabled = fields.enabled;
    into.enabledBy = source;
    into.ignored = false;
  }
  if (fields.hashed !== undefined && depth === 2) {
    into.hashed = fields.hashed;
    into.hashedBy = source;
    into.ignored = false;
  }
  if (depth !== 1) return;
  for (const key of tableTexts) {
    const value = fields[key];
    if (value === undefined) continue;
    into.texts = { ...into.texts, [key]: { value, by: source } };
    into.ignored = false;
  }
}

/** False for an entry that only contains entries for nodes below: like a rule on a column, it does not cover its table. */
export function coversItself(entry: LiteralEntry, depth: Depth): boolean {
  return (
    depth === 2 ||
    entry.enabled !== undefined ||
    tableTexts.some((key) => entry[key] !== undefined) ||
    (depth === 1 ? entry.columns : entry.tables) === undefined
  );
}

/** A rule, or a literal entry and its layer. */
export type Step = { readonly by: ProgramRule; readonly entry?: undefined } | { readonly by: Layer; readonly entry: LiteralEntry };

/** What `resolve` applies, as a list in the same order. */
export function steps(applied: readonly ProgramRule[], literals: Literals | undefined, layers: readonly Layer[]): readonly Step[] {
  const found: Step[] = [];
  let next = 0;
  for (const [layer, entry] of (literals ?? []).entries()) {
    for (let rule = applied[next]; rule !== undefined && rule.layer <= layer; rule = applied[++next]) found.push({ by: rule });
    const by = layers[layer];
    if (entry !== undefined && by !== undefined) found.push({ by, entry });
  }
  return [...found, ...applied.slice(next).map((by) => ({ by }))];
}

/** A value and the first step that set it without being overridden. */
interface Decision {
  readonly value: boolean | string | undefined;
  readonly by: ProgramRule | Layer | undefined;
}
const undecided: Decision = { value: undefined, by: undefined };

/** By depth. */
const fieldsAt: readonly (readonly NodeField[])[] = [["enabled"], ["enabled", ...tableTexts], ["enabled", "hashed"]];
const noDecisions: Readonly<Record<NodeField, Decision>> = {
  enabled: undecided,
  hashed: undecided,
  syncMode: undecided,
  cursorField: undecided,
};

/**
 * The rules without which the node would have another state. A value is decided by the first step that sets it and is not
 * overridden later: steps before it are overridden, steps after it repeat it. If no node of any integration has a rule
 * here, the rule can be removed without consequences, and so can all such rules together.
 */
export function effectiveRules(
  applied: readonly ProgramRule[],
  literals: Literals | undefined,
  { layers, depth }: Place,
): readonly ProgramRule[] {
  // Alone, a rule decides everything; most nodes match one rule.
  if (applied.length === 0 || (applied.length === 1 && literals === undefined)) return applied;
  const fields = fieldsAt[depth] ?? [];
  let decisions = { ...noDecisions };
  let ignoredBy: ProgramRule | undefined;
  let coveredBy: ProgramRule | Layer | undefined;
  const droppedBy: { [Key in NodeField]?: ProgramRule } = {};
  for (const { by, entry } of steps(applied, literals, layers)) {
    if (by.type === "rule" && by.ignores) {
      for (const key of fields) if (decisions[key].value !== undefined) droppedBy[key] = by;
      decisions = { ...noDecisions };
      ignoredBy ??= by;
      coveredBy = undefined;
      continue;
    }
    const set: (ColumnTree & TableTexts) | undefined = by.type === "rule" ? by.set : entry;
    if (set === undefined) continue;
    if (by.type === "rule" || (entry !== undefined && coversItself(entry, depth))) coveredBy ??= by;
    for (const key of fields) {
      const value = set[key];
      if (value === undefined) continue;
      if (value !== decisions[key].value) decisions[key] = { value, by };
      ignoredBy = undefined;
    }
  }
  const dropped = fields.map((key) => (decisions[key].value === undefined ? droppedBy[key] : undefined));
  // A rule that decides a value also covers the node.
  const deciding = fields.map((key) => decisions[key].by);
  const covering = deciding.find((by) => by !== undefined) ?? coveredBy;
  return [...deciding, ignoredBy, covering, ...dropped].filter((by) => by?.type === "rule");
}

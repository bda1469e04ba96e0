import { defined } from "../../../base/model/json/json.ts";
import type { ColumnTree, TableTexts } from "../../../base/model/manifest.ts";
import { type Depth, tableTexts } from "../../../base/model/schema-tree.ts";
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
export type RuleStep = { readonly by: ProgramRule; readonly entry?: undefined } | { readonly by: Layer; readonly entry: LiteralEntry };

/** What `resolve` applies, as a list in the same order. */
export function steps(applied: readonly ProgramRule[], literals: Literals | undefined, layers: readonly Layer[]): readonly RuleStep[] {
  const found: RuleStep[] = [];
  let next = 0;
  for (const [layer, entry] of (literals ?? []).entries()) {
    for (let rule = applied[next]; rule !== undefined && rule.layer <= layer; rule = applied[++next]) found.push({ by: rule });
    const by = layers[layer];
    if (entry !== undefined && by !== undefined) found.push({ by, entry });
  }
  return [...found, ...applied.slice(next).map((by) => ({ by }))];
}

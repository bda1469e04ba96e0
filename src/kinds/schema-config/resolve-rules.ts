import type { ColumnTree } from "../../model/resource.ts";
import type { Layer, Rule } from "./compiled-config.ts";
import type { Depth } from "./tree.ts";

/** What a literal tree says of a node; of schemas and tables, the maps below are part of it. */
export interface LiteralEntry extends ColumnTree {
  readonly tables?: unknown;
  readonly columns?: unknown;
}

/** By layer; undefined where the layer's tree doesn't name the node. */
export type Says = readonly (LiteralEntry | undefined)[];

/** What rules and literals come to for one node, live state aside. Reused from node to node, because there are millions. */
export interface Verdict {
  enabled: boolean | undefined;
  enabledBy: Rule | Layer | undefined;
  hashed: boolean | undefined;
  hashedBy: Rule | Layer | undefined;
  /** Whether a rule or literal speaks of the node itself, so that `unmatched` does not. */
  covered: boolean;
  ignored: boolean;
}

export const newVerdict = (): Verdict => ({
  enabled: undefined,
  enabledBy: undefined,
  hashed: undefined,
  hashedBy: undefined,
  covered: false,
  ignored: false,
});

/**
 * Lets everything that has a say speak in order: layer by layer its rules, then its literal tree; fields merge, later wins, and `ignore` forgets
 * what was said before (product §2.4.3). `spoken` are the rules of the node and ignoring ones of nodes above, those whose `where` holds.
 */
export function resolve(into: Verdict, spoken: readonly Rule[], says: Says | undefined, layers: readonly Layer[], depth: Depth): void {
  into.enabled = undefined;
  into.hashed = undefined;
  into.covered = false;
  into.ignored = false;
  let next = 0;
  const layerCount = says === undefined ? 1 : says.length;
  for (let layer = 0; layer < layerCount; layer++) {
    for (; next < spoken.length; next++) {
      const rule = spoken[next];
      if (rule === undefined || (says !== undefined && rule.layer > layer)) break;
      if (rule.ignores) {
        into.enabled = undefined;
        into.hashed = undefined;
        into.covered = false;
        into.ignored = true;
      } else if (rule.set !== undefined) {
        take(into, rule.set, rule, depth);
        into.covered = true;
      }
    }
    const entry = says?.[layer];
    const speaker = layers[layer];
    if (entry === undefined || speaker === undefined) continue;
    take(into, entry, speaker, depth);
    if (isAboutItself(entry, depth)) into.covered = true;
  }
}

function take(into: Verdict, said: ColumnTree, speaker: Rule | Layer, depth: Depth): void {
  if (said.enabled !== undefined) {
    into.enabled = said.enabled;
    into.enabledBy = speaker;
    into.ignored = false;
  }
  if (said.hashed !== undefined && depth === 2) {
    into.hashed = said.hashed;
    into.hashedBy = speaker;
    into.ignored = false;
  }
}

/** An entry that is only there to hold entries below it says nothing of the node itself, as a rule on a column says nothing of its table. */
export function isAboutItself(entry: LiteralEntry, depth: Depth): boolean {
  return depth === 2 || entry.enabled !== undefined || (depth === 1 ? entry.columns : entry.tables) === undefined;
}

/** One voice in the order of speaking. */
export type Statement = { readonly by: Rule; readonly entry?: undefined } | { readonly by: Layer; readonly entry: LiteralEntry };

/** The same voices as `resolve` hears, one by one. */
export function statements(spoken: readonly Rule[], says: Says | undefined, layers: readonly Layer[]): readonly Statement[] {
  const voices: Statement[] = [];
  let next = 0;
  for (const [layer, entry] of (says ?? []).entries()) {
    for (let rule = spoken[next]; rule !== undefined && rule.layer <= layer; rule = spoken[++next]) voices.push({ by: rule });
    const by = layers[layer];
    if (entry !== undefined && by !== undefined) voices.push({ by, entry });
  }
  return [...voices, ...spoken.slice(next).map((by) => ({ by }))];
}

/**
 * The rules that the node owes its state to. A value is owed to the first that said it and was not contradicted since: those before it were
 * overruled, those after it said nothing new. All rules that no node owes anything to could go at once, and nothing would change.
 */
export function effectiveRules(spoken: readonly Rule[], says: Says | undefined, layers: readonly Layer[], depth: Depth): readonly Rule[] {
  // Alone it is owed all there is; of most nodes one rule speaks.
  if (spoken.length === 0 || (spoken.length === 1 && says === undefined)) return spoken;
  type Field = { readonly value: boolean | undefined; readonly by: Rule | Layer | undefined };
  const nothing: Field = { value: undefined, by: undefined };
  let fields = { enabled: nothing, hashed: nothing };
  let ignoredBy: Rule | undefined;
  let coveredBy: Rule | Layer | undefined;
  const takenBy: { enabled?: Rule; hashed?: Rule } = {};
  for (const { by, entry } of statements(spoken, says, layers)) {
    if (by.type === "rule" && by.ignores) {
      for (const key of ["enabled", "hashed"] as const) if (fields[key].value !== undefined) takenBy[key] = by;
      fields = { enabled: nothing, hashed: nothing };
      ignoredBy ??= by;
      coveredBy = undefined;
      continue;
    }
    const said: ColumnTree | undefined = by.type === "rule" ? by.set : entry;
    if (said === undefined) continue;
    if (by.type === "rule" || (entry !== undefined && isAboutItself(entry, depth))) coveredBy ??= by;
    for (const key of ["enabled", "hashed"] as const) {
      const value = said[key];
      if (value === undefined || (key === "hashed" && depth !== 2)) continue;
      if (value !== fields[key].value) fields[key] = { value, by };
      ignoredBy = undefined;
    }
  }
  const taken = (["enabled", "hashed"] as const).map((key) => (fields[key].value === undefined ? takenBy[key] : undefined));
  // Who is owed a value covers the node as well.
  const covering = fields.enabled.by ?? fields.hashed.by ?? coveredBy;
  return [fields.enabled.by, fields.hashed.by, ignoredBy, covering, ...taken].filter((by) => by?.type === "rule");
}

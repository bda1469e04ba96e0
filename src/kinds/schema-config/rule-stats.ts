import type { CompiledConfig, Layer, Program, Rule, Statements, Unmatched } from "./compiled-config.ts";
import { type Case, type Context, isSilent } from "./rule-cache.ts";
import { comparePaths, type NodePath, nodeText } from "./tree.ts";

// Whether a glob matches nothing, or a rule never decides anything, shows only over all integrations of a configuration, which are compared one by
// one and forgotten. So each comparison leaves a tally of a few bytes a rule, and `conclude` adds them up.

/** A warning that is told once for a rule or literal, however many nodes and integrations it concerns. */
export interface Warning {
  readonly code: "W_HASHES_PRIMARY_KEY" | "W_COLUMN_RULES_IN_DISABLED_TABLE";
  readonly by: Rule | Layer | Unmatched;
  /** Columns or tables, as the code has it. */
  readonly nodes: Sample;
}

export interface RuleStats {
  readonly statements: Statements;
  /** By rule: nodes that it spoke of. */
  readonly matches: Uint32Array;
  /** By rule: 1 where some node would be another without it. */
  readonly effective: Uint8Array;
  /** By rule: 1 where it may speak of columns that are unknown. */
  readonly blind: Uint8Array;
  /** By rule: down to which depth, counted from 1, there were places in which it looked for names. */
  readonly reached: Uint8Array;
  /** By pattern: 1 where it matches a name. */
  readonly hits: Uint8Array;
  readonly warnings: Map<string, Warning>;
}

/** What the comparison of one integration leaves behind. */
export interface UnitTally extends RuleStats {
  /** What people call the integration. */
  readonly label: string;
  /** How many integrations each configuration of the run selects; only where all of them were compared may "nothing" be said. */
  readonly targets: ReadonlyMap<CompiledConfig, number>;
}

/** A tally while one tree is walked. */
export interface Counting extends RuleStats {
  readonly epoch: number;
  readonly seen: Case[];
}

/** Numbers walks, so that what contexts have counted for one is not taken for another's. The value means nothing else. */
let walks = 0;

export function beginTally(program: Program): Counting {
  const rules = program.rules.length;
  return {
    statements: program.statements,
    matches: new Uint32Array(rules),
    effective: new Uint8Array(rules),
    blind: new Uint8Array(rules),
    reached: new Uint8Array(rules),
    hits: new Uint8Array(program.patterns.length),
    warnings: new Map(),
    epoch: ++walks,
    seen: [],
  };
}

/** The walk looks names up in this place. */
export function countPlace(tally: Counting, context: Context): void {
  if (context.epoch === tally.epoch || isSilent(context)) return;
  context.epoch = tally.epoch;
  for (const { index } of context.rules) tally.reached[index] = Math.max(tally.reached[index] ?? 0, context.depth + 1);
}

/** The walk can't look: the columns of this place are unknown. */
export function countUnknown(tally: Counting, context: Context): void {
  for (const { index } of context.rules) tally.blind[index] = 1;
}

/** One node of that case was met. */
export function countNode(tally: Counting, met: Case): void {
  if (met.epoch !== tally.epoch) {
    met.epoch = tally.epoch;
    met.count = 0;
    met.plain = false;
    tally.seen.push(met);
  }
  met.count++;
}

export function warn(tally: Counting, code: Warning["code"], by: Warning["by"], path: NodePath, key: string): void {
  const known = tally.warnings.get(key) ?? { code, by, nodes: emptySample() };
  tally.warnings.set(key, known);
  addTo(known.nodes, path);
}

/** Adds up what contexts have counted; undefined where there is nothing to tell. */
export function endTally(tally: Counting): RuleStats | undefined {
  const { statements, matches, effective, blind, reached, hits, warnings } = tally;
  for (const { named, here, expectations, effective: owed, count, plain } of tally.seen) {
    for (const pattern of named.hits) hits[pattern] = 1;
    for (const { index } of here) matches[index] = (matches[index] ?? 0) + count;
    for (const { index } of expectations) matches[index] = (matches[index] ?? 0) + count;
    if (plain) for (const { index } of owed) effective[index] = 1;
  }
  return statements.rules.length === 0 && warnings.size === 0
    ? undefined
    : { statements, matches, effective, blind, reached, hits, warnings };
}

/** How many examples a message names; the rest it counts. */
const shown = 5;

/** Any number of nodes: how many, and the first few in the order of names. A value that is added to while one tree is walked. */
export interface Sample {
  count: number;
  readonly first: NodePath[];
}

export const emptySample = (): Sample => ({ count: 0, first: [] });

export function addTo(sample: Sample, path: NodePath): void {
  sample.count++;
  const at = sample.first.findIndex((other) => comparePaths(path, other) < 0);
  if (at === -1 && sample.first.length >= shown) return;
  sample.first.splice(at === -1 ? sample.first.length : at, 0, path);
  if (sample.first.length > shown) sample.first.pop();
}

/** "public.users.id, public.users.key and 12 more" */
export function sampleText({ count, first }: Sample): string {
  const names = first.map(nodeText).join(", ");
  return count > first.length ? `${names} and ${count - first.length} more` : names;
}

import { getOrAdd } from "../../../model/maps.ts";
import type { NodePath } from "../../../model/nodes.ts";
import { comparePaths } from "../../../model/schema-tree.ts";
import { andMore } from "../../../text/lists.ts";
import { nodeText } from "../../../text/paths.ts";
import { type CompiledConfig, missingOf, type RuleProgram, type ValueSource } from "../compiled-config.ts";
import type { Lacking } from "../missing-names.ts";
import { type CachedMatch, hasNoRules, type RuleCache, type RuleScope } from "./rule-cache.ts";

// Whether a glob matches nothing, or a rule never decides anything, is known only for all integrations of a SchemaConfig
// together. They are compared one by one and then dropped, so each comparison leaves statistics of a few bytes per rule,
// and rule-warnings.ts adds them up.

/** A warning that is reported once for a rule or literal tree, with all nodes and integrations that it concerns. */
export interface Warning {
  readonly code: "W_HASHES_PRIMARY_KEY" | "W_CURSOR_MISSING" | "W_RESYNC" | "W_CURSOR_UNKNOWN" | "W_COLUMN_RULES_IN_DISABLED_TABLE";
  readonly by: ValueSource;
  /** Columns or tables, depending on the code. */
  readonly nodes: Sample;
}

/** Of one integration. Arrays by rule have the positions of `program.rules`, arrays by pattern those of `program.patterns`. */
interface RuleStats {
  readonly program: RuleProgram;
  /** By rule: the number of nodes that it matches. */
  readonly matches: Uint32Array;
  /** By rule: 1 if some node would differ without it. */
  readonly effective: Uint8Array;
  /** By rule: 1 if it may match columns that are unknown. */
  readonly unknownColumns: Uint8Array;
  /** By rule: 1 if it matches a node outside disabled tables, or may match an unknown column there. */
  readonly enabled: Uint8Array;
  /** By rule: how many levels of names it was compared with. */
  readonly levels: Uint8Array;
  /** By pattern: 1 if it matches a name. */
  readonly hits: Uint8Array;
  readonly warnings: Map<string, Warning>;
  /** The sync modes of the tables, as the service spells them. */
  readonly modes: Set<string>;
}

/** What the comparison of one integration leaves for `conclude`. */
export interface UnitTally extends RuleStats {
  /** The integration's name in addresses. */
  readonly name: string;
  /** How many integrations each SchemaConfig of the run selects. Conclusions need all of them. */
  readonly targets: ReadonlyMap<CompiledConfig, number>;
  readonly lacking?: Lacking;
}

/** Statistics while one tree is walked. Counts are kept per match of the cache and added up by rule at the end. */
export interface RunningStats extends RuleStats {
  /** How many nodes have a match: at 4 × its id, + 1 with literal entries, + 2 in a table that is disabled after the changes. */
  counts: Uint32Array;
  /** One match per count that is not 0. */
  readonly counted: { readonly match: CachedMatch; readonly slot: number }[];
  readonly scopes: Set<RuleScope>;
}

/** One for each combination of with or without literal entries, outside or in a disabled table. */
const slotsPerMatch = 4;

export function newStats({ program, memo }: RuleCache): RunningStats {
  const rules = program.rules.length;
  return {
    program,
    matches: new Uint32Array(rules),
    effective: new Uint8Array(rules),
    unknownColumns: new Uint8Array(rules),
    enabled: new Uint8Array(rules),
    levels: new Uint8Array(rules),
    hits: new Uint8Array(program.patterns.length),
    warnings: new Map(),
    modes: new Set(),
    counts: new Uint32Array(slotsPerMatch * memo.matches + 128),
    counted: [],
    scopes: new Set(),
  };
}

/** The rules of the scope are compared with names. */
export function countScope(stats: RunningStats, scope: RuleScope): void {
  if (!hasNoRules(scope)) stats.scopes.add(scope);
}

/** The rules of the scope may match columns that are unknown. */
export function countUnknownColumns(stats: RunningStats, { rules }: RuleScope, isTableEnabled: boolean): void {
  for (const { index } of rules) {
    stats.unknownColumns[index] = 1;
    if (isTableEnabled) stats.enabled[index] = 1;
  }
}

/** A node has this match. */
export function countMatch(stats: RunningStats, match: CachedMatch, hasLiteral: boolean, isTableEnabled = true): void {
  const slot = slotsPerMatch * match.id + (hasLiteral ? 1 : 0) + (isTableEnabled ? 0 : 2);
  if (slot >= stats.counts.length) grow(stats, slot);
  const count = stats.counts[slot] ?? 0;
  if (count === 0) stats.counted.push({ match, slot });
  stats.counts[slot] = count + 1;
}

function grow(stats: RunningStats, slot: number): void {
  const counts = new Uint32Array(2 * (slot + 1));
  counts.set(stats.counts);
  stats.counts = counts;
}

export function addWarning(
  stats: RunningStats,
  { key, code, by }: Pick<Warning, "code" | "by"> & { readonly key: string },
  path: NodePath,
): void {
  addTo(getOrAdd(stats.warnings, key, () => ({ code, by, nodes: emptySample() })).nodes, path);
}

/** Adds the counts up; undefined if there is nothing to conclude from. */
export function finishStats(stats: RunningStats): RuleStats | undefined {
  const { program, matches, effective, unknownColumns, enabled, levels, hits, warnings, modes } = stats;
  const isConcluded = program.layers.some(({ config }) => missingOf(config) === "nowhere");
  if (program.rules.length === 0 && warnings.size === 0 && !isConcluded) return undefined;
  for (const { depth, rules } of stats.scopes) for (const { index } of rules) levels[index] = Math.max(levels[index] ?? 0, depth + 1);
  for (const { match, slot } of stats.counted) {
    const count = stats.counts[slot] ?? 0;
    for (const pattern of match.hits) hits[pattern] = 1;
    const isEnabled = slot % slotsPerMatch < 2;
    for (const { index } of match.rules) {
      matches[index] = (matches[index] ?? 0) + count;
      if (isEnabled) enabled[index] = 1;
    }
    for (const { index } of match.expectations) matches[index] = (matches[index] ?? 0) + count;
    // With literal entries, evaluate.ts has worked out which rules are effective.
    if (slot % 2 === 0) for (const { index } of match.effective) effective[index] = 1;
  }
  return { program, matches, effective, unknownColumns, enabled, levels, hits, warnings, modes };
}

/** How many examples a sample keeps. */
const examples = 5;

/** Any number of nodes: how many, and the first ones by name. Mutable while one tree is walked. */
export interface Sample {
  count: number;
  readonly first: NodePath[];
}

export const emptySample = (): Sample => ({ count: 0, first: [] });

export function addTo(sample: Sample, path: NodePath): void {
  sample.count++;
  const at = sample.first.findIndex((other) => comparePaths(path, other) < 0);
  if (at === -1 && sample.first.length >= examples) return;
  sample.first.splice(at === -1 ? sample.first.length : at, 0, path);
  if (sample.first.length > examples) sample.first.pop();
}

/** "public.users.id, public.users.key and 12 more columns" */
export const sampleText = ({ count, first }: Sample, one: string): string =>
  andMore(first.map(nodeText), one, { shown: examples, total: count });

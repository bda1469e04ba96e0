import { getOrAdd } from "../../../base/model/maps.ts";
import type { NodePath } from "../../../base/model/nodes.ts";
import { comparePaths } from "../../../base/model/schema-tree.ts";
import { andMore } from "../../../base/text/lists.ts";
import { nodeText } from "../../../base/text/paths.ts";
import { type CompiledConfig, missingOf, type RuleProgram, type ValueSource } from "../compiled-config.ts";
import type { Lacking } from "../missing-names.ts";
import { type CachedMatch, hasNoRules, type RuleCache, type RuleScope } from "./rule-cache.ts";

// Whether a pattern matches nothing is known only for all integrations of a SchemaConfig
// together. They are compared one by one and then dropped, so each comparison leaves statistics of a few bytes per rule,
// and rule-warnings.ts adds them up.

/** A warning that is reported once for a rule or literal tree, with all nodes and integrations that it concerns. */
export interface Warning {
  readonly code: "W_HASHES_PRIMARY_KEY" | "W_CURSOR_MISSING" | "W_RESYNC" | "W_CURSOR_UNKNOWN";
  readonly by: ValueSource;
  /** Columns or tables, depending on the code. */
  readonly nodes: NodeSample;
}

/** Of one integration. Arrays by rule have the positions of `program.rules`, arrays by pattern those of `program.patterns`. */
interface RuleStats {
  readonly program: RuleProgram;
  /** Of the cache of the program, with the names that were compared; empty if each pattern matches a name, so that the cache is not kept. */
  readonly known: RuleCache["scopes"];
  /** By rule: the number of nodes that it matches. */
  readonly matches: Uint32Array;
  /** By rule: 1 if it may match columns that are unknown. */
  readonly unknownColumns: Uint8Array;
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

/** Statistics while one tree is walked. */
export interface RunningStats extends RuleStats {
  readonly scopes: Set<RuleScope>;
}

export function newStats({ program, scopes: known }: RuleCache): RunningStats {
  const rules = program.rules.length;
  return {
    program,
    known,
    matches: new Uint32Array(rules),
    unknownColumns: new Uint8Array(rules),
    levels: new Uint8Array(rules),
    hits: new Uint8Array(program.patterns.length),
    warnings: new Map(),
    modes: new Set(),
    scopes: new Set(),
  };
}

/** The rules of the scope are compared with names. */
export function countScope(stats: RunningStats, scope: RuleScope): void {
  if (!hasNoRules(scope)) stats.scopes.add(scope);
}

/** The rules of the scope may match columns that are unknown. */
export function countUnknownColumns({ unknownColumns }: RunningStats, { rules }: RuleScope): void {
  for (const { index } of rules) unknownColumns[index] = 1;
}

/** A node has this match. */
export function countMatch({ matches, hits }: RunningStats, { counted: { rules, patterns } }: CachedMatch): void {
  for (const pattern of patterns) hits[pattern] = 1;
  for (const index of rules) matches[index] = (matches[index] ?? 0) + 1;
}

export function addWarning(
  stats: RunningStats,
  { key, code, by }: Pick<Warning, "code" | "by"> & { readonly key: string },
  path: NodePath,
): void {
  addTo(getOrAdd(stats.warnings, key, () => ({ code, by, nodes: emptySample() })).nodes, path);
}

/** Undefined if there is nothing to conclude from. */
export function finishStats({ scopes, ...stats }: RunningStats): RuleStats | undefined {
  const { program, levels, warnings } = stats;
  const isConcluded = program.layers.some(({ config }) => missingOf(config) === "nowhere");
  if (program.rules.length === 0 && warnings.size === 0 && !isConcluded) return undefined;
  for (const { depth, rules } of scopes) for (const { index } of rules) levels[index] = Math.max(levels[index] ?? 0, depth + 1);
  return stats.hits.includes(0) ? stats : { ...stats, known: new Map() };
}

/** How many examples a sample keeps. */
const examples = 5;

/** Any number of nodes: how many, and the first ones by name. Mutable while one tree is walked. */
export interface NodeSample {
  count: number;
  readonly first: NodePath[];
}

export const emptySample = (): NodeSample => ({ count: 0, first: [] });

export function addTo(sample: NodeSample, path: NodePath): void {
  sample.count++;
  const at = sample.first.findIndex((other) => comparePaths(path, other) < 0);
  if (at === -1 && sample.first.length >= examples) return;
  sample.first.splice(at === -1 ? sample.first.length : at, 0, path);
  if (sample.first.length > examples) sample.first.pop();
}

/** "public.users.id, public.users.key and 12 more columns" */
export const sampleText = ({ count, first }: NodeSample, one: string): string =>
  andMore(first.map(nodeText), one, { shown: examples, total: count });

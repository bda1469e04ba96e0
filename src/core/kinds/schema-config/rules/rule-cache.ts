import { getOrAdd } from "../../../base/model/maps.ts";
import type { Depth, LiveNode } from "../../../base/model/schema-tree.ts";
import { type ColumnLabel, columnLabels, enterLabels, type LabelScope, labelAmong } from "../../patterns/labels.ts";
import type { ProgramRule, RuleProgram } from "../compiled-config.ts";
import { holds } from "./compile-rule.ts";
import { newResolution, type Resolution, resolve } from "./resolve-rules.ts";

// A fleet has millions of columns but few different names, so what the rules do with a node is computed once for each part
// of the tree where the same rules can apply (a scope), and for everything in a node that a rule of the scope can compare: `KnownMatch`.
// The cache holds nothing but results of pure functions, and is dropped with the last unit of the program.

/** A program with its cached results. */
export interface RuleCache {
  readonly program: RuleProgram;
  /** The scope of schemas. */
  readonly root: RuleScope;
  /** Scopes by their rules and labels. All tables with the same remaining column rules and labels share one, in any integration. */
  readonly scopes: Map<string, RuleScope>;
  /** Rules with the label by which they match a column as a part of their cause: one object, whatever column it is. */
  readonly labelled: Map<ColumnLabel, Map<ProgramRule, ProgramRule>>;
  /** Equal ones are one object: each table that a file labels is a scope, and most of their columns have the same rules. */
  readonly counted: Map<string, CountedMatch>;
  /** The last names of columns with this number and first name, and their digest. */
  readonly columnDigests: Map<string, { readonly names: readonly string[]; readonly digest: string }>;
}

/** What a match is counted as. */
interface CountedMatch {
  /** Positions in `RuleProgram.rules`. */
  readonly rules: readonly number[];
  /** Positions in `RuleProgram.patterns` of the patterns that match the name. */
  readonly patterns: readonly number[];
}

interface ScopeParts {
  readonly depth: Depth;
  /** Rules that ignore a node above, in order. */
  readonly ignoring: readonly ProgramRule[];
  /** Rules whose patterns for the nodes above match. */
  readonly rules: readonly ProgramRule[];
  /** Undefined if none of the rules matches by label. */
  readonly labels: LabelScope | undefined;
}

/** A part of the tree where the same rules can apply. */
export interface RuleScope extends ScopeParts {
  readonly cache: Omit<RuleCache, "root">;
  /** Whether a rule has a `where` for nodes of this depth. */
  readonly comparesAttributes: boolean;
  /** By name: one match, or one for each node that the rules tell apart by more than its name. One for all nodes if the scope has no rules. */
  readonly matches: Map<string, readonly KnownMatch[]>;
  /** The match that was asked for last. */
  last: KnownMatch | undefined;
}

/** A match, and everything but the name that it can depend on. */
interface KnownMatch {
  readonly name: string;
  readonly isLive: boolean;
  readonly enabled: boolean | undefined;
  readonly hashed: boolean | undefined;
  readonly isPrimaryKey: boolean | undefined;
  readonly syncMode: string | undefined;
  readonly destination: string | undefined;
  readonly match: CachedMatch;
  /** The one that was asked for after it: tables of one shape list their columns in one order, and comparing is faster than a look-up. */
  next: KnownMatch | undefined;
}

/** What the rules do with nodes that they cannot tell apart. */
export interface CachedMatch {
  /** The rules that match the node itself. */
  readonly rules: readonly ProgramRule[];
  /** Those that match it by name, with or without their `where`. */
  readonly namedBy: readonly ProgramRule[];
  readonly expectations: readonly ProgramRule[];
  readonly counted: CountedMatch;
  /** `rules`, and the rules that ignore a node above, in the order in which they apply. */
  readonly applied: readonly ProgramRule[];
  /** The result for a node without literal entries. */
  readonly resolution: Resolution;
  /** The scope of the nodes below; for a column, its own. */
  readonly below: RuleScope;
}

/** Limits that keep memory flat, whatever the account contains. */
const maxNames = 20_000;
const maxVariants = 100;
const maxScopes = 5_000;

export function newRuleCache(program: RuleProgram): RuleCache {
  const cache = { program, scopes: new Map(), labelled: new Map(), counted: new Map(), columnDigests: new Map() };
  return { ...cache, root: scopeWith(cache, { depth: 0, ignoring: [], rules: program.rules, labels: undefined }) };
}

/** The rules on an integration with these labels. Without rules that match by label, the same for all integrations. */
export function withLabels(cache: RuleCache, labels: () => LabelScope | undefined): RuleCache {
  const { rules } = cache.program;
  if (!rules.some((rule) => rule.labels !== undefined)) return cache;
  return { ...cache, root: scopeWith(cache, { depth: 0, ignoring: [], rules, labels: labels() }) };
}

export const hasNoRules = (scope: RuleScope): boolean => scope.rules.length === 0 && scope.ignoring.length === 0;

/** The match of a node. One that is not live (`node` undefined) matches rules without `where` only. */
export function matchIn(scope: RuleScope, name: string, node: LiveNode | undefined, syncMode: string | undefined): CachedMatch {
  const key = scope.rules.length === 0 ? "" : name;
  const { last } = scope;
  const guess = last?.next;
  const found = guess?.name === key && isAlike(scope, guess, node, syncMode) ? guess : knownMatch(scope, key, { name, node, syncMode });
  if (last !== undefined && found !== guess) last.next = found;
  scope.last = found;
  return found.match;
}

function knownMatch(scope: RuleScope, key: string, sought: Sought): KnownMatch {
  const { node, syncMode } = sought;
  const known = scope.matches.get(key);
  if (known !== undefined) for (const one of known) if (isAlike(scope, one, node, syncMode)) return one;
  const match = newMatch(scope, sought);
  const { enabled, hashed, isPrimaryKey, nameInDestination: destination } = node ?? {};
  const isLive = node !== undefined;
  const one: KnownMatch = { name: key, isLive, enabled, hashed, isPrimaryKey, syncMode, destination, match, next: undefined };
  if (scope.matches.size >= maxNames) scope.matches.clear();
  scope.matches.set(key, known === undefined || known.length >= maxVariants ? [one] : [...known, one]);
  return one;
}

/** Whether the rules of the scope cannot tell a node from the one of a known match, which has the same name. */
const isAlike = (scope: RuleScope, known: KnownMatch, node: LiveNode | undefined, syncMode: string | undefined): boolean =>
  (!scope.comparesAttributes ||
    (known.isLive === (node !== undefined) &&
      known.enabled === node?.enabled &&
      known.hashed === node?.hashed &&
      known.isPrimaryKey === node?.isPrimaryKey &&
      known.syncMode === syncMode)) &&
  (scope.labels?.readsDestination !== true || known.destination === node?.nameInDestination);

interface Sought {
  readonly name: string;
  readonly node: LiveNode | undefined;
  readonly syncMode: string | undefined;
}

function newMatch(scope: RuleScope, { name, node, syncMode }: Sought): CachedMatch {
  const { depth, ignoring, cache } = scope;
  const { named, below, hits } = namedIn(scope, name, node?.nameInDestination);
  const holdsFor = ({ where }: ProgramRule): boolean => where === undefined || (node !== undefined && holds(where, node, syncMode));
  const namedBy = named.filter(({ expected }) => expected === undefined);
  const rules = namedBy.filter(holdsFor);
  const applied = inOrder(ignoring, rules);
  const resolution = newResolution();
  resolve(resolution, applied, undefined, { layers: cache.program.layers, depth });
  const expectations = named.filter((rule) => rule.expected !== undefined && holdsFor(rule));
  if (cache.counted.size >= maxNames) cache.counted.clear();
  const indices = [...rules, ...expectations].map(({ index }) => index);
  return {
    rules,
    namedBy,
    expectations,
    counted: getOrAdd(cache.counted, `${indices.join()}|${hits.join()}`, () => ({ rules: indices, patterns: hits })),
    applied,
    resolution,
    below: depth === 2 ? scope : scopeBelow(scope, { depth: depth === 0 ? 1 : 2, rules, below, name, node }),
  };
}

/** The rules that match a node of this name, whatever their `where`, and those that may match nodes below. */
function namedIn({ depth, labels, rules, cache }: RuleScope, name: string, destination: string | undefined) {
  const found = depth === 2 && labels !== undefined ? columnLabels(labels, name, destination) : [];
  const named: ProgramRule[] = [];
  const below: ProgramRule[] = [];
  const hits: number[] = [];
  for (const rule of rules) {
    const part = rule.parts[depth];
    const positions = part === undefined ? [] : part.matching(name);
    if (positions === undefined) continue;
    for (const position of positions) hits.push((rule.firstPattern[depth] ?? 0) + position);
    if (rule.depth > depth) {
      below.push(rule);
      continue;
    }
    const label = rule.labels === undefined ? undefined : labelAmong(found, rule.labels);
    if (label !== undefined) named.push(withLabel(cache, rule, label));
    else if (rule.labels === undefined) named.push(rule);
  }
  return { named, below, hits };
}

/** The rule with the label as a part of its cause. */
const withLabel = ({ labelled }: Pick<RuleCache, "labelled">, rule: ProgramRule, found: ColumnLabel): ProgramRule =>
  getOrAdd(
    getOrAdd(labelled, found, () => new Map<ProgramRule, ProgramRule>()),
    rule,
    () => ({ ...rule, cause: { ...rule.cause, label: { name: found.label, origin: found.origin } } }),
  );

interface Below {
  readonly depth: Depth;
  /** The rules that match the node itself. */
  readonly rules: readonly ProgramRule[];
  /** The rules that may match nodes below. */
  readonly below: readonly ProgramRule[];
  readonly name: string;
  readonly node: LiveNode | undefined;
}

function scopeBelow({ ignoring, labels, cache }: RuleScope, { depth, rules, below, name, node }: Below): RuleScope {
  const entered = labels && enterLabels(labels, name, node?.nameInDestination);
  const possible = below.filter((rule) => rule.labels === undefined || rule.labels.some((label) => entered?.possible.has(label)));
  return scopeWith(cache, {
    depth,
    ignoring: inOrder(
      ignoring,
      rules.filter(({ ignores }) => ignores),
    ),
    rules: possible,
    labels: possible.some((rule) => rule.labels !== undefined) ? entered : undefined,
  });
}

function scopeWith(cache: RuleScope["cache"], parts: ScopeParts): RuleScope {
  const { depth, ignoring, rules, labels } = parts;
  const key = [depth, ...[ignoring, rules].map((list) => list.map(({ index }) => index).join()), labels?.id].join("|");
  const known = cache.scopes.get(key);
  if (known !== undefined) return known;
  if (cache.scopes.size >= maxScopes) cache.scopes.clear();
  const comparesAttributes = rules.some((rule) => rule.depth === depth && rule.where !== undefined);
  const scope: RuleScope = { ...parts, cache, comparesAttributes, matches: new Map(), last: undefined };
  cache.scopes.set(key, scope);
  return scope;
}

function inOrder(a: readonly ProgramRule[], b: readonly ProgramRule[]): readonly ProgramRule[] {
  if (a.length === 0 || b.length === 0) return a.length === 0 ? b : a;
  return [...a, ...b].sort((one, other) => one.index - other.index);
}

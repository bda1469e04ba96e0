import { getOrAdd } from "../../../model/maps.ts";
import type { Depth, LiveNode } from "../../../model/schema-tree.ts";
import { type ColumnLabel, columnLabels, enterLabels, type LabelScope, labelAmong } from "../../patterns/labels.ts";
import type { ProgramRule, RuleProgram } from "../compiled-config.ts";
import { holds, type Where } from "./compile-rule.ts";
import { effectiveRules, newResolution, type Resolution, resolve } from "./resolve-rules.ts";

// Rules are evaluated with memoisation. A fleet has millions of columns but few different names, so
// the result of the rules for a name is computed once and cached:
//
// - A scope is a part of the tree where the same rules can apply. All tables with the same
// remaining column rules and labels share one scope, in any integration. Entering a node gives the
// scope of the nodes below. In it, a name matches the same rules every time: one CachedMatch.
// - `where` compares live attributes. They have few combinations, so each combination that occurs has its own CachedMatch.
//
// The cache holds nothing but results of pure functions, and is dropped with the last unit of the program.

/** A program with its cached results. */
export interface RuleCache {
  readonly program: RuleProgram;
  /** The scope of schemas. */
  readonly root: RuleScope;
  readonly memo: Memo;
}

/** What the scopes of one cache share. */
interface Memo {
  readonly program: RuleProgram;
  /** By their rules. */
  readonly scopes: Map<string, RuleScope>;
  /** Rules with the label by which they match a column as a part of their cause, by both. */
  readonly byLabel: Map<string, ProgramRule>;
  /** Matches of columns in scopes with labels, by their rules: each table that a file labels is a scope, and most columns have the same rules. */
  readonly byRules: Map<string, CachedMatch>;
  /** How many ids have been given; they are smaller. */
  matches: number;
}

/** A part of the tree where the same rules can apply. */
export interface RuleScope {
  readonly depth: Depth;
  /** Rules that ignore a node above, in order. */
  readonly ignoring: readonly ProgramRule[];
  /** Rules whose patterns for the nodes above match. */
  readonly rules: readonly ProgramRule[];
  /** Undefined if none of the rules matches by label. */
  readonly labels: LabelScope | undefined;
  readonly memo: Memo;
  readonly byName: Map<string, NameMatch>;
  /** The last name at each position: schemas and tables of one shape list what they contain in one order, and comparing is faster than a look-up. */
  readonly byPosition: NameMatch[];
  /** For every name, if the scope has no rules. */
  noRules: NameMatch | undefined;
}

/** The rules that match a name in a scope, before `where`. */
interface NameMatch {
  readonly name: string;
  /** In the destination; undefined unless labels depend on it. */
  readonly destination: string | undefined;
  readonly rules: readonly ProgramRule[];
  readonly expectations: readonly ProgramRule[];
  /** Rules that may match nodes below. */
  readonly below: readonly ProgramRule[];
  /** Positions in `RuleProgram.patterns` of the patterns that match the name. */
  readonly hits: readonly number[];
  /** The only result, if no rule has a `where`. */
  readonly only: CachedMatch | undefined;
  /** By `attributesKey`; by syncMode first if a rule compares it. */
  readonly byAttributes: CachedMatch[];
  readonly bySyncMode: Map<string | undefined, CachedMatch[]> | undefined;
}

/** What the rules do with nodes of one name and, if a rule has a `where`, of the same live attributes. */
export interface CachedMatch {
  /** Counted from 0 within the cache. Matches with the same rules can share it, if only their labels differ. */
  readonly id: number;
  /** The rules that match the node itself. */
  readonly rules: readonly ProgramRule[];
  /** Those that match it by name, with or without their `where`. */
  readonly namedBy: readonly ProgramRule[];
  readonly expectations: readonly ProgramRule[];
  /** Positions in `RuleProgram.patterns` of the patterns that match the name. */
  readonly hits: readonly number[];
  /** `rules`, and the rules that ignore a node above, in the order in which they apply. */
  readonly applied: readonly ProgramRule[];
  /** The result for a node without literal entries, and the rules that decide it. */
  readonly resolution: Resolution;
  readonly effective: readonly ProgramRule[];
  /** The scope of the nodes below; for a column, its own. */
  readonly below: RuleScope;
}

/** Limits that keep memory flat, whatever the account contains. */
const maxNames = 20_000;
const maxScopes = 5_000;

export function newRuleCache(program: RuleProgram): RuleCache {
  const memo: Memo = { program, scopes: new Map(), byLabel: new Map(), byRules: new Map(), matches: 0 };
  return { program, memo, root: newScope({ depth: 0, ignoring: [], rules: program.rules, labels: undefined, memo }) };
}

/** The rules on an integration with these labels. Without rules that match by label, the same for all integrations. */
export function withLabels(cache: RuleCache, labels: () => LabelScope | undefined): RuleCache {
  const { program, memo } = cache;
  if (!program.rules.some((rule) => rule.labels !== undefined)) return cache;
  return { program, memo, root: sharedScope(memo, { depth: 0, ignoring: [], rules: program.rules, labels: labels() }) };
}

const newScope = (scope: Pick<RuleScope, "depth" | "ignoring" | "rules" | "labels" | "memo">): RuleScope => ({
  ...scope,
  byName: new Map(),
  byPosition: [],
  noRules: undefined,
});

export const hasNoRules = (scope: RuleScope): boolean => scope.rules.length === 0 && scope.ignoring.length === 0;

/** The match of a node. One that is not live (`node` undefined) matches rules without `where` only. */
export function matchIn(scope: RuleScope, name: string, node: LiveNode | undefined, syncMode: string | undefined): CachedMatch {
  const match = nameMatch(scope, name, node);
  return match.only ?? withAttributes(scope, match, node, syncMode);
}

/** The same for the name at a position of a list of tables or columns. */
export function matchAt(scope: RuleScope, position: number, name: string, node: LiveNode, syncMode: string | undefined): CachedMatch {
  const known = scope.noRules ?? scope.byPosition[position];
  if (known !== undefined && ((known.name === name && known.destination === destinationIn(scope, node)) || known === scope.noRules))
    return known.only ?? withAttributes(scope, known, node, syncMode);
  const match = nameMatch(scope, name, node);
  scope.byPosition[position] = match;
  return match.only ?? withAttributes(scope, match, node, syncMode);
}

/** The rules that match a name, whatever the live attributes are. */
export const rulesNaming = (scope: RuleScope, name: string, node: LiveNode | undefined): readonly ProgramRule[] =>
  nameMatch(scope, name, node).rules;

/** The name in the destination, if labels depend on it here. */
const destinationIn = ({ labels }: RuleScope, node: LiveNode | undefined): string | undefined =>
  labels === undefined || !labels.readsDestination ? undefined : node?.nameInDestination;

function nameMatch(scope: RuleScope, name: string, node: LiveNode | undefined): NameMatch {
  if (hasNoRules(scope)) {
    scope.noRules ??= newNameMatch(scope, "", undefined);
    return scope.noRules;
  }
  const destination = destinationIn(scope, node);
  const key = destination === undefined ? name : `${name}\n${destination}`;
  const known = scope.byName.get(key);
  if (known !== undefined) return known;
  const match = newNameMatch(scope, name, destination);
  if (scope.byName.size >= maxNames) scope.byName.clear();
  scope.byName.set(key, match);
  return match;
}

function newNameMatch(scope: RuleScope, name: string, destination: string | undefined): NameMatch {
  const { depth, labels } = scope;
  const found = depth === 2 && labels !== undefined ? columnLabels(labels, name, destination) : [];
  const rules: ProgramRule[] = [];
  const expectations: ProgramRule[] = [];
  const below: ProgramRule[] = [];
  const hits: number[] = [];
  const used: number[] = [];
  for (const rule of scope.rules) {
    const part = rule.parts[depth];
    if (part !== undefined) {
      const positions = part.matching(name);
      if (positions === undefined) continue;
      const first = rule.firstPattern[depth] ?? 0;
      for (const position of positions) hits.push(first + position);
    }
    if (rule.depth > depth) {
      below.push(rule);
      continue;
    }
    const label = rule.labels === undefined ? undefined : labelAmong(found, rule.labels);
    if (label !== undefined) used.push(label.index);
    if (rule.labels !== undefined && label === undefined) continue;
    (rule.expected === undefined ? rules : expectations).push(label === undefined ? rule : withLabel(scope.memo, rule, label));
  }
  const compares = (test: (where: Where) => boolean): boolean =>
    [...rules, ...expectations].some(({ where }) => where !== undefined && test(where));
  const bySyncMode = compares(({ syncMode }) => syncMode !== undefined) ? new Map<string | undefined, CachedMatch[]>() : undefined;
  const match: NameMatch = { name, destination, rules, expectations, below, hits, only: undefined, byAttributes: [], bySyncMode };
  if (compares(() => true)) return match;
  return { ...match, only: depth === 2 && labels !== undefined ? sharedMatch(scope, match, used) : newMatch(scope, match, () => true) };
}

/** The match of a column. `used`: the labels by which its rules match. */
function sharedMatch(scope: RuleScope, match: NameMatch, used: readonly number[]): CachedMatch {
  const { byRules } = scope.memo;
  const lists = [scope.ignoring, match.rules, match.expectations].map((list) => list.map(({ index }) => index).join());
  const counted = `${lists.join("|")}|${match.hits.join()}`;
  const key = `${counted}|${used.join()}`;
  const known = byRules.get(key);
  if (known !== undefined) return known;
  const found = newMatch(scope, match, () => true);
  // Statistics count the rules, whatever labels they match by.
  const same = byRules.get(counted);
  const shared = same === undefined ? found : { ...found, id: same.id };
  byRules.set(counted, same ?? shared).set(key, shared);
  return shared;
}

/** The rule with the label as a part of its cause. */
function withLabel({ byLabel }: Memo, rule: ProgramRule, { label, origin, index }: ColumnLabel): ProgramRule {
  const key = `${rule.index} ${index}`;
  const known = byLabel.get(key);
  if (known !== undefined) return known;
  const found = { ...rule, cause: { ...rule.cause, label: { name: label, origin } } };
  byLabel.set(key, found);
  return found;
}

function withAttributes(scope: RuleScope, match: NameMatch, node: LiveNode | undefined, syncMode: string | undefined): CachedMatch {
  const matches = match.bySyncMode === undefined ? match.byAttributes : getOrAdd(match.bySyncMode, syncMode, () => []);
  const key = attributesKey(node);
  const known = matches[key];
  if (known !== undefined) return known;
  const found = newMatch(scope, match, ({ where }) => where === undefined || (node !== undefined && holds(where, node, syncMode)));
  matches[key] = found;
  return found;
}

function newMatch(scope: RuleScope, match: NameMatch, applies: (rule: ProgramRule) => boolean): CachedMatch {
  const { rules: namedBy, expectations, hits } = match;
  const { depth, memo } = scope;
  const place = { layers: memo.program.layers, depth };
  const rules = namedBy.filter(applies);
  const applied = inOrder(scope.ignoring, rules);
  const resolution = newResolution();
  resolve(resolution, applied, undefined, place);
  return {
    id: memo.matches++,
    rules,
    namedBy,
    expectations: expectations.filter(applies),
    hits,
    applied,
    resolution,
    effective: effectiveRules(applied, undefined, place),
    below: depth === 2 ? scope : scopeBelow(scope, match, rules),
  };
}

function scopeBelow(scope: RuleScope, { name, destination, below }: NameMatch, rules: readonly ProgramRule[]): RuleScope {
  const labels = scope.labels && enterLabels(scope.labels, name, destination);
  const possible = below.filter((rule) => rule.labels === undefined || rule.labels.some((label) => labels?.possible.has(label)));
  const ignoring = inOrder(
    scope.ignoring,
    rules.filter(({ ignores }) => ignores),
  );
  return sharedScope(scope.memo, {
    depth: scope.depth === 0 ? 1 : 2,
    ignoring,
    rules: possible,
    labels: possible.some((rule) => rule.labels !== undefined) ? labels : undefined,
  });
}

function sharedScope(memo: Memo, parts: Pick<RuleScope, "depth" | "ignoring" | "rules" | "labels">): RuleScope {
  const { depth, ignoring, rules, labels } = parts;
  const key = `${depth}:${ignoring.map(({ index }) => index).join()}|${rules.map(({ index }) => index).join()}|${labels?.id ?? ""}`;
  const known = memo.scopes.get(key);
  if (known !== undefined) return known;
  if (memo.scopes.size >= maxScopes) memo.scopes.clear();
  const found = newScope({ ...parts, memo });
  memo.scopes.set(key, found);
  return found;
}

function inOrder(a: readonly ProgramRule[], b: readonly ProgramRule[]): readonly ProgramRule[] {
  if (a.length === 0 || b.length === 0) return a.length === 0 ? b : a;
  return [...a, ...b].sort((one, other) => one.index - other.index);
}

/** A number for each combination of the attributes that `where` compares, without syncMode. */
function attributesKey(node: LiveNode | undefined): number {
  if (node === undefined) return 0;
  const { enabled, hashed, isPrimaryKey } = node;
  return 1 + flagKey(enabled) + 3 * flagKey(hashed) + 9 * flagKey(isPrimaryKey);
}

const flagKey = (flag: boolean | undefined): number => (flag === undefined ? 2 : flag ? 1 : 0);

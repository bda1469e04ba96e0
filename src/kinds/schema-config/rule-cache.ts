import { holds, type Where } from "./compile-rule.ts";
import type { Rule } from "./compiled-config.ts";
import { effectiveRules, newVerdict, resolve, type Verdict } from "./resolve-rules.ts";
import type { Depth, LiveNode } from "./tree.ts";

// A fleet has millions of columns, and few different names: what rules say of a name in a place where the same rules may speak is worked out once
// and remembered. A context is such a place. Every table for which the same column rules come into question has the same context, in whatever
// integration, so that a column costs hardly more than a look at its name. `where` depends on live attributes, which have few combinations: each
// that occurs is a case of its own, worked out once as well.

/** The rules that may speak of the nodes in one place. */
export interface Context {
  readonly depth: Depth;
  /** Rules that ignore a node above, in order: they end the management of everything in here. */
  readonly above: readonly Rule[];
  /** Rules whose upper parts match this place. */
  readonly rules: readonly Rule[];
  readonly byName: Map<string, Named>;
  /** Which name came last in each position: tables of one shape have their columns in one order, and comparing is cheaper than looking up. */
  readonly byPosition: Named[];
  /** Contexts of a program by their rules, shared by all places of the tree. */
  readonly shared: Map<string, Context>;
  /** The walk that last came here. */
  epoch: number;
  /** What no rule says of any name. */
  silence?: Named;
}

/** What rules have to say of one name in one context. */
export interface Named {
  readonly name: string;
  /** Rules that speak of the node itself, before `where`; without expectations. */
  readonly here: readonly Rule[];
  readonly expectations: readonly Rule[];
  /** Rules that may speak of nodes below. */
  readonly below: readonly Rule[];
  /** Positions in `Program.patterns` of patterns that match the name. */
  readonly hits: readonly number[];
  /** The only case, where nothing depends on live attributes. */
  readonly only: Case | undefined;
  /** By the attributes that nodes have of their own, and by syncMode where one of the rules asks for it. */
  readonly cases: Case[];
  readonly casesByMode: Map<string | undefined, Case[]> | undefined;
}

/** What is said of nodes of one name whose live attributes are the same, as far as rules ask for them. */
export interface Case {
  readonly named: Named;
  /** Those of `Named` whose `where` holds. */
  readonly here: readonly Rule[];
  readonly expectations: readonly Rule[];
  /** Ignoring rules from above and `here`, in the order in which they speak. */
  readonly spoken: readonly Rule[];
  /** What they come to, where no literal has a say; and the rules to which that is owed. */
  readonly verdict: Verdict;
  readonly effective: readonly Rule[];
  /** The context of the nodes below; of a column, nothing. */
  readonly child: Context;
  /** Of the walk that last came here: its number, how many such nodes it met, and whether one of them had no literal. */
  epoch: number;
  count: number;
  plain: boolean;
}

/** So many names are remembered in a context, and so many contexts in a program: memory stays flat, whatever the account holds. */
const maxNames = 20_000;
const maxContexts = 5_000;

export const newContext = (rules: readonly Rule[]): Context => makeContext(0, [], rules, new Map());

function makeContext(depth: Depth, above: readonly Rule[], rules: readonly Rule[], shared: Map<string, Context>): Context {
  return { depth, above, rules, byName: new Map(), byPosition: [], shared, epoch: 0 };
}

/** Whether no rule has a say in here. */
export const isSilent = (context: Context): boolean => context.rules.length === 0 && context.above.length === 0;

export function namedIn(context: Context, name: string): Named {
  if (isSilent(context)) {
    context.silence ??= learn(context, "");
    return context.silence;
  }
  const known = context.byName.get(name);
  if (known !== undefined) return known;
  const learned = learn(context, name);
  if (context.byName.size >= maxNames) context.byName.clear();
  context.byName.set(name, learned);
  return learned;
}

/** The same, for the name in that position of a list. */
export function namedAt(context: Context, position: number, name: string): Named {
  if (isSilent(context)) return namedIn(context, name);
  const guess = context.byPosition[position];
  if (guess !== undefined && guess.name === name) return guess;
  const named = namedIn(context, name);
  context.byPosition[position] = named;
  return named;
}

/** What is said of the node; of one that isn't live (undefined), by rules without `where` alone. */
export function caseOf(context: Context, named: Named, node: LiveNode | undefined, syncMode: string | undefined): Case {
  if (named.only !== undefined) return named.only;
  const cases = named.casesByMode === undefined ? named.cases : casesFor(named.casesByMode, syncMode);
  const state = stateOf(node);
  const known = cases[state];
  if (known !== undefined) return known;
  const applies = ({ where }: Rule): boolean => where === undefined || (node !== undefined && holds(where, node, syncMode));
  const found = makeCase(context, named, applies);
  cases[state] = found;
  return found;
}

function casesFor(casesByMode: Map<string | undefined, Case[]>, syncMode: string | undefined): Case[] {
  const known = casesByMode.get(syncMode) ?? [];
  if (known.length === 0) casesByMode.set(syncMode, known);
  return known;
}

/** A number for each combination of attributes that `where` can tell apart. */
function stateOf(node: LiveNode | undefined): number {
  if (node === undefined) return 0;
  const { hashed, isPrimaryKey } = node;
  return (
    1 +
    (node.enabled ? 1 : 0) +
    2 * (hashed === undefined ? 2 : hashed ? 1 : 0) +
    6 * (isPrimaryKey === undefined ? 2 : isPrimaryKey ? 1 : 0)
  );
}

function learn(context: Context, name: string): Named {
  const { depth } = context;
  const here: Rule[] = [];
  const expectations: Rule[] = [];
  const below: Rule[] = [];
  const hits: number[] = [];
  for (const rule of context.rules) {
    const part = rule.parts[depth];
    if (part !== undefined) {
      const positions = part.matching(name);
      if (positions === undefined) continue;
      const first = rule.firstPattern[depth] ?? 0;
      for (const position of positions) hits.push(first + position);
    }
    if (rule.depth > depth) below.push(rule);
    else (rule.expected === undefined ? here : expectations).push(rule);
  }
  const asks = (test: (where: Where) => boolean): boolean => {
    const isAsking = ({ where }: Rule): boolean => where !== undefined && test(where);
    return here.some(isAsking) || expectations.some(isAsking);
  };
  const casesByMode = asks(({ syncMode }) => syncMode !== undefined) ? new Map<string | undefined, Case[]>() : undefined;
  const named: Named = { name, here, expectations, below, hits, only: undefined, cases: [], casesByMode };
  return asks(() => true) ? named : { ...named, only: makeCase(context, named, undefined) };
}

/** `applies` undefined: nothing depends on live attributes. */
function makeCase(context: Context, named: Named, applies: ((rule: Rule) => boolean) | undefined): Case {
  const { depth } = context;
  const here = applies === undefined ? named.here : named.here.filter(applies);
  const spoken = inOrder(context.above, here);
  const verdict = newVerdict();
  resolve(verdict, spoken, undefined, [], depth);
  return {
    named,
    here,
    expectations: applies === undefined ? named.expectations : named.expectations.filter(applies),
    spoken,
    verdict,
    effective: effectiveRules(spoken, undefined, [], depth),
    child:
      depth === 2
        ? context
        : childOf(
            context,
            named.below,
            here.filter(({ ignores }) => ignores),
          ),
    epoch: 0,
    count: 0,
    plain: false,
  };
}

function childOf(context: Context, below: readonly Rule[], ignoring: readonly Rule[]): Context {
  const above = inOrder(context.above, ignoring);
  const depth: Depth = context.depth === 0 ? 1 : 2;
  const key = `${depth}:${above.map(({ index }) => index).join()}|${below.map(({ index }) => index).join()}`;
  const known = context.shared.get(key);
  if (known !== undefined) return known;
  if (context.shared.size >= maxContexts) context.shared.clear();
  const child = makeContext(depth, above, below, context.shared);
  context.shared.set(key, child);
  return child;
}

function inOrder(a: readonly Rule[], b: readonly Rule[]): readonly Rule[] {
  if (a.length === 0 || b.length === 0) return a.length === 0 ? b : a;
  return [...a, ...b].sort((one, other) => one.index - other.index);
}

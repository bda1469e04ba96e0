import { byText } from "../../model/address.ts";
import type { Problem, SourceLocation } from "../../model/problem.ts";
import { locationIn } from "../../model/resource.ts";
import { type CompiledRule, patternPlace } from "./compile-rule.ts";
import type { CompiledConfig } from "./compiled-config.ts";
import { speakerText } from "./problems.ts";
import type { UnitTally, Warning } from "./rule-stats.ts";
import { type Depth, levelNames, literalPointer, type NodePath, nodeText } from "./tree.ts";

interface Sum {
  readonly config: CompiledConfig;
  readonly rule: CompiledRule;
  matches: number;
  effective: boolean;
  blind: boolean;
  /** Down to which depth, counted from 1, it looked for names, and whether it found one that its own level's patterns mean. */
  reached: number;
  named: boolean;
  /** By depth and position: whether the pattern was looked for anywhere, and found. */
  readonly looked: Set<string>;
  readonly found: Set<string>;
}

/**
 * What shows only over all integrations: globs that match nothing, fewer matches than `minMatches`, rules that never decide anything, and warnings
 * once per rule. A RuleSet's rule is no dead one as long as any configuration that uses it has work for it.
 */
export function ruleWarnings(tallies: readonly UnitTally[]): readonly Problem[] {
  const [first] = tallies;
  if (first === undefined) return [];
  const compared = new Map<CompiledConfig, number>();
  for (const { statements } of tallies)
    for (const { compiled } of statements.layers) compared.set(compiled, (compared.get(compiled) ?? 0) + 1);
  const isWhole = (config: CompiledConfig): boolean => compared.get(config) === first.targets.get(config);
  const configs = [...first.targets.keys()];
  const sums = configs.flatMap((config) =>
    config.rules.map(
      (rule): Sum => ({
        config,
        rule,
        matches: 0,
        effective: false,
        blind: false,
        reached: 0,
        named: false,
        looked: new Set(),
        found: new Set(),
      }),
    ),
  );
  const sumOf = new Map(sums.map((sum) => [sum.rule, sum]));
  for (const tally of tallies) addUp(tally, sumOf);

  const byOrigin = new Map<string, Sum[]>();
  for (const sum of sums) {
    const { file, document, pointer } = sum.rule.cause.place;
    const origin = JSON.stringify([file, document, pointer]);
    byOrigin.set(origin, [...(byOrigin.get(origin) ?? []), sum]);
  }
  const dead = [...byOrigin.values()]
    .filter((uses) => uses.every(({ config }) => isWhole(config)))
    .flatMap((uses) => [...globsWithoutMatch(uses), ...neverMatching(uses), ...neverDeciding(uses)]);
  return [...dead, ...sums.filter(({ config }) => isWhole(config)).flatMap(tooFew), ...concludeWarnings(tallies)];
}

function addUp({ statements, matches, effective, blind, reached, hits }: UnitTally, sumOf: ReadonlyMap<CompiledRule, Sum>): void {
  for (const { index, compiled } of statements.rules) {
    const sum = sumOf.get(compiled);
    if (sum === undefined) continue;
    sum.matches += matches[index] ?? 0;
    sum.effective ||= effective[index] === 1;
    sum.blind ||= blind[index] === 1;
    sum.reached = Math.max(sum.reached, reached[index] ?? 0);
  }
  for (const [id, { rule, depth, pattern }] of statements.patterns.entries()) {
    // A literal that matches nothing is told for each integration (missing.ts), and there may be hundreds of thousands.
    const isNamed = depth === rule.depth && hits[id] === 1;
    if (pattern.literal !== undefined && !isNamed) continue;
    const sum = sumOf.get(rule.compiled);
    if (sum !== undefined && isNamed) sum.named = true;
    if (pattern.literal !== undefined) continue;
    if ((reached[rule.index] ?? 0) > depth) sum?.looked.add(`${depth} ${pattern.position}`);
    if (hits[id] === 1) sum?.found.add(`${depth} ${pattern.position}`);
  }
}

/** Globs that match no name in any place where they are looked for. */
function globsWithoutMatch(uses: readonly Sum[]): readonly Problem[] {
  const rule = uses[0]?.rule;
  // Where minMatches makes an error of it, that says enough.
  if (rule === undefined || rule.minMatches === 0 || uses.some((use) => tooFew(use).length > 0)) return [];
  return ([0, 1, 2] as const).flatMap((depth) =>
    (rule.parts[depth]?.positive ?? []).flatMap(({ text, literal, position }): readonly Problem[] => {
      const key = `${depth} ${position}`;
      const isUnknown = depth === 2 && uses.some(({ blind }) => blind);
      if (literal !== undefined || isUnknown || uses.some(({ found }) => found.has(key)) || !uses.some(({ looked }) => looked.has(key)))
        return [];
      return [globProblem(uses, rule, depth, text, position)];
    }),
  );
}

function globProblem(uses: readonly Sum[], rule: CompiledRule, depth: Depth, text: string, position: number | undefined): Problem {
  return {
    code: "W_GLOB_NO_MATCH",
    severity: "warning",
    summary: "A pattern matches nothing",
    message: `No ${levelNames[depth]} matches ${JSON.stringify(text)} in any integration of ${configsText(uses)}. Correct the pattern, remove it, or set minMatches: 0 if it is there for later.`,
    place: patternPlace(rule, depth, position),
    address: rule.owner.address,
  };
}

/**
 * Rules whose names are there and that speak of nothing all the same: `where` or a list of only `!patterns` leaves everything out. What `where` says of
 * `enabled` and `hashed` changes with every apply, so nothing is said of that.
 */
function neverMatching(uses: readonly Sum[]): readonly Problem[] {
  const rule = uses[0]?.rule;
  if (rule === undefined || rule.minMatches !== undefined || rule.where?.enabled !== undefined || rule.where?.hashed !== undefined)
    return [];
  if (uses.some(({ matches, blind }) => matches > 0 || blind)) return [];
  const last = (Math.max(...uses.map(({ reached }) => reached)) - 1) as -1 | Depth;
  const isLeftOut = last !== -1 && rule.parts[last]?.positive.length === 0;
  if (!isLeftOut && !uses.some(({ named }) => named)) return [];
  const level = levelNames[rule.depth];
  const why =
    rule.where === undefined && isLeftOut
      ? `its patterns leave every ${levelNames[last]} out`
      : `no ${level} of these names is as its where says`;
  return [
    {
      code: "W_RULE_NO_MATCH",
      severity: "warning",
      summary: "A rule that matches nothing",
      message: `Rule ${JSON.stringify(rule.name)} speaks of no ${level} in any integration of ${configsText(uses)}: ${why}. Correct the match, ${rule.expected === undefined ? "remove the rule, or set minMatches: 0 if it is there for later" : "or remove the entry"}.`,
      place: rule.cause.place,
      address: rule.owner.address,
    },
  ];
}

function tooFew({ config, rule, matches }: Sum): readonly Problem[] {
  if (rule.minMatches === undefined || matches >= rule.minMatches) return [];
  return [
    {
      code: "E_MIN_MATCHES",
      severity: "error",
      summary: "Too few matches",
      message: `Rule ${JSON.stringify(rule.name)} matches ${matches} ${levelNames[rule.depth]}${matches === 1 ? "" : "s"} in the integrations of ${config.config.address}, and minMatches asks for ${rule.minMatches}. Something that it protects may have been renamed; correct the match, or lower minMatches.`,
      place: { ...rule.cause.place, pointer: `${rule.cause.place.pointer}/minMatches` },
      address: config.config.address,
    },
  ];
}

function neverDeciding(uses: readonly Sum[]): readonly Problem[] {
  const rule = uses[0]?.rule;
  const matches = uses.reduce((sum, use) => sum + use.matches, 0);
  if (rule === undefined || rule.expected !== undefined || matches === 0 || uses.some(({ effective, blind }) => effective || blind))
    return [];
  return [
    {
      code: "I_RULE_SHADOWED",
      severity: "info",
      summary: "A rule that changes nothing",
      message: `Rule ${JSON.stringify(rule.name)} speaks of ${matches} ${levelNames[rule.depth]}${matches === 1 ? "" : "s"} of ${configsText(uses)}, and all would be the same without it: later rules or the literal tree overrule it, or earlier ones already say the same. Remove it, or move it.`,
      place: rule.cause.place,
      address: rule.owner.address,
    },
  ];
}

function configsText(uses: readonly Sum[]): string {
  const names = uses.map(({ config }) => config.config.address).sort(byText);
  return names.length > 3 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(" and ");
}

/** How many examples a warning names. */
const shown = 3;

interface Gathered {
  readonly warning: Warning;
  readonly place: SourceLocation;
  readonly examples: string[];
  count: number;
  integrations: number;
}

/** Warnings of all integrations, each rule and each literal once, with a few examples and the number of all. */
function concludeWarnings(tallies: readonly UnitTally[]): readonly Problem[] {
  const byPlace = new Map<string, Gathered>();
  for (const { label, warnings } of [...tallies].sort((a, b) => byText(a.label, b.label)))
    for (const warning of warnings.values()) {
      const place = placeOf(warning);
      const key = JSON.stringify([warning.code, place.file, place.document, place.pointer]);
      const known = byPlace.get(key) ?? { warning, place, examples: [], count: 0, integrations: 0 };
      byPlace.set(key, known);
      known.count += warning.nodes.count;
      known.integrations++;
      for (const path of warning.nodes.first) if (known.examples.length < shown) known.examples.push(`${nodeText(path)} of ${label}`);
    }
  return [...byPlace.values()].map(toProblem);
}

function toProblem({ warning, place, examples, count, integrations }: Gathered): Problem {
  const { by, code } = warning;
  const rest = count - examples.length;
  const where = `${examples.join(", ")}${rest === 0 ? "" : ` and ${rest} more`}${integrations === 1 ? "" : `, in ${integrations} integrations in all`}`;
  const owner = by.type === "rule" ? by.owner : by.config;
  const core = { code, severity: "warning", place, address: owner.address } as const;
  if (code === "W_HASHES_PRIMARY_KEY")
    return {
      ...core,
      summary: "Hashes a primary key",
      message: `${speakerText(by)} hashes primary key columns: ${where}. Rows are told apart by the hash then, and joins on the clear value find nothing. Leave them out with where: { isPrimaryKey: false } if that is not meant.`,
    };
  return {
    ...core,
    summary: "Column rules in a disabled table",
    message: `${speakerText(by)} speaks of columns of tables that end up disabled: ${where}. Nothing of such a table is replicated, so it matters only when the table is enabled.`,
  };
}

function placeOf({ by, code, nodes }: Warning): SourceLocation {
  const [path] = nodes.first;
  if (by.type !== "literal" || path === undefined) return by.type === "literal" ? by.config.place : by.cause.place;
  return code === "W_HASHES_PRIMARY_KEY" ? literalPlace(by.config, path, "hashed") : literalPlace(by.config, path, "columns");
}

const literalPlace = (config: Parameters<typeof locationIn>[0], path: NodePath, key: string): SourceLocation =>
  locationIn(config, literalPointer(path, key));

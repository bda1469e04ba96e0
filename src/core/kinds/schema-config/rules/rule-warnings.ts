import { byText } from "../../../base/model/address.ts";
import { locationIn, problemIn } from "../../../base/model/manifest.ts";
import { getOrAdd, groupBy } from "../../../base/model/maps.ts";
import { below, type Problem, problemAt, type SourceLocation } from "../../../base/model/problem.ts";
import { type Depth, levelNames, literalPointer } from "../../../base/model/schema-tree.ts";
import { counted } from "../../../base/text/counts.ts";
import { andMore } from "../../../base/text/lists.ts";
import { nodeText } from "../../../base/text/paths.ts";
import { nameMatcher } from "../../patterns/names.ts";
import { type CompiledConfig, missingOf } from "../compiled-config.ts";
import { type LevelPattern, nowhereNames } from "../missing-names.ts";
import { sourceText } from "../problems.ts";
import { type CompiledRule, patternPlace } from "./compile-rule.ts";
import type { UnitTally, Warning } from "./rule-stats.ts";

// Problems that are known only for all integrations of a SchemaConfig together.

/** The statistics of one rule over all integrations. A RuleSet's rule has one for each SchemaConfig that uses it. */
interface RuleTotal {
  readonly config: CompiledConfig;
  readonly rule: CompiledRule;
  matches: number;
  unknownColumns: boolean;
  /** How many levels of names it was compared with. */
  levels: number;
  /** Whether a name matches the patterns of its own level. */
  hasName: boolean;
  /** By depth and position: the patterns that were compared with a name, and those that matched one. */
  readonly compared: Set<string>;
  readonly matched: Set<string>;
}

const newTotal = (config: CompiledConfig, rule: CompiledRule): RuleTotal => ({
  config,
  rule,
  matches: 0,
  unknownColumns: false,
  levels: 0,
  hasName: false,
  compared: new Set(),
  matched: new Set(),
});

/**
 * Globs and rules that match nothing, fewer matches than `minMatches`, and warnings once per rule. A rule of a
 * RuleSet must match in one of the SchemaConfigs that use it. Rules of a SchemaConfig are reported only if all
 * integrations that it selects were compared.
 */
export function ruleWarnings(tallies: readonly UnitTally[]): readonly Problem[] {
  const [first] = tallies;
  if (first === undefined) return [];
  const isComplete = completeConfigs(tallies, first.targets);
  const configs = [...first.targets.keys()];
  const totals = configs.flatMap((config) => config.rules.map((rule) => newTotal(config, rule)));
  const totalOf = new Map(totals.map((total) => [total.rule, total]));
  for (const tally of tallies) addTally(tally, totalOf);
  const modes = [...new Set(tallies.flatMap((tally) => [...tally.modes]))].sort(byText);
  const withoutMatch = [...groupBy(totals, ({ rule }) => placeKey(rule.cause.place)).values()]
    .filter((uses) => uses.every(({ config }) => isComplete(config)))
    .flatMap((uses) => [...globsWithoutMatch(uses, tallies), ...neverMatching(uses, modes)]);
  const tooFew = totals.filter(({ config }) => isComplete(config)).flatMap(tooFewMatches);
  const byConfig = groupBy(totals, ({ config }) => config);
  const nowhere = configs
    .filter((config) => isNowhere(config) && isComplete(config))
    .flatMap((config) => nowhereNames(config, tallies, (byConfig.get(config) ?? []).flatMap(literalsWithoutMatch)));
  return [...withoutMatch, ...tooFew, ...nowhere, ...sharedWarnings(tallies)];
}

/** Whether all integrations that a SchemaConfig selects were compared. */
function completeConfigs(tallies: readonly UnitTally[], targets: UnitTally["targets"]): (config: CompiledConfig) => boolean {
  const compared = new Map<CompiledConfig, number>();
  for (const { program } of tallies) for (const { compiled } of program.layers) compared.set(compiled, (compared.get(compiled) ?? 0) + 1);
  return (config) => compared.get(config) === targets.get(config);
}

const isNowhere = ({ config }: CompiledConfig): boolean => missingOf(config) === "nowhere";

function addTally({ program, matches, unknownColumns, levels, hits }: UnitTally, totalOf: ReadonlyMap<CompiledRule, RuleTotal>): void {
  for (const { index, compiled } of program.rules) {
    const total = totalOf.get(compiled);
    if (total === undefined) continue;
    total.matches += matches[index] ?? 0;
    total.unknownColumns ||= unknownColumns[index] === 1;
    total.levels = Math.max(total.levels, levels[index] ?? 0);
  }
  for (const [id, { rule, depth, pattern }] of program.patterns.entries()) {
    const isHit = hits[id] === 1;
    const total = totalOf.get(rule.compiled);
    if (total === undefined) continue;
    if (isHit && depth === rule.depth) total.hasName = true;
    // Other literal names are reported per integration (missing-names.ts), and there may be hundreds of thousands of them.
    if (pattern.literal !== undefined && !isNowhere(total.config)) continue;
    if ((levels[rule.index] ?? 0) > depth) total.compared.add(patternKey(depth, pattern.position));
    if (isHit) total.matched.add(patternKey(depth, pattern.position));
  }
}

const patternKey = (depth: Depth, position: number | undefined): string => `${depth} ${position}`;

type Uses = readonly [RuleTotal, ...RuleTotal[]];

/** Patterns that match none of the names that they were compared with. */
function patternsWithoutMatch(uses: Uses): readonly LevelPattern[] {
  const [{ rule }] = uses;
  if (rule.minMatches === 0) return [];
  return ([0, 1, 2] as const).flatMap((depth) =>
    (rule.parts[depth]?.positive ?? [])
      .filter(({ position }) => {
        const key = patternKey(depth, position);
        const isUnknown = depth === 2 && uses.some(({ unknownColumns }) => unknownColumns);
        return !isUnknown && uses.some(({ compared }) => compared.has(key)) && !uses.some(({ matched }) => matched.has(key));
      })
      .map((pattern) => ({ rule, depth, pattern })),
  );
}

const literalsWithoutMatch = (total: RuleTotal): readonly LevelPattern[] =>
  patternsWithoutMatch([total]).filter(({ pattern }) => pattern.literal !== undefined);

function globsWithoutMatch(uses: Uses, tallies: readonly UnitTally[]): readonly Problem[] {
  // E_MIN_MATCHES is enough.
  if (uses.some((use) => tooFewMatches(use).length > 0)) return [];
  return patternsWithoutMatch(uses).flatMap(({ rule, depth, pattern: { text, literal, position } }): readonly Problem[] => {
    if (literal !== undefined) return [];
    const others = namesInOtherCase(uses, { depth, text }, tallies);
    const advice =
      others.length === 0
        ? "Correct or remove the pattern."
        : `In another case it would match ${andMore(others, "name", { shown: 3 })}. Set ignoreCase: true in the match, or correct the case.`;
    const message = `No ${levelNames[depth]} matches ${JSON.stringify(text)} in any integration of ${configsText(uses)}. ${advice} If it is for names that do not exist yet, set minMatches: 0.`;
    const { pointer } = patternPlace(rule, depth, position);
    return [problemIn(rule.owner, pointer, { code: "W_NO_MATCH", severity: "warning", message })];
  });
}

/** How many names are compared with a pattern in another case. */
const mostCompared = 20_000;

/** Names that the rule was compared with and that the pattern matches in another case, sorted. */
function namesInOtherCase(
  uses: Uses,
  { depth, text }: { readonly depth: Depth; readonly text: string },
  tallies: readonly UnitTally[],
): readonly string[] {
  const rules = new Set(uses.map(({ rule }) => rule));
  const matches = nameMatcher([text], { ignoreCase: true });
  const names = new Set<string>();
  for (const known of new Set(tallies.map((tally) => tally.known)))
    for (const scope of known.values()) {
      if (scope.depth !== depth || !scope.rules.some(({ compiled }) => rules.has(compiled))) continue;
      for (const name of scope.matches.keys()) if (names.size < mostCompared) names.add(name);
    }
  return [...names].filter(matches).sort();
}

/**
 * Rules that match nothing although their names exist: `where`, or a list of only `!patterns`, excludes everything. A
 * `where` on `enabled` or `hashed` is not reported, because an apply changes these.
 */
function neverMatching(uses: Uses, modes: readonly string[]): readonly Problem[] {
  const [{ rule }] = uses;
  const { where, minMatches, parts } = rule;
  if (minMatches !== undefined || where?.enabled !== undefined || where?.hashed !== undefined) return [];
  if (uses.some(({ matches, unknownColumns }) => matches > 0 || unknownColumns)) return [];
  const last = (uses.reduce((most, { levels }) => Math.max(most, levels), 0) - 1) as -1 | Depth;
  const isExcluded = last !== -1 && parts[last]?.positive.length === 0;
  if (!isExcluded && !uses.some(({ hasName }) => hasName)) return [];
  const level = levelNames[rule.depth];
  const reason =
    where === undefined && isExcluded
      ? `its patterns exclude every ${levelNames[last]}`
      : `no ${level} with these names has the attributes in where${where?.syncMode === undefined ? "" : `. The tables have the sync modes ${andMore(modes, "mode", { shown: 8 })}`}`;
  const remedy =
    rule.expected === undefined ? "or remove the rule. If it is for names that do not exist yet, set minMatches: 0" : "or remove the entry";
  return [
    problemIn(rule.owner, rule.cause.place.pointer, {
      code: "W_NO_MATCH",
      severity: "warning",
      message: `${sourceText(rule)} matches no ${level} in any integration of ${configsText(uses)}: ${reason}. Correct the match, ${remedy}.`,
    }),
  ];
}

function tooFewMatches({ config, rule, matches }: RuleTotal): readonly Problem[] {
  if (rule.minMatches === undefined || matches >= rule.minMatches) return [];
  const { address } = config.config;
  const message = `${sourceText(rule)} matches ${counted(matches, levelNames[rule.depth])} in the integrations of ${address}, but minMatches is ${rule.minMatches}. Something that it protects may have been renamed. Correct the match, or lower minMatches.`;
  return [problemAt(below(rule.cause.place, ["minMatches"]), { code: "E_MIN_MATCHES", message, address })];
}

const configsText = (uses: Uses): string => andMore(uses.map(({ config }) => config.config.address).sort(byText), "SchemaConfig");

/** A warning with the nodes of all integrations. */
interface SharedWarning {
  readonly warning: Warning;
  readonly place: SourceLocation;
  /** "public.users.id of orders" */
  readonly nodes: string[];
  count: number;
  integrations: number;
}

/** The warnings of all integrations, once for each rule and literal tree. */
function sharedWarnings(tallies: readonly UnitTally[]): readonly Problem[] {
  const shared = new Map<string, SharedWarning>();
  for (const { name, warnings } of [...tallies].sort((a, b) => byText(a.name, b.name)))
    for (const warning of warnings.values()) {
      const place = placeOf(warning);
      const key = `${warning.code} ${placeKey(place)}`;
      const known = getOrAdd(shared, key, () => ({ warning, place, nodes: [], count: 0, integrations: 0 }));
      known.count += warning.nodes.count;
      known.integrations++;
      for (const path of warning.nodes.first) known.nodes.push(`${nodeText(path)} of ${name}`);
    }
  return [...shared.values()].map(warningProblem);
}

const placeKey = ({ file, document, pointer }: SourceLocation): string => JSON.stringify([file, document, pointer]);

function warningProblem({ warning: { by, code }, place, nodes, count, integrations }: SharedWarning): Problem {
  const where = `${andMore(nodes, "column", { total: count })}${integrations === 1 ? "" : `, in ${integrations} integrations`}`;
  const owner = by.type === "rule" ? by.owner : by.config;
  const core = { code, severity: "warning", place, address: owner.address } as const;
  if (code === "W_HASHES_PRIMARY_KEY")
    return {
      ...core,
      message: `${sourceText(by)} hashes primary key columns: ${where}. Rows are then identified by the hash, and joins on the readable value find nothing. To exclude them, add where: { isPrimaryKey: false }.`,
    };
  if (code === "W_CURSOR_MISSING")
    return {
      ...core,
      message: `${sourceText(by)} sets a cursorField that is not a column of these tables, so neither it nor a sync mode is sent: ${where}. Match only tables that have the column, or correct its name.`,
    };
  if (code === "W_RESYNC")
    return {
      ...core,
      message: `${sourceText(by)} changes the sync mode or cursor of tables: ${where}. The service can then read each of them again as a whole, which takes time, loads the source and can cost money.`,
    };
  return {
    ...core,
    message: `${sourceText(by)} disables columns of incremental tables whose cursor the service does not show: ${where}. If one of them is the cursor, its table is then read in full each time. Check the cursor of these tables in the service.`,
  };
}

/** The member of a literal entry that a warning is about. */
const literalMembers = {
  W_HASHES_PRIMARY_KEY: "hashed",
  W_CURSOR_MISSING: "cursorField",
  W_RESYNC: undefined,
  W_CURSOR_UNKNOWN: "enabled",
} as const satisfies Readonly<Record<Warning["code"], string | undefined>>;

function placeOf({ by, code, nodes }: Warning): SourceLocation {
  const [path] = nodes.first;
  if (by.type !== "literal") return by.cause.place;
  if (path === undefined) return by.config.place;
  return locationIn(by.config, literalPointer(path, literalMembers[code]));
}

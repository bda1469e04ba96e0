import { byText } from "../../base/model/address.ts";
import { locationIn, type Manifest, type SchemaConfigSpec, type SchemaTree, type Unreviewed } from "../../base/model/manifest.ts";
import type { Problem } from "../../base/model/problem.ts";
import type { Depth, NodeCause } from "../../base/model/schema-tree.ts";
import { isRuleSet, isSchemaConfig } from "../manifests.ts";
import type { NamePattern } from "../patterns/names.ts";
import { type CompiledRule, compileExpectation, compileRule, type PlacedRule } from "./rules/compile-rule.ts";
import { type RuleSets, ruleSetsIn, spliceRules } from "./rules/rule-sets.ts";
import { literalTextProblems, ruleTextProblems } from "./table-texts.ts";

export type Config = Manifest<SchemaConfigSpec>;

/** The integrations of a fleet differ, so a name must exist in one of them; a single integration must have all names. */
export const missingOf = ({ spec: { missing, integrations } }: Config): NonNullable<Config["spec"]["missing"]> =>
  missing ?? (integrations === undefined ? "error" : "nowhere");

/** One SchemaConfig, compiled once for all integrations that it selects. */
export interface CompiledConfig {
  readonly config: Config;
  readonly rules: readonly CompiledRule[];
  /** The rules as they are written, with those of RuleSets in place. */
  readonly written: readonly PlacedRule[];
  readonly problems: readonly Problem[];
}

/** A rule in a program. */
export interface ProgramRule extends CompiledRule {
  /** Position in `RuleProgram.rules`: the order in which rules apply. */
  readonly index: number;
  /** The layer of its SchemaConfig, whose literal tree applies after the rules of the layer. */
  readonly layer: number;
  readonly compiled: CompiledRule;
  /** By depth, the position in `RuleProgram.patterns` of its first positive pattern. */
  readonly firstPattern: readonly number[];
}

/** One SchemaConfig of those that select an integration. As the source of a value: its literal tree. */
export interface Layer {
  readonly type: "literal";
  readonly config: Config;
  readonly compiled: CompiledConfig;
}

/** What `unmatched` does with schemas or tables that nothing covers, or `unreviewed` with new columns. */
export interface ModeSource<Mode = "enable" | "disable" | "error"> {
  readonly type: "mode";
  readonly mode: Mode;
  readonly config: Config;
  readonly cause: NodeCause;
}

/** What decides a value. */
export type ValueSource = ProgramRule | Layer | ModeSource<string>;

/**
 * All SchemaConfigs that select an integration, in the order in which they apply. One value for all integrations with the
 * same SchemaConfigs.
 */
export interface RuleProgram {
  /** Lowest priority first. */
  readonly layers: readonly Layer[];
  /** `spec.schemas` by layer. */
  readonly literalTrees: readonly (SchemaTree | undefined)[];
  readonly rules: readonly ProgramRule[];
  readonly patterns: readonly { readonly rule: ProgramRule; readonly depth: Depth; readonly pattern: NamePattern }[];
  /** By depth; of the highest layer that sets it. */
  readonly unmatched: readonly (ModeSource | undefined)[];
  /** Of the highest layer that sets it. */
  readonly unreviewed: ModeSource<Unreviewed> | undefined;
}

interface CompileOptions {
  /** Whether there is a RuleSet of this name that was not loaded. */
  readonly isUnread?: (name: string) => boolean;
  /** Whether no sync mode or cursor can be sent, so that setting one is an error. */
  readonly isDocumented?: boolean;
}

export function compileConfig(config: Config, sets: RuleSets, { isUnread, isDocumented = false }: CompileOptions = {}): CompiledConfig {
  const spliced = spliceRules(config, sets, isUnread);
  const compiled = [
    ...spliced.rules.map(compileRule),
    ...(config.spec.expect ?? []).map((entry, index) => compileExpectation(entry, config, index)),
  ];
  return {
    config,
    rules: compiled.flatMap(({ rule }) => rule ?? []),
    written: spliced.rules,
    problems: [
      ...spliced.problems,
      ...compiled.flatMap(({ problems }) => problems),
      ...spliced.rules.flatMap((rule) => ruleTextProblems(rule, isDocumented)),
      ...literalTextProblems(config, isDocumented),
    ],
  };
}

/** `configs` with the lowest priority first. */
export function makeRuleProgram(configs: readonly CompiledConfig[]): RuleProgram {
  const layers = configs.map((compiled): Layer => ({ type: "literal", config: compiled.config, compiled }));
  const patterns: { rule: ProgramRule; depth: Depth; pattern: NamePattern }[] = [];
  const rules: ProgramRule[] = [];
  for (const [layer, { rules: ofConfig }] of configs.entries())
    for (const compiled of ofConfig) {
      const firstPattern: number[] = [];
      const rule: ProgramRule = { ...compiled, index: rules.length, layer, compiled, firstPattern };
      for (const depth of [0, 1, 2] as const) {
        firstPattern.push(patterns.length);
        for (const pattern of compiled.parts[depth]?.positive ?? []) patterns.push({ rule, depth, pattern });
      }
      rules.push(rule);
    }
  return {
    layers,
    literalTrees: layers.map(({ config }) => config.spec.schemas),
    rules,
    patterns,
    unmatched: (["schemas", "tables"] as const).map((level) => unmatchedMode(layers, level)),
    unreviewed: unreviewedMode(layers),
  };
}

function unreviewedMode(layers: readonly Layer[]): ModeSource<Unreviewed> | undefined {
  const config = layers.findLast((layer) => unreviewedIn(layer.config) !== undefined)?.config;
  const mode = config === undefined ? undefined : unreviewedIn(config);
  if (config === undefined || mode === undefined) return undefined;
  const pointer = typeof config.spec.unreviewed === "string" ? "/spec/unreviewed" : "/spec/unreviewed/columns";
  return { type: "mode", mode, config, cause: { rule: "unreviewed.columns", place: locationIn(config, pointer) } };
}

/** What a SchemaConfig does with new columns; undefined if it does not say. */
export const unreviewedIn = ({ spec: { unreviewed } }: Config): Unreviewed | undefined =>
  typeof unreviewed === "object" ? unreviewed.columns : unreviewed;

function unmatchedMode(layers: readonly Layer[], level: "schemas" | "tables"): ModeSource | undefined {
  const config = layers.findLast((layer) => layer.config.spec.unmatched?.[level] !== undefined)?.config;
  const mode = config?.spec.unmatched?.[level];
  if (config === undefined || mode === undefined || mode === "ignore") return undefined;
  return { type: "mode", mode, config, cause: { rule: `unmatched.${level}`, place: locationIn(config, `/spec/unmatched/${level}`) } };
}

/**
 * Problems of rules that are known without an account: unknown RuleSets, cycles, empty matches, attributes that a level
 * does not have. Checks every SchemaConfig and RuleSet, used or not; each problem once, at its line.
 */
export function ruleProblems(manifests: readonly Manifest[], options: CompileOptions = {}): readonly Problem[] {
  const sets = ruleSetsIn(manifests);
  const found = manifests.flatMap((manifest): readonly Problem[] => {
    if (isSchemaConfig(manifest)) return compileConfig(manifest, sets, options).problems;
    if (!isRuleSet(manifest)) return [];
    const { rules, problems } = spliceRules(manifest, sets, options.isUnread);
    return [
      ...problems,
      ...rules
        .filter(({ owner }) => owner === manifest)
        .flatMap((rule) => [...compileRule(rule).problems, ...ruleTextProblems(rule, options.isDocumented === true)]),
    ];
  });
  return uniqueProblems(found);
}

/** One problem per code and place: a problem in a RuleSet is found in every SchemaConfig that uses it. */
export function uniqueProblems(problems: readonly Problem[]): readonly Problem[] {
  const byPlace = new Map(
    problems.map((problem) => [`${problem.code} ${problem.place?.file} ${problem.place?.document} ${problem.place?.pointer}`, problem]),
  );
  return [...byPlace].sort(([a], [b]) => byText(a, b)).map(([, problem]) => problem);
}

import { byText } from "../../model/address.ts";
import type { Problem } from "../../model/problem.ts";
import { locationIn, type Resource, type SchemaConfigSpec } from "../../model/resource.ts";
import type { NamePattern } from "../patterns/names.ts";
import { type CompiledRule, compileExpectation, compileRule } from "./compile-rule.ts";
import { type Context, newContext } from "./rule-cache.ts";
import { type PlacedRule, type RuleSets, ruleSetsIn, spliceRules } from "./rule-sets.ts";
import type { Depth, NodeCause } from "./tree.ts";

export type Config = Resource<SchemaConfigSpec>;

/** One configuration, compiled once however many integrations it governs. */
export interface CompiledConfig {
  readonly config: Config;
  readonly rules: readonly CompiledRule[];
  /** As they are written, RuleSets in place. */
  readonly written: readonly PlacedRule[];
  readonly problems: readonly Problem[];
}

/** A rule in the order in which a program speaks. */
export interface Rule extends CompiledRule {
  /** Position in `Program.rules`. */
  readonly index: number;
  /** Of the configuration that it belongs to; a layer's literal tree speaks after its rules. */
  readonly layer: number;
  readonly compiled: CompiledRule;
  /** By depth, the position in `Program.patterns` of its first positive pattern. */
  readonly firstPattern: readonly number[];
}

export interface Layer {
  readonly type: "literal";
  readonly config: Config;
  readonly compiled: CompiledConfig;
}

/** What a configuration makes of nodes that nothing covers. */
export interface Unmatched {
  readonly type: "unmatched";
  readonly mode: "enable" | "disable" | "error";
  readonly config: Config;
  readonly cause: NodeCause;
}

/** Who decided a value. */
export type Speaker = Rule | Layer | Unmatched;

/** Everything that the configurations of an integration say, in the order in which they say it. */
export interface Statements {
  /** Lowest priority first. */
  readonly layers: readonly Layer[];
  readonly rules: readonly Rule[];
  readonly patterns: readonly { readonly rule: Rule; readonly depth: Depth; readonly pattern: NamePattern }[];
  /** By depth; of the highest layer that says something. */
  readonly unmatched: readonly (Unmatched | undefined)[];
}

/**
 * Statements ready to be put to trees; shared by all integrations with the same ones. Contexts remember what they have learned of names, which can be
 * as large as a tree: whatever outlives the comparison of a program's integrations keeps `statements` only.
 */
export interface Program extends Statements {
  readonly statements: Statements;
  /** Where a walk begins. */
  readonly root: Context;
}

export function compileConfig(config: Config, sets: RuleSets): CompiledConfig {
  const spliced = spliceRules(config, sets);
  const compiled = [
    ...spliced.rules.map(compileRule),
    ...(config.spec.expect ?? []).map((entry, index) => compileExpectation(entry, config, index)),
  ];
  return {
    config,
    rules: compiled.flatMap(({ rule }) => rule ?? []),
    written: spliced.rules,
    problems: [...spliced.problems, ...compiled.flatMap(({ problems }) => problems)],
  };
}

/** `configs` lowest priority first: each speaks with its rules, then with its literal tree. */
export function makeRuleProgram(configs: readonly CompiledConfig[]): Program {
  const patterns: { rule: Rule; depth: Depth; pattern: NamePattern }[] = [];
  const rules: Rule[] = [];
  for (const [layer, { rules: compiled }] of configs.entries())
    for (const one of compiled) {
      const firstPattern: number[] = [];
      const rule: Rule = { ...one, index: rules.length, layer, compiled: one, firstPattern };
      for (const depth of [0, 1, 2] as const) {
        firstPattern.push(patterns.length);
        for (const pattern of one.parts[depth]?.positive ?? []) patterns.push({ rule, depth, pattern });
      }
      rules.push(rule);
    }
  const layers = configs.map((compiled): Layer => ({ type: "literal", config: compiled.config, compiled }));
  const unmatched = (["schemas", "tables", "columns"] as const).map((level): Unmatched | undefined => {
    const config = layers.findLast((layer) => layer.config.spec.unmatched?.[level] !== undefined)?.config;
    const mode = config?.spec.unmatched?.[level];
    if (config === undefined || mode === undefined || mode === "ignore") return undefined;
    return {
      type: "unmatched",
      mode,
      config,
      cause: { rule: `unmatched.${level}`, place: locationIn(config, `/spec/unmatched/${level}`) },
    };
  });
  const statements: Statements = { layers, rules, patterns, unmatched };
  return { ...statements, statements, root: newContext(rules) };
}

/**
 * What is wrong with rules before any account is looked at: unknown RuleSets, circles, empty matches, attributes that a level doesn't have.
 * Covers every SchemaConfig and every RuleSet, used or not; each mistake once, at its line.
 */
export function ruleProblems(resources: readonly Resource[]): readonly Problem[] {
  const sets = ruleSetsIn(resources);
  const found = resources.flatMap((resource): readonly Problem[] => {
    if (resource.kind === "SchemaConfig") return compileConfig(resource as Config, sets).problems;
    if (resource.kind !== "RuleSet") return [];
    const { rules, problems } = spliceRules(resource as Resource<{ readonly rules: [] }>, sets);
    return [...problems, ...rules.filter(({ owner }) => owner === resource).flatMap((rule) => compileRule(rule).problems)];
  });
  return eachOnce(found);
}

/** A mistake in a RuleSet shows in every configuration that uses it. */
export function eachOnce(problems: readonly Problem[]): readonly Problem[] {
  const byPlace = new Map(
    problems.map((problem) => [`${problem.code} ${problem.place?.file} ${problem.place?.document} ${problem.place?.pointer}`, problem]),
  );
  return [...byPlace].sort(([a], [b]) => byText(a, b)).map(([, problem]) => problem);
}

import { byText } from "../../base/model/address.ts";
import { type Manifest, problemIn } from "../../base/model/manifest.ts";
import { groupBy } from "../../base/model/maps.ts";
import type { Problem } from "../../base/model/problem.ts";
import { enumerate } from "../../base/text/describe.ts";
import { andMore } from "../../base/text/lists.ts";
import { isIntegration, isSchemaConfig } from "../manifests.ts";
import { integrationMatcher } from "../select.ts";
import type { Config } from "./compiled-config.ts";

// Which of two SchemaConfigs of one integration has precedence is decided by `priority`, so equal ones are an error.

/** SchemaConfigs with the same priority, and the name of an integration that all of them select. */
export interface PriorityConflict {
  readonly configs: readonly Config[];
  readonly integration: string;
}

/** Those of one integration with the same priority. */
export const equalPriorities = (configs: readonly Config[], integration: string): readonly PriorityConflict[] =>
  [...groupBy(configs, ({ spec: { priority = 0 } }) => priority).values()].flatMap((equal) =>
    equal.length > 1 ? [{ configs: equal, integration }] : [],
  );

/**
 * One problem for each SchemaConfig whose priority must change: one that selects many integrations often conflicts with one of each of them,
 * and then it is that one.
 */
export function priorityProblems(conflicts: readonly PriorityConflict[]): readonly Problem[] {
  const problems: Problem[] = [];
  for (let left = conflicts; left.length > 0; ) {
    const counts = new Map<Config, number>();
    for (const { configs } of left) for (const config of configs) counts.set(config, (counts.get(config) ?? 0) + 1);
    const [widest] = [...counts.keys()].sort(
      (a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0) || Number(isOfOne(a)) - Number(isOfOne(b)) || byText(b.name, a.name),
    );
    if (widest === undefined) break;
    problems.push(
      priorityProblem(
        widest,
        left.filter(({ configs }) => configs.includes(widest)),
      ),
    );
    left = left.filter(({ configs }) => !configs.includes(widest));
  }
  return problems;
}

function priorityProblem(config: Config, conflicts: readonly PriorityConflict[]): Problem {
  const others = [...new Set(conflicts.flatMap(({ configs }) => configs))]
    .filter((other) => other !== config)
    .map(({ address }) => address);
  const names = [...new Set(conflicts.map(({ integration }) => integration))];
  const shown = andMore(
    names.map((name) => JSON.stringify(name)),
    "integration",
  );
  const which = names.length === 1 ? `the same integration, ${shown},` : `the same ${names.length} integrations, ${shown},`;
  const all =
    others.length > 2
      ? `${config.address} and ${others.length} other SchemaConfigs (${andMore(others, "SchemaConfig")})`
      : enumerate([...others, config.address], "and");
  return problemIn(config, isOfOne(config) ? "/spec/integration" : "/spec/integrations", {
    code: "E_CONFLICTING_CONFIGS",
    message: `${all} select ${which} with the same priority, so none has precedence. Set another spec.priority in ${config.address} (default: 0; the higher one wins per field), or select each integration once.`,
  });
}

const isOfOne = ({ spec: { integration } }: Config): boolean => integration !== undefined;

/** What the files show without the account. Whether `!pattern` excludes an integration depends on its live name. */
export const declaredPriorityProblems = (manifests: readonly Manifest[]): readonly Problem[] =>
  priorityProblems(declaredConflicts(manifests));

function declaredConflicts(manifests: readonly Manifest[]): readonly PriorityConflict[] {
  const configs = manifests.filter(isSchemaConfig);
  const labels = new Map(manifests.filter(isIntegration).map(({ name, labels: own }) => [name, own]));
  const named = configs.flatMap(({ spec: { integration } }) => (typeof integration === "string" ? [integration] : []));
  const selectors = configs.map((config) => ({ config, selects: selectsByName(config) }));
  return [...new Set([...labels.keys(), ...named])].flatMap((name) =>
    equalPriorities(
      selectors.filter(({ selects }) => selects(name, labels.get(name) ?? {})).map(({ config }) => config),
      name,
    ),
  );
}

function selectsByName({
  spec: { integration, integrations },
}: Config): (name: string, labels: Readonly<Record<string, string>>) => boolean {
  if (integrations === undefined) return (name) => name === integration;
  if (integrations.names?.some((pattern) => pattern.startsWith("!")) === true) return () => false;
  const matches = integrationMatcher(integrations);
  return (name, labels) => matches({ names: [name], labels });
}

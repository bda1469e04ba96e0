import { type Manifest, type PolicySpec, problemIn } from "../../base/model/manifest.ts";
import { getOrAdd } from "../../base/model/maps.ts";
import type { Problem } from "../../base/model/problem.ts";
import { levelNames } from "../../base/model/schema-tree.ts";
import { andMore } from "../../base/text/lists.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import type { PolicyTarget } from "../../columns/policies/index.ts";
import { integrationMatcher, nameMatcher } from "../../kinds/index.ts";

/** A name or glob in `when` of a policy. */
interface Written {
  readonly policy: Manifest<PolicySpec>;
  readonly selects: ReturnType<typeof integrationMatcher>;
  readonly depth: number;
  readonly name: string;
  readonly pointer: string;
  readonly isGlob: boolean;
  readonly matches: (other: string) => boolean;
}

/** How many names of a level are compared for a suggestion. */
const maxCandidates = 5_000;

/**
 * Collects the names in policies that nothing has: such a policy checks less than it says. A glob can be for what does not exist yet, unless it
 * matches in another case.
 */
export function policyNames(policies: readonly Manifest<PolicySpec>[]) {
  const known = new Map<number, Set<string>>();
  // Those that have checked no integration yet.
  const idle = new Map(policies.map((policy) => [policy, integrationMatcher(policy.spec.when?.integration)]));
  const missing = new Set([...idle].flatMap(([policy, selects]) => written(policy, selects)));
  const see = (asked: readonly Written[], depth: number, name: string): void => {
    const names = getOrAdd(known, depth, () => new Set<string>());
    if (names.size < maxCandidates) names.add(name);
    for (const one of asked) if (one.depth === depth && one.matches(name)) missing.delete(one);
  };
  return {
    add({ live, ...integration }: Pick<PolicyTarget, "live" | "names" | "labels">): void {
      for (const [policy, selects] of idle) if (selects(integration)) idle.delete(policy);
      const asked = [...missing].filter(({ selects }) => selects(integration));
      if (asked.length === 0) return;
      const hasColumns = asked.some(({ depth }) => depth === 2);
      for (const [schema, { tables }] of Object.entries(live)) {
        see(asked, 0, schema);
        for (const [table, { columns }] of Object.entries(tables)) {
          see(asked, 1, table);
          if (!hasColumns) continue;
          // A table whose columns were not read may have any of them.
          if (columns === undefined) for (const one of asked) if (one.depth === 2) missing.delete(one);
          for (const column of Object.keys(columns ?? {})) see(asked, 2, column);
        }
      }
    },
    /** `live`: all integrations of the account. */
    problems: (live: readonly Pick<PolicyTarget, "names" | "labels">[]): readonly Problem[] => [
      ...[...idle].flatMap(([policy, selects]) => {
        const selected = live.filter(selects).map(({ names: [name = ""] }) => name);
        if (policy.spec.when?.integration === undefined || selected.length === 0) return [];
        const message = `${policy.address} checks nothing. It selects ${andMore(selected, "integration", { shown: 3 })}, but policies check only integrations that have a manifest or that a SchemaConfig selects. Write one, or correct the policy.`;
        return [problemIn(policy, "/spec/when/integration", { code: "W_NO_MATCH", severity: "warning", message })];
      }),
      ...[...missing].flatMap(({ policy, depth, name, pointer, isGlob }): readonly Problem[] => {
        if (idle.has(policy)) return [];
        const level = levelNames[depth] ?? "";
        const problem = (message: string): Problem => problemIn(policy, pointer, { code: "W_NO_MATCH", severity: "warning", message });
        if (isGlob) {
          const others = [...(known.get(depth) ?? [])].filter(nameMatcher([name], { ignoreCase: true })).sort();
          const message = `No ${level} in the integrations that ${policy.address} checks matches ${JSON.stringify(name)}. In another case it would match ${andMore(others, "name", { shown: 3 })}. Set ignoreCase: true, or correct the case.`;
          return others.length === 0 ? [] : [problem(message)];
        }
        const message = `No ${level} in the integrations that ${policy.address} checks has the name ${JSON.stringify(name)}.${didYouMean(name, known.get(depth) ?? [])} Correct it. If it may not exist yet, write a glob, such as ${JSON.stringify(`${name}*`)}.`;
        return [problem(message)];
      }),
    ],
  };
}

function written(policy: Manifest<PolicySpec>, selects: Written["selects"]): readonly Written[] {
  const levels = policy.spec.when ?? {};
  return (["schema", "table", "column"] as const).flatMap((level, depth) => {
    const { name, ignoreCase = false } = levels[level] ?? {};
    const names = typeof name === "string" ? [{ name, at: "" }] : (name ?? []).map((one, index) => ({ name: one, at: `/${index}` }));
    return names
      .filter((one) => !one.name.startsWith("!"))
      .map((one) => ({
        ...{ policy, selects, depth, name: one.name, pointer: `/spec/when/${level}/name${one.at}` },
        isGlob: /[*?[\]{}\\]/u.test(one.name),
        matches: nameMatcher([one.name], { ignoreCase }),
      }));
  });
}

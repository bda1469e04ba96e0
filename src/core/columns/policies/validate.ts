import type { PolicyFinding } from "../../base/model/findings.ts";
import { locationIn, type Manifest, type PolicySpec, problemIn } from "../../base/model/manifest.ts";
import type { Locate, Problem } from "../../base/model/problem.ts";
import { levelNames } from "../../base/model/schema-tree.ts";
import { capitalized, ruleText } from "../../base/text/describe.ts";
import { isPolicy, isRuleSet, isSchemaConfig, policyAddress } from "../../kinds/index.ts";
import { compilePolicy } from "./compile.ts";

export const policiesIn = (manifests: readonly Manifest[]): readonly Manifest<PolicySpec>[] => manifests.filter(isPolicy);

/** Policies that can never find anything, each as an error at its line. */
export function policyProblems(manifests: readonly Manifest[]): readonly Problem[] {
  return policiesIn(manifests).flatMap((manifest): readonly Problem[] => {
    const found = problemOf(manifest);
    if (found === undefined) return [];
    const [pointer, message] = found;
    return [problemIn(manifest, pointer, { code: "E_WRONG_VALUE", message: `${manifest.address} ${message}` })];
  });
}

/** What is wrong with a policy; the message follows its address. */
function problemOf(policy: Manifest<PolicySpec>): readonly [pointer: string, message: string] | undefined {
  const { require, when } = policy.spec;
  if (require === undefined)
    return ["/spec", "has no spec.require, so it can never find anything. Add what must be true, such as require: { hashed: true }."];
  const { depth } = compilePolicy(policy).nodes;
  if (depth === undefined)
    return [
      when === undefined ? "/spec" : "/spec/when",
      "names no column, table or schema in spec.when, so it can never find anything. Add what it checks, such as column: {} for every replicated column.",
    ];
  if (require.hashed !== undefined && depth !== 2)
    return [
      "/spec/require/hashed",
      `requires hashed, but checks ${levelNames[depth]}s, which cannot be hashed. Add columns to spec.when, such as column: {} for every replicated column.`,
    ];
  return undefined;
}

/** Rules after their `expires` date. They still apply, because a date alone must not expose data. */
export function expiredRules(manifests: readonly Manifest[], today: string, locate: Locate): readonly PolicyFinding[] {
  return manifests.flatMap((manifest) => {
    if (!isSchemaConfig(manifest) && !isRuleSet(manifest)) return [];
    const { rules = [] } = manifest.spec;
    return rules.flatMap((rule, index): readonly PolicyFinding[] => {
      if (!("match" in rule) || rule.expires === undefined || rule.expires >= today) return [];
      const { file, line } = locate(locationIn(manifest, `/spec/rules/${index}/expires`, "key"));
      const why = rule.reason === undefined ? "" : ` (${rule.reason})`;
      return [
        {
          rule: policyAddress("rule-expired"),
          severity: "warning",
          state: "existing",
          address: manifest.address,
          path: `/spec/rules/${index}`,
          message: `${capitalized(ruleText(rule.id ?? `rule ${index + 1}`))} expired on ${rule.expires}${why} and still applies. Remove it, or set a later date.`,
          file,
          ...(line === undefined ? {} : { line }),
        },
      ];
    });
  });
}

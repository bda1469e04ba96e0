import type { PolicyFinding } from "../model/plan.ts";
import type { Locate, Problem } from "../model/problem.ts";
import { locationIn, type PolicySpec, type Resource, type SchemaRule } from "../model/resource.ts";
import { compilePolicy } from "./compile.ts";

export const policiesIn = (resources: readonly Resource[]): readonly Resource<PolicySpec>[] =>
  resources.filter(({ kind }) => kind === "Policy") as readonly Resource<PolicySpec>[];

/** Policies that could never find anything, which is worse than none: each is an error at its line. */
export function policyProblems(resources: readonly Resource[]): readonly Problem[] {
  return policiesIn(resources).flatMap((resource): readonly Problem[] => {
    const { spec, address } = resource;
    const problem = (pointer: string, summary: string, message: string): readonly Problem[] => [
      {
        code: "E_POLICY_SAYS_NOTHING",
        severity: "error",
        summary,
        message: `${address} ${message}`,
        place: locationIn(resource, pointer),
        address,
      },
    ];
    const { module, require, when } = spec;
    if (module !== undefined && require !== undefined)
      return problem(
        "/spec/module",
        "A policy judges twice",
        "has both spec.require and spec.module, and only one of them can judge. Remove one, or write two policies.",
      );
    if (module !== undefined) return [];
    if (require === undefined)
      return problem(
        "/spec",
        "A policy requires nothing",
        "has neither spec.require nor spec.module, so it can never find anything. Say what must hold, for example require: { hashed: true }.",
      );
    const { level } = compilePolicy(resource);
    if (level === undefined)
      return problem(
        when === undefined ? "/spec" : "/spec/when",
        "A policy judges nothing",
        "names neither columns, tables nor schemas in spec.when, so it can never find anything. Say what is judged; column: {} means every column that flows.",
      );
    if (require.hashed !== undefined && level !== "column")
      return problem(
        "/spec/require/hashed",
        "Nothing to require there",
        `requires hashed of a ${level}, and only columns can be hashed. Name the columns in spec.when; column: {} means every column that flows.`,
      );
    return [];
  });
}

/** Rules past their `expires`: they still decide, because a date alone must not expose anything, and somebody wanted to look at them by then (product §2.3). */
export function expiredRules(resources: readonly Resource[], today: string, locate: Locate): readonly PolicyFinding[] {
  return resources.flatMap((resource) => {
    if (resource.kind !== "SchemaConfig" && resource.kind !== "RuleSet") return [];
    const { rules = [] } = resource.spec as { readonly rules?: readonly SchemaRule[] };
    return rules.flatMap((rule, index): readonly PolicyFinding[] => {
      if (!("match" in rule) || rule.expires === undefined || rule.expires >= today) return [];
      const { file, line } = locate(locationIn(resource, `/spec/rules/${index}/expires`, "key"));
      const why = rule.reason === undefined ? "" : ` (${rule.reason})`;
      return [
        {
          policy: "rule-expired",
          severity: "warning",
          address: resource.address,
          path: `/spec/rules/${index}`,
          message: `Rule ${JSON.stringify(rule.id ?? `rule ${index + 1}`)} was meant to hold until ${rule.expires}${why}. It still holds: remove it, or agree on a later day.`,
          file,
          ...(line === undefined ? {} : { line }),
        },
      ];
    });
  });
}

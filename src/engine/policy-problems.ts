import type { Problem } from "../model/problem.ts";
import { type PolicySpec, placeIn, type Resource } from "../model/resource.ts";
import { compilePolicy } from "./policy-conditions.ts";

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
        place: placeIn(resource, pointer),
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

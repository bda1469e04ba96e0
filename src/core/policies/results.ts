import type { Pointer } from "../model/json/pointer.ts";
import { getOrAdd } from "../model/maps.ts";
import type { PolicyExemption, PolicySpec, Resource } from "../model/resource.ts";
import { atOnce } from "../model/runtime/event-loop.ts";
import { type EvaluatorOptions, newPolicyEvaluator, type PolicyTarget } from "./evaluate.ts";

/** What policies say of the nodes of one integration. */
export interface PolicyResults {
  /** The names of the policies of severity error that a node breaks, by the pointer of its value. */
  readonly breaks: ReadonlyMap<Pointer, readonly string[]>;
  /** The valid exemptions that let a node break a policy. */
  readonly exempt: ReadonlyMap<Pointer, PolicyExemption>;
}

/** Evaluates policies on the live state. */
export function policyResults(
  policies: readonly Resource<PolicySpec>[],
  options: EvaluatorOptions,
): (target: PolicyTarget) => PolicyResults {
  const evaluator = newPolicyEvaluator(policies, options);
  return (target) => {
    const { findings, exempt } = atOnce(evaluator.evaluate(target));
    const breaks = new Map<Pointer, string[]>();
    for (const { severity, path, policy } of findings) if (severity === "error") getOrAdd(breaks, path, () => []).push(policy);
    return { breaks, exempt: new Map(exempt.map(({ path, exemption }) => [path, exemption])) };
  };
}

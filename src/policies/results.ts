import type { Pointer } from "../model/json/pointer.ts";
import { getOrAdd } from "../model/maps.ts";
import { nodePointer } from "../model/nodes.ts";
import type { PolicyExemption, PolicySpec, Resource } from "../model/resource.ts";
import { atOnce } from "../model/runtime/event-loop.ts";
import { compilePolicy, isValidOn } from "./compile.ts";
import { type EvaluatorOptions, newPolicyEvaluator, type PolicyTarget } from "./evaluate.ts";
import { findViolations } from "./violations.ts";

/** What policies say of the nodes of one integration. */
export interface PolicyResults {
  /** The names of the policies of severity error that a node breaks, by the pointer of its value. */
  readonly breaks: ReadonlyMap<Pointer, readonly string[]>;
  /** The valid exemptions that let a node break a policy. */
  readonly exempt: ReadonlyMap<Pointer, PolicyExemption>;
  /** Policies whose module failed. */
  readonly failures: readonly { readonly policy: Resource<PolicySpec>; readonly reason: string }[];
}

/** Evaluates policies on the live state, with the exemptions that findings leave out. */
export function policyResults(
  policies: readonly Resource<PolicySpec>[],
  options: EvaluatorOptions,
): (target: PolicyTarget) => PolicyResults {
  const evaluator = newPolicyEvaluator(policies, options);
  const compiled = policies.filter(({ spec }) => spec.require !== undefined).map(compilePolicy);
  return (target) => {
    const breaks = new Map<Pointer, string[]>();
    const { findings, failures } = atOnce(evaluator.evaluate(target));
    for (const { severity, path, policy } of findings) if (severity === "error") getOrAdd(breaks, path, () => []).push(policy);
    const exempt = new Map<Pointer, PolicyExemption>();
    for (const policy of compiled.filter(({ selects, resource }) => selects(target) && (resource.spec.exemptions ?? []).length > 0))
      for (const { path, key } of atOnce(
        findViolations(policy, {
          tree: target.live,
          isLive: true,
          labels: target.columnLabels,
          value: (_path, _key, own) => own,
        }),
      ).violations) {
        const names = path.filter((name) => name !== undefined);
        const exemption = policy.exemptions(target.names, names).find((one) => isValidOn(one, options.today));
        if (exemption !== undefined) exempt.set(nodePointer(path, key), exemption);
      }
    return { breaks, exempt, failures };
  };
}

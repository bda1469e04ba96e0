import type { PolicyFinding } from "../model/plan.ts";
import type { Locate } from "../model/problem.ts";
import { placeIn, type Resource, type SchemaRule } from "../model/resource.ts";

/** Rules past their `expires`: they still decide, because a date alone must not expose anything, and somebody wanted to look at them by then (product §2.3). */
export function expiredRules(resources: readonly Resource[], today: string, locate: Locate): readonly PolicyFinding[] {
  return resources.flatMap((resource) => {
    if (resource.kind !== "SchemaConfig" && resource.kind !== "RuleSet") return [];
    const { rules = [] } = resource.spec as { readonly rules?: readonly SchemaRule[] };
    return rules.flatMap((rule, index): readonly PolicyFinding[] => {
      if (!("match" in rule) || rule.expires === undefined || rule.expires >= today) return [];
      const { file, line } = locate(placeIn(resource, `/spec/rules/${index}/expires`, "key"));
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

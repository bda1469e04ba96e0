import type { Problem } from "../../model/problem.ts";
import { locationIn, type Resource, type RuleSetSpec, type SchemaRule } from "../../model/resource.ts";
import { didYouMean } from "../../text/suggest.ts";

/** A rule that says something itself, in contrast to `use`. */
export type SpeakingRule = Exclude<SchemaRule, { readonly use: string }>;

/** A rule where it is written: in the configuration, or in a RuleSet that it uses. */
export interface PlacedRule {
  readonly rule: SpeakingRule;
  /** What changes name as their cause: the id, or "rule 3", in a RuleSet "pii-columns rule 3". Counted from 1. */
  readonly name: string;
  readonly owner: Resource;
  /** "/spec/rules/2" */
  readonly pointer: string;
}

export type RuleSets = ReadonlyMap<string, Resource<RuleSetSpec>>;

export function ruleSetsIn(resources: readonly Resource[]): RuleSets {
  return new Map(resources.filter(({ kind }) => kind === "RuleSet").map((resource) => [resource.name, resource as Resource<RuleSetSpec>]));
}

/** Sets that use sets twice each would double with every step: more rules than anyone means are refused. */
const maxRules = 20_000;

/**
 * The rules of a configuration or RuleSet with those of the sets that it uses in the place of `use`, and what is wrong on the way: unknown sets,
 * circles, too many rules. What can't be spliced is left out, so that the rest can still be checked.
 */
export function spliceRules(
  resource: Resource<Partial<RuleSetSpec>>,
  sets: RuleSets,
): { readonly rules: readonly PlacedRule[]; readonly problems: readonly Problem[] } {
  const rules: PlacedRule[] = [];
  const problems: Problem[] = [];
  const report = (owner: Resource, pointer: string, code: string, summary: string, message: string): void => {
    problems.push({ code, severity: "error", summary, message, place: locationIn(owner, pointer), address: owner.address });
  };
  const splice = (owner: Resource<Partial<RuleSetSpec>>, route: readonly string[]): void => {
    for (const [index, rule] of (owner.spec.rules ?? []).entries()) {
      const pointer = `/spec/rules/${index}`;
      if (rules.length >= maxRules) {
        if (problems.every(({ code }) => code !== "E_TOO_MANY_RULES"))
          report(
            owner,
            pointer,
            "E_TOO_MANY_RULES",
            "Too many rules",
            `With the sets that it uses, ${resource.address} has more than ${maxRules} rules. Sets that use sets more than once multiply them.`,
          );
        return;
      }
      if (!("use" in rule)) {
        const number = `rule ${index + 1}`;
        rules.push({ rule, name: rule.id ?? (owner.kind === "RuleSet" ? `${owner.name} ${number}` : number), owner, pointer });
        continue;
      }
      const used = sets.get(rule.use);
      if (used === undefined)
        report(
          owner,
          `${pointer}/use`,
          "E_UNKNOWN_RULE_SET",
          "Unknown RuleSet",
          `${owner.address} uses RuleSet ${JSON.stringify(rule.use)}, which no manifest defines.${didYouMean(rule.use, [...sets.keys()].sort())}`,
        );
      else if (route.includes(rule.use)) {
        const circle = [...route.slice(route.indexOf(rule.use)), rule.use].join(" uses ");
        report(
          owner,
          `${pointer}/use`,
          "E_RULE_SET_CYCLE",
          "RuleSets use each other in a circle",
          `${circle}, so its rules would never end. Remove one of these uses.`,
        );
      } else splice(used, [...route, rule.use]);
    }
  };
  splice(resource, resource.kind === "RuleSet" ? [resource.name] : []);
  return { rules, problems };
}

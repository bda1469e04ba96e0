import { type Manifest, problemIn, type RuleSetSpec, type SchemaRule } from "../../../base/model/manifest.ts";
import { addAll } from "../../../base/model/maps.ts";
import type { Problem } from "../../../base/model/problem.ts";
import { didYouMean } from "../../../base/text/suggest.ts";
import { isRuleSet } from "../../manifests.ts";
import type { PlacedRule } from "./compile-rule.ts";

export type RuleSets = ReadonlyMap<string, Manifest<RuleSetSpec>>;

export function ruleSetsIn(manifests: readonly Manifest[]): RuleSets {
  return new Map(manifests.filter(isRuleSet).map((manifest) => [manifest.name, manifest]));
}

/** RuleSets that each use two others double the rules at every step. */
const maxRules = 20_000;

interface SplicedRules {
  readonly rules: readonly PlacedRule[];
  readonly problems: readonly Problem[];
}

/**
 * The rules of a SchemaConfig or RuleSet, with the rules of a RuleSet instead of each `use`. A
 * `use` that cannot be replaced (unknown RuleSet, cycle, too many rules) is a problem and is left
 * out, so that the other rules are still checked. A RuleSet that was not loaded is left out without a problem.
 */
export function spliceRules(
  manifest: Manifest<Partial<RuleSetSpec>>,
  sets: RuleSets,
  isUnread: (name: string) => boolean = () => false,
): SplicedRules {
  const rules: PlacedRule[] = [];
  const problems: Problem[] = [];
  const splice = (owner: Manifest<Partial<RuleSetSpec>>, route: readonly string[]): void => {
    for (const [index, rule] of (owner.spec.rules ?? []).entries()) {
      const pointer = `/spec/rules/${index}`;
      if (rules.length >= maxRules) {
        if (!problems.some(({ code }) => code === "E_TOO_MANY_RULES")) problems.push(tooManyRules(manifest, owner, pointer));
        return;
      }
      if (!("use" in rule)) {
        const number = `rule ${index + 1}`;
        rules.push({ rule, name: rule.id ?? (isRuleSet(owner) ? `${owner.name} ${number}` : number), owner, pointer });
        continue;
      }
      const used = sets.get(rule.use);
      if (used === undefined) addAll(problems, isUnread(rule.use) ? [] : [unknownRuleSet(rule, owner, `${pointer}/use`, sets)]);
      else if (route.includes(rule.use)) problems.push(cycle([...route.slice(route.indexOf(rule.use)), rule.use], owner, `${pointer}/use`));
      else splice(used, [...route, rule.use]);
    }
  };
  splice(manifest, isRuleSet(manifest) ? [manifest.name] : []);
  return { rules, problems };
}

const tooManyRules = ({ address }: Manifest, owner: Manifest, pointer: string): Problem =>
  problemIn(owner, pointer, {
    code: "E_TOO_MANY_RULES",
    message: `With the RuleSets that it uses, ${address} has more than ${maxRules} rules. RuleSets that use others more than once multiply them.`,
  });

function unknownRuleSet({ use }: Extract<SchemaRule, { readonly use: string }>, owner: Manifest, pointer: string, sets: RuleSets): Problem {
  return problemIn(owner, pointer, {
    code: "E_UNKNOWN_REFERENCE",
    message: `${owner.address} uses RuleSet ${JSON.stringify(use)}, which no manifest defines.${didYouMean(use, [...sets.keys()].sort())}`,
  });
}

const cycle = (names: readonly string[], owner: Manifest, pointer: string): Problem =>
  problemIn(owner, pointer, {
    code: "E_TOO_MANY_RULES",
    message: `${names.join(" uses ")}. Remove one of these uses.`,
  });

import type { Pointer } from "../model/json/pointer.ts";
import type { Problem, ProblemText } from "../model/problem.ts";
import { problemIn, type Resource } from "../model/resource.ts";
import { didYouMean } from "../text/suggest.ts";
import { isPolicy, isRuleSet, isSchemaConfig } from "./manifests.ts";
import { wantedLabels } from "./patterns/labels.ts";

/** `label` of one match. */
interface LabelReference {
  readonly resource: Resource;
  readonly pointer: Pointer;
  readonly label: string | readonly string[];
}

/** Where manifests match columns by label. */
export function labelReferences(resources: readonly Resource[]): readonly LabelReference[] {
  return resources.flatMap((resource): readonly LabelReference[] => {
    if (isPolicy(resource)) {
      const label = resource.spec.when?.column?.label;
      return label === undefined ? [] : [{ resource, pointer: "/spec/when/column/label", label }];
    }
    if (!isSchemaConfig(resource) && !isRuleSet(resource)) return [];
    const { rules = [] } = resource.spec;
    const expected = isSchemaConfig(resource) ? (resource.spec.expect ?? []) : [];
    const matches = [
      ...rules.map((rule, index) => ({ label: "match" in rule ? rule.match.label : undefined, pointer: `/spec/rules/${index}` })),
      ...expected.map(({ match }, index) => ({ label: match.label, pointer: `/spec/expect/${index}` })),
    ];
    return matches.flatMap(({ label, pointer }) => (label === undefined ? [] : [{ resource, pointer: `${pointer}/match/label`, label }]));
  });
}

/** Labels that no Classification defines: nothing would match them, so that data would stay readable without notice. */
export function unknownLabels(resources: readonly Resource[], defined: readonly string[]): readonly Problem[] {
  return labelReferences(resources).flatMap(({ resource, pointer, label }) =>
    (wantedLabels(label) ?? []).flatMap((name, index): readonly Problem[] => {
      if (defined.includes(name)) return [];
      const at = typeof label === "string" ? pointer : `${pointer}/${index}`;
      return [problemIn(resource, at, unknownLabel(`${resource.address} matches`, name, defined))];
    }),
  );
}

/** E_UNKNOWN_REFERENCE. `user`: the beginning of the sentence, such as "Policy/pii matches". */
export const unknownLabel = (user: string, label: string, defined: readonly string[]): ProblemText => ({
  code: "E_UNKNOWN_REFERENCE",
  message: `${user} columns by label ${JSON.stringify(label)}, which no Classification defines.${didYouMean(label, defined)}`,
});

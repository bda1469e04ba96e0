import type { Pointer } from "../base/model/json/pointer.ts";
import { type Manifest, problemIn } from "../base/model/manifest.ts";
import type { Problem, ProblemText } from "../base/model/problem.ts";
import { didYouMean } from "../base/text/suggest.ts";
import { isPolicy, isRuleSet, isSchemaConfig } from "./manifests.ts";
import { wantedLabels } from "./patterns/labels.ts";

/** `label` of one match. */
interface LabelReference {
  readonly manifest: Manifest;
  readonly pointer: Pointer;
  readonly label: string | readonly string[];
}

/** Where manifests match columns by label. */
export function labelReferences(manifests: readonly Manifest[]): readonly LabelReference[] {
  return manifests.flatMap((manifest): readonly LabelReference[] => {
    if (isPolicy(manifest)) {
      const label = manifest.spec.when?.column?.label;
      return label === undefined ? [] : [{ manifest, pointer: "/spec/when/column/label", label }];
    }
    if (!isSchemaConfig(manifest) && !isRuleSet(manifest)) return [];
    const { rules = [] } = manifest.spec;
    const expected = isSchemaConfig(manifest) ? (manifest.spec.expect ?? []) : [];
    const matches = [
      ...rules.map((rule, index) => ({ label: "match" in rule ? rule.match.label : undefined, pointer: `/spec/rules/${index}` })),
      ...expected.map(({ match }, index) => ({ label: match.label, pointer: `/spec/expect/${index}` })),
    ];
    return matches.flatMap(({ label, pointer }) => (label === undefined ? [] : [{ manifest, pointer: `${pointer}/match/label`, label }]));
  });
}

/** Labels that no Classification defines: nothing would match them, so that data would stay readable without notice. */
export function unknownLabels(manifests: readonly Manifest[], defined: readonly string[]): readonly Problem[] {
  return labelReferences(manifests).flatMap(({ manifest, pointer, label }) =>
    (wantedLabels(label) ?? []).flatMap((name, index): readonly Problem[] => {
      if (defined.includes(name)) return [];
      const at = typeof label === "string" ? pointer : `${pointer}/${index}`;
      return [problemIn(manifest, at, unknownLabel(`${manifest.address} matches`, name, defined))];
    }),
  );
}

/** E_UNKNOWN_REFERENCE. `user`: the beginning of the sentence, such as "Policy/pii matches". */
export const unknownLabel = (user: string, label: string, defined: readonly string[]): ProblemText => ({
  code: "E_UNKNOWN_REFERENCE",
  message: `${user} columns by label ${JSON.stringify(label)}, which no Classification defines.${didYouMean(label, defined)}`,
});

import type { Pointer } from "../model/json/pointer.ts";
import type { Problem, ProblemText } from "../model/problem.ts";
import { type IntegrationSelector, problemIn, type Resource } from "../model/resource.ts";
import { didYouMean } from "../text/suggest.ts";
import { isIntegration, isPolicy, isRuleSet, isSchemaConfig, isTag } from "./manifests.ts";
import { wantedLabels } from "./patterns/labels.ts";
import { integrationMatcher } from "./select.ts";

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

/** E_UNKNOWN_LABEL. `user`: the beginning of the sentence, such as "Policy/pii matches". */
export const unknownLabel = (user: string, label: string, defined: readonly string[]): ProblemText => ({
  code: "E_UNKNOWN_LABEL",
  message: `${user} columns by label ${JSON.stringify(label)}, which no Classification defines.${didYouMean(label, defined)}`,
});

/** Selectors whose labels no Integration manifest has. Labels are only in manifests, so this needs no account. */
export function emptyLabelSelectors(resources: readonly Resource[]): readonly Problem[] {
  const integrations = resources.filter(isIntegration);
  const known = new Set(integrations.flatMap(({ labels }) => Object.entries(labels).map(pairText)));
  return resources.flatMap((resource) =>
    selectorsIn(resource).flatMap(({ selector: { labels }, pointer }): readonly Problem[] => {
      if (labels === undefined || Object.keys(labels).length === 0) return [];
      const matches = integrationMatcher({ labels });
      if (integrations.some((one) => matches({ names: [one.name], labels: one.labels }))) return [];
      const pairs = Object.entries(labels).map(pairText);
      const unknown = pairs.find((pair) => !known.has(pair));
      const hint = unknown === undefined ? "" : didYouMean(unknown, [...known]);
      return [
        problemIn(resource, pointer, {
          code: "W_SELECTOR_EMPTY",
          severity: "warning",
          message: `No Integration manifest has ${pairs.length === 1 ? "the label" : "all the labels"} ${pairs.join(", ")}, so the selector has no effect.${hint} Correct the labels of the selector, or add them to metadata.labels of the integrations.`,
        }),
      ];
    }),
  );
}

const pairText = ([key, value]: readonly [string, string]): string => `${key}: ${value}`;

interface SelectorIn {
  readonly selector: IntegrationSelector;
  readonly pointer: Pointer;
}

function selectorsIn(resource: Resource): readonly SelectorIn[] {
  const at = (pointer: string, selector: IntegrationSelector | undefined): readonly SelectorIn[] =>
    selector === undefined ? [] : [{ selector, pointer }];
  if (isSchemaConfig(resource)) return at("/spec/integrations", resource.spec.integrations);
  if (isPolicy(resource)) return at("/spec/when/integration", resource.spec.when?.integration);
  if (!isTag(resource)) return [];
  return (resource.spec.resources ?? []).flatMap((target, index) =>
    "integrations" in target ? at(`/spec/resources/${index}/integrations`, target.integrations) : [],
  );
}

import type { Pointer } from "../model/json/pointer.ts";
import type { Problem } from "../model/problem.ts";
import { type IntegrationSelector, problemIn, type Resource } from "../model/resource.ts";
import { didYouMean } from "../text/suggest.ts";
import { isIntegration, isPolicy, isSchemaConfig, isTag } from "./manifests.ts";
import { integrationMatcher } from "./select.ts";

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

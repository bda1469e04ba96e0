import type { Pointer } from "../../base/model/json/pointer.ts";
import type { Manifest, PolicyExemption, PolicySpec } from "../../base/model/manifest.ts";
import type { IntegrationNames, NodePatterns } from "../../kinds/index.ts";
import { integrationMatcher, matchesEveryName, matchesPath, namesMatcher, nodePatterns, wantedLabels } from "../../kinds/index.ts";

/** A policy with its patterns compiled. */
export interface CompiledPolicy {
  readonly manifest: Manifest<PolicySpec>;
  readonly selects: (integration: IntegrationNames) => boolean;
  /** By name. The depth is undefined if `when` has no level: validate.ts reports that. */
  readonly nodes: NodePatterns;
  /** Only columns with one of these labels. */
  readonly labels: readonly string[] | undefined;
  /** The exemptions for a node, in the order of the manifest. `path` are names from the schema down, empty for an integration. */
  readonly exemptions: (integration: readonly string[], path: readonly string[]) => readonly PolicyExemption[];
}

export function compilePolicy(manifest: Manifest<PolicySpec>): CompiledPolicy {
  const { when = {}, exemptions = [] } = manifest.spec;
  const compiled = exemptions.map((exemption) => ({
    exemption,
    matchesIntegration: exemption.integration === undefined ? () => true : namesMatcher(exemption.integration),
    nodes: nodePatterns([exemption.schema, exemption.table, exemption.column].map((name) => (name === undefined ? undefined : { name }))),
  }));
  return {
    manifest,
    selects: integrationMatcher(when.integration),
    nodes: nodePatterns([when.schema, when.table, when.column]),
    labels: wantedLabels(when.column?.label),
    exemptions: (integration, path) =>
      compiled
        .filter(({ matchesIntegration, nodes }) => matchesIntegration(integration) && matchesPath(nodes, path))
        .map(({ exemption }) => exemption),
  };
}

// An exemption lets data be readable that a policy protects. So it names what it is for, and it ends.

/** Whether it covers what nobody has looked at: every integration and every schema. */
export const isForAll = ({ integration, schema }: PolicyExemption): boolean =>
  [integration, schema].every((name) => name === undefined || matchesEveryName(name));

/** The last day that an exemption can have: the same day a year later. */
export const lastDay = (today: string): string => `${Number(today.slice(0, 4)) + 1}${today.slice(4)}`;

/** Whether an exemption has an effect on a day (YYYY-MM-DD); its last day is `expires`. One that covers everything, or lasts longer than a year, has none. */
export const isValidOn = (exemption: PolicyExemption, day: string): boolean =>
  exemption.expires >= day && exemption.expires <= lastDay(day) && !isForAll(exemption);

/** A violation at a path, and the exemption that lets it. */
export interface Exempt {
  readonly path: Pointer;
  readonly exemption: PolicyExemption;
}

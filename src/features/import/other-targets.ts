import { integrationAddress, isSchemaConfig } from "../../core/kinds/manifests.ts";
import type { Address, Bindings } from "../../core/model/address.ts";
import type { Resource, SchemaConfigSpec } from "../../core/model/resource.ts";
import { targetList } from "../../core/text/lists.ts";

// Targets share manifests, and import sees only one account. It must not write a manifest that changes what another target plans:
// a SchemaConfig that unhashes a column in dev would unhash it in prod too. What another target plans is evaluated offline, from its
// manifests and bindings. Manifests that would change it go to the folder that only this target loads, or are not written.

/** What is known about another target of the project without reading its account. */
export interface OtherTarget {
  readonly name: string;
  /** The manifests that it loads, with its variables. */
  readonly resources: readonly Resource[];
  readonly bindings: Bindings;
}

/** Something that could not be imported, and why. */
export interface ImportFailure {
  readonly address: Address;
  readonly message: string;
}

/** The names of the other targets that a change concerns; empty if import may write it where every target loads it. */
export interface Sharing {
  /** Targets for which the SchemaConfig decides: its selector does, or its integration is bound there. */
  readonly decidesIn: (config: Resource<SchemaConfigSpec>, integration: Address) => readonly string[];
  /** Targets that are already planned: a new manifest would be part of their plan. */
  readonly inUse: readonly string[];
}

export function sharingWith(others: readonly OtherTarget[]): Sharing {
  const loadedBy = (resource: Resource): readonly OtherTarget[] =>
    others.filter(({ resources }) => resources.some((other) => isSameDocument(other, resource)));
  const names = (targets: readonly OtherTarget[]): readonly string[] => targets.map(({ name }) => name);
  return {
    decidesIn: (config, integration) =>
      names(loadedBy(config).filter((target) => selectsLiveNames(config.spec, target) || target.bindings.has(integration))),
    inUse: names(others.filter((target) => target.bindings.size > 0 || target.resources.some((one) => appliesByName(one, target)))),
  };
}

const appliesByName = (resource: Resource, target: OtherTarget): boolean =>
  isSchemaConfig(resource) && selectsLiveNames(resource.spec, target);

/** Whether it selects integrations by their live names, so that bindings do not show where it applies. */
function selectsLiveNames({ integrations, integration }: SchemaConfigSpec, { resources }: OtherTarget): boolean {
  if (integrations !== undefined) return true;
  if (typeof integration !== "string") return false;
  return resources.every(({ address }) => address !== integrationAddress(integration));
}

const isSameDocument = (a: Resource, b: Resource): boolean =>
  a.address === b.address && a.place.file === b.place.file && a.place.document === b.place.document;

/** A manifest that import did not write, because these other targets would plan it too. */
export const notShared = (address: Address, targets: readonly string[]): ImportFailure => ({
  address,
  message: `A new manifest would also be part of the plan of ${targetList(targets)}, so import did not write one.`,
});

/** What to do if import must not write manifests that other targets load too. */
export const ownFolderAdvice = (target: string): string =>
  `Import can write manifests that only target ${target} loads. Name a folder for them in dimsync.yaml, for example \`manifests: [manifests/${target}]\` in target ${target}, and run import again. To write new manifests for all targets, pass --out with a folder that all targets load.`;

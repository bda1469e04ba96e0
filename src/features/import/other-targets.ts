import { integrationAddress, isSchemaConfig } from "../../core/kinds/manifests.ts";
import type { Address, Bindings } from "../../core/model/address.ts";
import type { Resource, SchemaConfigSpec } from "../../core/model/resource.ts";

// Targets share manifests, and import sees only one account. It must not write a manifest that changes what another target plans:
// a SchemaConfig that unhashes a column in dev would unhash it in prod too. What another target plans is evaluated offline, from its
// manifests and bindings. New manifests get metadata.targets, or go to a folder that only this target loads.

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

/** Whether other targets are concerned. */
export interface Sharing {
  /** Whether the SchemaConfig decides in another target: its selector does, or its integration is bound there. */
  readonly decidesElsewhere: (config: Resource<SchemaConfigSpec>, integration: Address) => boolean;
  /** Whether another target is already planned: a new manifest would be part of its plan. */
  readonly isInUse: boolean;
}

export const sharingWith = (others: readonly OtherTarget[]): Sharing => ({
  decidesElsewhere: (config, integration) =>
    loadedBy(config, others).some((target) => selectsLiveNames(config.spec, target) || target.bindings.has(integration)),
  isInUse: others.some((target) => target.bindings.size > 0 || target.resources.some((one) => appliesByName(one, target))),
});

const appliesByName = (resource: Resource, target: OtherTarget): boolean =>
  isSchemaConfig(resource) && selectsLiveNames(resource.spec, target);

/** Whether it selects integrations by their live names, so that bindings do not show where it applies. */
function selectsLiveNames({ integrations, integration }: SchemaConfigSpec, { resources }: OtherTarget): boolean {
  if (integrations !== undefined) return true;
  if (typeof integration !== "string") return false;
  return resources.every(({ address }) => address !== integrationAddress(integration));
}

/** The other targets that load the manifest. */
export const loadedBy = ({ place }: Resource, others: readonly OtherTarget[]): readonly OtherTarget[] =>
  others.filter(({ resources }) => resources.some(({ place: { file, document } }) => file === place.file && document === place.document));

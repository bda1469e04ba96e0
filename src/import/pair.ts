import type { AccountView } from "../kinds/kind.ts";
import { integrations } from "../kinds/lists.ts";
import { isAsset, isIntegration, isTag, kindNames } from "../kinds/manifests.ts";
import type { LiveIntegration, LiveReference, LiveTag } from "../model/live.ts";
import type { AssetSpec, IntegrationSpec, Resource, TagSpec } from "../model/resource.ts";
import { nameAll, slugOf } from "./names.ts";

/** Names of manifests by live id, including manifests that will be written. */
export interface Names {
  readonly integrations: ReadonlyMap<string, string>;
  readonly assets: ReadonlyMap<string, string>;
  readonly tags: ReadonlyMap<string, string>;
}

/** Manifests by live id. */
export interface Pairs {
  readonly integrations: ReadonlyMap<string, Resource<IntegrationSpec>>;
  readonly assets: ReadonlyMap<string, Resource<AssetSpec>>;
  readonly tags: ReadonlyMap<string, Resource<TagSpec>>;
}

/**
 * The manifest of each live object: the one that dimsync identifies with it, else the only one
 * that expects its name, which pairs the objects of a second target with the manifests of the first.
 */
export function pairManifests(account: AccountView, references: readonly LiveReference[]): Pairs {
  const ofIntegrations = identified(isIntegration, account);
  const assets = identified(isAsset, account);
  return {
    integrations: new Map([...ofIntegrations, ...integrationsByName(account, ofIntegrations)]),
    assets: new Map([...assets, ...assetsByName(account, assets, references)]),
    tags: identified(isTag, account),
  };
}

/** A manifest name for each live object: that of its manifest, else a new one that no manifest has. */
export function nameObjects(account: AccountView, references: readonly LiveReference[], tags: readonly LiveTag[], pairs: Pairs): Names {
  const namesOf = (
    kind: string,
    live: readonly { readonly id: string; readonly name: string }[],
    known: ReadonlyMap<string, Resource>,
  ): ReadonlyMap<string, string> => {
    const taken = new Set(account.resources.flatMap((resource) => (resource.kind === kind ? [resource.name] : [])));
    const unnamed = live.filter(({ id }) => !known.has(id));
    return new Map([...nameAll(unnamed, taken, kind.toLowerCase()), ...[...known].map(([id, { name }]) => [id, name] as const)]);
  };
  return {
    integrations: namesOf(kindNames.integration, account.list(integrations).items, pairs.integrations),
    assets: namesOf(kindNames.asset, references, pairs.assets),
    tags: namesOf(kindNames.tag, tags, pairs.tags),
  };
}

function identified<Spec>(
  isOfKind: (resource: Resource) => resource is Resource<Spec>,
  account: AccountView,
): ReadonlyMap<string, Resource<Spec>> {
  const found = new Map<string, Resource<Spec>>();
  for (const resource of account.resources.filter(isOfKind)) {
    const identity = account.identities.get(resource.address);
    if (identity?.state === "found") found.set(identity.id, resource);
  }
  return found;
}

const isBlocked = (account: AccountView, { address }: Resource): boolean => account.identities.get(address)?.state === "blocked";

function integrationsByName(
  account: AccountView,
  known: ReadonlyMap<string, Resource>,
): readonly (readonly [string, Resource<IntegrationSpec>])[] {
  const unpaired = account.resources
    .filter(isIntegration)
    .filter((resource) => isBlocked(account, resource) && resource.spec.create === undefined);
  const live = account.list(integrations).items.filter(({ id }) => !known.has(id));
  return onlyPairs(
    unpaired,
    live,
    ({ name, spec }, { name: liveName }) =>
      spec.expect?.name === liveName || (spec.expect?.name === undefined && name === slugOf(liveName)),
  );
}

function assetsByName(
  account: AccountView,
  known: ReadonlyMap<string, Resource>,
  references: readonly LiveReference[],
): readonly (readonly [string, Resource<AssetSpec>])[] {
  const unpaired = account.resources.filter(isAsset).filter((resource) => isBlocked(account, resource));
  const live = references.filter(({ id }) => !known.has(id));
  return onlyPairs(unpaired, live, ({ spec }, { name, type }) => spec.name === name && (spec.type === undefined || spec.type === type));
}

/** Manifest and live object that fit each other and nothing else. */
function onlyPairs<R extends Resource, L extends { readonly id: string }>(
  resources: readonly R[],
  live: readonly L[],
  fits: (resource: R, live: L) => boolean,
): readonly (readonly [string, R])[] {
  return resources.flatMap((resource) => {
    const [only, second] = live.filter((one) => fits(resource, one));
    if (only === undefined || second !== undefined || resources.some((other) => other !== resource && fits(other, only))) return [];
    return [[only.id, resource] as const];
  });
}

/** The assets that integrations refer to, by id. If an id appears with several names, the last one counts, as for the asset kind. */
export function referencesIn(all: readonly LiveIntegration[]): readonly LiveReference[] {
  const byId = new Map<string, LiveReference>();
  for (const { source, destination } of all)
    for (const reference of [source, destination]) if (reference.id !== "") byId.set(reference.id, reference);
  return [...byId.keys()].sort().flatMap((id) => byId.get(id) ?? []);
}

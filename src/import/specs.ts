import type { AccountView } from "../kinds/kind.ts";
import { assetAddress } from "../kinds/manifests.ts";
import { selectIntegration, selectIntegrations } from "../kinds/select.ts";
import { isUser, userRefFor } from "../kinds/users.ts";
import { byText } from "../model/address.ts";
import type { JsonValue } from "../model/json/json.ts";
import type { LiveIntegration, LiveReference, LiveTag } from "../model/live.ts";
import type { AssetSpec, IntegrationSpec, Resource, TagResource, TagSpec } from "../model/resource.ts";

// The spec that a manifest should have according to the account. Only members that the manifest has are changed: the others were left
// unmanaged on purpose. Each function returns the same object if nothing has to change.

/** Names of manifests by live id, including manifests that will be written. */
export interface Names {
  readonly integrations: ReadonlyMap<string, string>;
  readonly assets: ReadonlyMap<string, string>;
  readonly tags: ReadonlyMap<string, string>;
}

export function assetAfter(spec: AssetSpec, live: LiveReference): AssetSpec {
  const type = spec.type === undefined || live.type === "" ? spec.type : live.type;
  if (spec.name === live.name && spec.type === type) return spec;
  return { ...spec, name: live.name === "" ? spec.name : live.name, ...(type === undefined ? {} : { type }) };
}

export function integrationAfter(spec: IntegrationSpec, live: LiveIntegration, account: AccountView, { assets }: Names): IntegrationSpec {
  const destination = destinationAfter(spec.destination, live, account, assets);
  const match = spec.match === undefined ? undefined : matchAfter(spec.match, live);
  const expect = spec.expect === undefined ? undefined : expectAfter(spec.expect, live);
  if (destination === spec.destination && match === spec.match && expect === spec.expect) return spec;
  return {
    ...spec,
    ...(match === undefined ? {} : { match }),
    ...(destination === undefined ? {} : { destination }),
    ...(expect === undefined ? {} : { expect }),
  };
}

function destinationAfter(
  declared: IntegrationSpec["destination"],
  { destination }: LiveIntegration,
  account: AccountView,
  assets: ReadonlyMap<string, string>,
): IntegrationSpec["destination"] {
  if (declared === undefined) return undefined;
  if ("id" in declared) return declared.id === destination.id ? declared : { id: destination.id };
  const identity = account.identities.get(assetAddress(declared.asset));
  const name = assets.get(destination.id);
  if ((identity?.state === "found" && identity.id === destination.id) || name === declared.asset) return declared;
  return name === undefined ? { id: destination.id } : { asset: name };
}

type Match = NonNullable<IntegrationSpec["match"]>;

function matchAfter(match: Match, live: LiveIntegration): Match {
  const values: Match = { name: live.name, sourceName: live.source.name, sourceType: live.source.type, destinationId: live.destination.id };
  return sameMembers(match, values);
}

type Expect = NonNullable<IntegrationSpec["expect"]>;

function expectAfter(expect: Expect, live: LiveIntegration): Expect {
  const { source, destination, ...rest } = expect;
  const sourceAfter = source === undefined ? undefined : sameMembers(source, live.source);
  const destinationAfterwards = destination === undefined ? undefined : sameMembers(destination, live.destination);
  const values = { name: live.name, ...(live.paused === undefined ? {} : { paused: live.paused }) };
  const restAfter = sameMembers(rest, values);
  if (sourceAfter === source && destinationAfterwards === destination && restAfter === rest) return expect;
  return {
    ...restAfter,
    ...(sourceAfter === undefined ? {} : { source: sourceAfter }),
    ...(destinationAfterwards === undefined ? {} : { destination: destinationAfterwards }),
  };
}

/** The declared members with their live values; the same object if they are equal. */
function sameMembers<T extends object>(declared: T, live: T): T {
  const keys = Object.keys(declared) as (keyof T)[];
  const differing = keys.filter((key) => live[key] !== undefined && live[key] !== declared[key]);
  return differing.length === 0 ? declared : { ...declared, ...Object.fromEntries(differing.map((key) => [key, live[key]])) };
}

export function tagAfter(resource: Resource<TagSpec>, live: LiveTag, account: AccountView, names: Names): TagSpec {
  const { spec } = resource;
  const isIgnored = (path: string): boolean => account.ignored(resource.address, path);
  const description =
    spec.description === undefined || live.description === undefined || isIgnored("/description") ? spec.description : live.description;
  const isOwner =
    spec.owner === undefined || isIgnored("/owner") || live.owner === undefined || isUser(live.owner, spec.owner, account.users);
  const owner = isOwner ? spec.owner : userRefFor(live.owner, account.users);
  const resources = spec.resources === undefined ? undefined : resourcesAfter(spec.resources, live, account, names);
  const name = live.name === "" || isIgnored("/name") ? spec.name : live.name;
  if (name === spec.name && description === spec.description && owner === spec.owner && resources === spec.resources) return spec;
  const { owner: _owner, ...rest } = spec;
  return {
    ...rest,
    name,
    ...(description === undefined ? {} : { description }),
    // A manifest cannot declare that a tag has no owner, so the owner becomes unmanaged.
    ...(owner === undefined ? {} : { owner }),
    ...(resources === undefined ? {} : { resources }),
  };
}

function resourcesAfter(declared: readonly TagResource[], live: LiveTag, account: AccountView, names: Names): readonly TagResource[] {
  const related = new Set((live.taggedResources ?? []).map(({ id }) => id));
  // Selectors stay: without one, its other integrations would lose the tag.
  const kept = declared.filter((target) => "integrations" in target || idsOf(target, account, names).every((id) => related.has(id)));
  const covered = new Set(declared.flatMap((target) => idsOf(target, account, names)));
  const { entries } = tagResources(
    { ...live, taggedResources: [...related].filter((id) => !covered.has(id)).map((id) => ({ id })) },
    names,
    account,
  );
  return kept.length === declared.length && entries.length === 0 ? declared : [...kept, ...(entries as readonly TagResource[])];
}

/** Ids that the tag is attached to, that no entry covers and whose type is unknown. */
export function untypedOf({ spec }: Resource<TagSpec>, tag: LiveTag, names: Names, account: AccountView): readonly string[] {
  const covered = new Set((spec.resources ?? []).flatMap((target) => idsOf(target, account, names)));
  return tagResources(tag, names, account).untyped.filter((id) => !covered.has(id));
}

function idsOf(target: TagResource, account: AccountView, names: Names): readonly string[] {
  if ("dataAsset" in target) return [target.dataAsset.id];
  if ("monitor" in target) return [target.monitor.id];
  if ("asset" in target) {
    const identity = account.identities.get(assetAddress(target.asset));
    const named = [...names.assets].find(([, name]) => name === target.asset)?.[0];
    return identity?.state === "found" ? [identity.id] : named === undefined ? [] : [named];
  }
  const selected =
    "integration" in target ? [selectIntegration(target.integration, account)] : selectIntegrations(target.integrations, account);
  const found = selected.flatMap((one) => (one.state === "found" ? [one.id] : []));
  if (found.length > 0 || "integrations" in target || typeof target.integration !== "string") return found;
  return [...names.integrations].flatMap(([id, name]) => (name === target.integration ? [id] : []));
}

/** The entries for the resources of a tag: integrations and assets by name. `untyped`: ids whose type is unknown. */
export function tagResources(
  tag: LiveTag,
  names: Names,
  { integrations }: Pick<AccountView, "integrations">,
): { readonly entries: readonly JsonValue[]; readonly untyped: readonly string[] } {
  const ids = [...new Set((tag.taggedResources ?? []).map(({ id }) => id))].sort(byText);
  const entries: { readonly key: string; readonly entry: JsonValue }[] = [];
  const untyped: string[] = [];
  for (const id of ids) {
    const integration = names.integrations.get(id);
    const asset = names.assets.get(id);
    if (integration !== undefined) entries.push({ key: `1 ${integration}`, entry: { integration } });
    else if (integrations.some((live) => live.id === id)) entries.push({ key: `2 ${id}`, entry: { integration: { id } } });
    else if (asset !== undefined) entries.push({ key: `3 ${asset}`, entry: { asset } });
    else untyped.push(id);
  }
  return { entries: entries.sort((a, b) => byText(a.key, b.key)).map(({ entry }) => entry), untyped };
}

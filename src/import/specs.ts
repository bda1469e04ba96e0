import type { AccountView } from "../kinds/kind.ts";
import { selectIntegration, selectIntegrations } from "../kinds/select.ts";
import { isUser } from "../kinds/users.ts";
import { byText, toAddress } from "../model/address.ts";
import type { JsonValue } from "../model/json.ts";
import type { LiveIntegration, LiveReference, LiveTag, LiveUser } from "../model/live.ts";
import type { AssetSpec, IntegrationSpec, Resource, TagResource, TagSpec, UserRef } from "../model/resource.ts";

// What a manifest's spec becomes where the account differs from it. Only members that the manifest has are changed: what a person left out was left
// to others. Each function returns the same object where there is nothing to change.

/** Names of manifests by live id, those included that are about to be written. */
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

export function integrationAfter(spec: IntegrationSpec, live: LiveIntegration, world: AccountView, { assets }: Names): IntegrationSpec {
  const destination = destinationAfter(spec.destination, live, world, assets);
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
  world: AccountView,
  assets: ReadonlyMap<string, string>,
): IntegrationSpec["destination"] {
  if (declared === undefined) return undefined;
  if ("id" in declared) return declared.id === destination.id ? declared : { id: destination.id };
  const identity = world.identities.get(toAddress("Asset", declared.asset));
  const name = assets.get(destination.id);
  if ((identity?.state === "found" && identity.id === destination.id) || name === declared.asset) return declared;
  return name === undefined ? { id: destination.id } : { asset: name };
}

type Match = NonNullable<IntegrationSpec["match"]>;

function matchAfter(match: Match, live: LiveIntegration): Match {
  const shown: Match = { name: live.name, sourceName: live.source.name, sourceType: live.source.type, destinationId: live.destination.id };
  return sameMembers(match, shown);
}

type Expect = NonNullable<IntegrationSpec["expect"]>;

function expectAfter(expect: Expect, live: LiveIntegration): Expect {
  const { source, destination, ...rest } = expect;
  const sourceAfter = source === undefined ? undefined : sameMembers(source, live.source);
  const destinationAfterwards = destination === undefined ? undefined : sameMembers(destination, live.destination);
  const shown = { name: live.name, ...(live.paused === undefined ? {} : { paused: live.paused }) };
  const restAfter = sameMembers(rest, shown);
  if (sourceAfter === source && destinationAfterwards === destination && restAfter === rest) return expect;
  return {
    ...restAfter,
    ...(sourceAfter === undefined ? {} : { source: sourceAfter }),
    ...(destinationAfterwards === undefined ? {} : { destination: destinationAfterwards }),
  };
}

/** The declared members with the values that are shown; the same object where they have them. */
function sameMembers<T extends object>(declared: T, shown: T): T {
  const keys = Object.keys(declared) as (keyof T)[];
  const differing = keys.filter((key) => shown[key] !== undefined && shown[key] !== declared[key]);
  return differing.length === 0 ? declared : { ...declared, ...Object.fromEntries(differing.map((key) => [key, shown[key]])) };
}

export function tagAfter(resource: Resource<TagSpec>, live: LiveTag, world: AccountView, names: Names): TagSpec {
  const { spec } = resource;
  const left = (path: string): boolean => world.ignored(resource.address, path);
  const description =
    spec.description === undefined || live.description === undefined || left("/description") ? spec.description : live.description;
  const isOwner = spec.owner === undefined || left("/owner") || live.owner === undefined || isUser(live.owner, spec.owner, world.users);
  const owner = isOwner ? spec.owner : userRefFor(live.owner, world.users);
  const resources = spec.resources === undefined ? undefined : resourcesAfter(spec.resources, live, world, names);
  const name = live.name === "" || left("/name") ? spec.name : live.name;
  if (name === spec.name && description === spec.description && owner === spec.owner && resources === spec.resources) return spec;
  const { owner: _owner, ...rest } = spec;
  return {
    ...rest,
    name,
    ...(description === undefined ? {} : { description }),
    // No manifest can say that a tag has no owner: it is left to others, as a first import leaves it.
    ...(owner === undefined ? {} : { owner }),
    ...(resources === undefined ? {} : { resources }),
  };
}

function resourcesAfter(declared: readonly TagResource[], live: LiveTag, world: AccountView, names: Names): readonly TagResource[] {
  const related = new Set((live.taggedResources ?? []).map(({ id }) => id));
  // Selectors stay whatever they select: taking one out would end what it says of others.
  const kept = declared.filter((target) => "integrations" in target || idsOf(target, world, names).every((id) => related.has(id)));
  const covered = new Set(declared.flatMap((target) => idsOf(target, world, names)));
  const { entries } = tagResources(
    { ...live, taggedResources: [...related].filter((id) => !covered.has(id)).map((id) => ({ id })) },
    names,
    world,
  );
  return kept.length === declared.length && entries.length === 0 ? declared : [...kept, ...(entries as readonly TagResource[])];
}

/** Ids that the tag is attached to, that no entry names and that nothing tells the type of. */
export function untypedOf({ spec }: Resource<TagSpec>, tag: LiveTag, names: Names, world: AccountView): readonly string[] {
  const covered = new Set((spec.resources ?? []).flatMap((target) => idsOf(target, world, names)));
  return tagResources(tag, names, world).untyped.filter((id) => !covered.has(id));
}

function idsOf(target: TagResource, world: AccountView, names: Names): readonly string[] {
  if ("dataAsset" in target) return [target.dataAsset.id];
  if ("monitor" in target) return [target.monitor.id];
  if ("asset" in target) {
    const identity = world.identities.get(toAddress("Asset", target.asset));
    const named = [...names.assets].find(([, name]) => name === target.asset)?.[0];
    return identity?.state === "found" ? [identity.id] : named === undefined ? [] : [named];
  }
  const selected =
    "integration" in target ? [selectIntegration(target.integration, world)] : selectIntegrations(target.integrations, world);
  const found = selected.flatMap((one) => (one.state === "found" ? [one.id] : []));
  if (found.length > 0 || "integrations" in target || typeof target.integration !== "string") return found;
  return [...names.integrations].flatMap(([id, name]) => (name === target.integration ? [id] : []));
}

/** The entries for what a tag is attached to: integrations and assets by name; `untyped` are ids of which nothing tells what they are. */
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

/** A person as a manifest names one: by e-mail where exactly one user has the text as id, e-mail or name; else the text. Undefined for no text. */
export function userRefFor(text: string | undefined, users: readonly LiveUser[]): UserRef | undefined {
  if (text === undefined || text === "") return undefined;
  const named = users.filter(({ id, email, name }) => id === text || name === text || email.toLowerCase() === text.toLowerCase());
  const emails = new Set(named.map(({ email }) => email));
  const [user] = named;
  if (user === undefined || emails.size > 1 || user.email === "") return text;
  const person: UserRef = { user: user.email };
  return isUser(text, person, users) ? person : text;
}

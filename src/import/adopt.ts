import type { AccountView } from "../kinds/kind.ts";
import { type Address, byText, toAddress } from "../model/address.ts";
import type { Binding } from "../model/binding.ts";
import type { LiveIntegration, LiveReference, LiveTag } from "../model/live.ts";
import type { AssetSpec, IntegrationSpec, Resource, TagSpec } from "../model/resource.ts";
import { assetText, type DocumentText, integrationText, tagText } from "./document-text.ts";
import { nameAll, slugOf } from "./names.ts";
import { assetAfter, integrationAfter, type Names, tagAfter, tagResources, untypedOf, userRefFor } from "./specs.ts";

// Which manifest stands for which live object, and what is to be written about those that have none. Pure: what was read goes in, documents,
// changed specs and bindings come out. Schemas come later, an integration at a time (adopt-schemas.ts).

export interface AdoptionInput {
  /** The project's manifests, what they mean in this account, and the account's lists; tags with what they tag. */
  readonly world: AccountView;
  readonly tags: readonly LiveTag[];
  /** Manifests that have an id in another target: they say what holds for both, so they are bound here and not changed. */
  readonly boundElsewhere: ReadonlySet<Address>;
  /** Whether a person asked for it; assets come along with the integrations that refer to them. */
  readonly isWanted: (address: Address) => boolean;
  /** The SchemaConfig that decides for a live integration now. */
  readonly configOf: (id: string) => Address | undefined;
}

/** A manifest whose spec is to become another one. */
export interface ChangedSpec {
  readonly resource: Resource;
  readonly spec: unknown;
  /** Of a tag: ids that the document should mention at least in a comment, since nothing tells what they are. */
  readonly untyped: readonly string[];
}

export interface NewDocument extends DocumentText {
  /** Name of the integration in whose file it belongs; absent: the file of its kind. */
  readonly integration?: string;
}

export interface Adoption {
  /** Manifests of what was asked for, those included that are to be written, without the SchemaConfigs. */
  readonly addresses: readonly Address[];
  /** Integrations to go on with, in the order of their manifest names. */
  readonly integrations: readonly { readonly live: LiveIntegration; readonly name: string; readonly isNew: boolean }[];
  readonly documents: readonly NewDocument[];
  readonly changed: readonly ChangedSpec[];
  readonly bindings: ReadonlyMap<Address, Binding>;
  /** What a person should know, a sentence each. */
  readonly notices: readonly string[];
}

export function adopt(input: AdoptionInput): Adoption {
  const { world, tags, isWanted } = input;
  const references = referencesIn(world.integrations);
  const known = {
    Integration: manifestsById("Integration", world),
    Asset: manifestsById("Asset", world),
    Tag: manifestsById("Tag", world),
  };
  for (const [id, resource] of counterparts(world, known.Integration)) known.Integration.set(id, resource);
  for (const [id, resource] of assetCounterparts(world, known.Asset, references)) known.Asset.set(id, resource);
  const names: Names = {
    integrations: withNames("Integration", world.integrations, known.Integration, world),
    assets: withNames("Asset", references, known.Asset, world),
    tags: withNames("Tag", tags, known.Tag, world),
  };

  const integrations = world.integrations
    .map((live) => ({ live, name: names.integrations.get(live.id) ?? live.id, isNew: !known.Integration.has(live.id) }))
    .filter(({ live, name }) =>
      // Every one is asked for, so that all addresses have been seen.
      [toAddress("Integration", name), input.configOf(live.id) ?? toAddress("SchemaConfig", name)].map(isWanted).includes(true),
    )
    .sort((a, b) => byText(a.name, b.name));
  const carried = new Set(integrations.flatMap(({ live }) => [live.source.id, live.destination.id]));
  const assets = references.filter(({ id }) => isWanted(toAddress("Asset", names.assets.get(id) ?? "")) || carried.has(id));
  const wantedTags = tags.filter(({ id }) => isWanted(toAddress("Tag", names.tags.get(id) ?? "")));
  const willBe = (
    ids: ReadonlyMap<string, string>,
    manifests: ReadonlyMap<string, Resource>,
    live: readonly { readonly id: string; readonly name: string }[],
  ) => {
    const now = new Set(live.flatMap(({ id, name }) => (name === "" ? [] : [id])));
    return new Map([...ids].filter(([id]) => manifests.has(id) || now.has(id)));
  };
  const written: Names = {
    integrations: willBe(
      names.integrations,
      known.Integration,
      integrations.map(({ live }) => ({ id: live.id, name: "integration" })),
    ),
    assets: willBe(names.assets, known.Asset, assets),
    tags: names.tags,
  };

  const documents: NewDocument[] = [];
  const changed: ChangedSpec[] = [];
  const notices: string[] = [];
  const bindings = new Map<Address, Binding>();
  const addresses: Address[] = [];
  const bind = (address: Address, id: string, record: Omit<Binding, "id"> = {}): void => {
    addresses.push(address);
    if (world.bindings.get(address)?.id !== id) bindings.set(address, { id, ...record });
  };
  const change = (resource: Resource, spec: unknown, untyped: readonly string[] = []): void => {
    if (spec === resource.spec && untyped.length === 0) return;
    if (input.boundElsewhere.has(resource.address)) {
      // Ids in comments say nothing of another account.
      if (spec === resource.spec) return;
      notices.push(`${resource.address} stands for an object of another target too, so it was not changed to fit this one.`);
    } else changed.push({ resource, spec, untyped });
  };

  for (const reference of assets) {
    const name = names.assets.get(reference.id) ?? "";
    const resource = known.Asset.get(reference.id) as Resource<AssetSpec> | undefined; // the map holds assets only
    if (resource !== undefined) {
      bind(resource.address, reference.id, resource.spec.secretVersion === undefined ? {} : { secretVersion: resource.spec.secretVersion });
      change(resource, assetAfter(resource.spec, reference));
    } else if (reference.name === "") notices.push(`The asset ${reference.id} has no name, so no manifest can stand for it.`);
    else {
      bind(toAddress("Asset", name), reference.id, { secretVersion: 0 });
      const owner = soleOwner(reference, world.integrations);
      const inFile = owner === undefined ? undefined : written.integrations.get(owner.id);
      documents.push({
        ...assetText(name, reference, roleOf(reference, world.integrations)),
        ...(inFile === undefined ? {} : { integration: inFile }),
      });
    }
  }
  for (const { live, name } of integrations) {
    const resource = known.Integration.get(live.id) as Resource<IntegrationSpec> | undefined;
    bind(toAddress("Integration", name), live.id);
    if (resource !== undefined) change(resource, integrationAfter(resource.spec, live, world, written));
    else
      documents.push({
        ...integrationText(name, live, written.assets.get(live.destination.id)),
        integration: name,
      });
  }
  for (const tag of [...wantedTags].sort((a, b) => byText(names.tags.get(a.id) ?? "", names.tags.get(b.id) ?? ""))) {
    const name = names.tags.get(tag.id) ?? "";
    const resource = known.Tag.get(tag.id) as Resource<TagSpec> | undefined;
    if (resource === undefined && tag.name === "") {
      notices.push(`The tag ${tag.id} has no name, so no manifest can stand for it.`);
      continue;
    }
    bind(toAddress("Tag", name), tag.id);
    if (resource !== undefined) change(resource, tagAfter(resource, tag, world, written), untypedOf(resource, tag, written, world));
    else {
      const { entries, untyped } = tagResources(tag, written, world);
      documents.push(tagText(name, tag, userRefFor(tag.owner, world.users), entries, untyped));
    }
  }
  return { addresses, integrations, documents, changed, bindings, notices };
}

/** References as the asset kind sees them: the last one counts where an id is shown with several names. */
function referencesIn(integrations: readonly LiveIntegration[]): readonly LiveReference[] {
  const byId = new Map<string, LiveReference>();
  for (const { source, destination } of integrations)
    for (const reference of [source, destination]) if (reference.id !== "") byId.set(reference.id, reference);
  return [...byId.values()].sort((a, b) => byText(a.id, b.id));
}

function manifestsById(kind: string, world: AccountView): Map<string, Resource> {
  const found = new Map<string, Resource>();
  for (const resource of world.resources) {
    const identity = resource.kind === kind ? world.identities.get(resource.address) : undefined;
    if (identity?.state === "found") found.set(identity.id, resource);
  }
  return found;
}

/** Manifests without an object here, each with the only live integration that has its name: a second target's counterparts. */
function counterparts(world: AccountView, known: ReadonlyMap<string, Resource>): readonly (readonly [string, Resource])[] {
  const free = world.integrations.filter(({ id }) => !known.has(id));
  const open = world.resources.filter(
    (resource): resource is Resource<IntegrationSpec> =>
      resource.kind === "Integration" &&
      world.identities.get(resource.address)?.state === "blocked" &&
      (resource.spec as IntegrationSpec).create === undefined,
  );
  return pairs(
    open,
    free,
    ({ name, spec }, live) => spec.expect?.name === live.name || (spec.expect?.name === undefined && name === slugOf(live.name)),
  );
}

function assetCounterparts(
  world: AccountView,
  known: ReadonlyMap<string, Resource>,
  references: readonly LiveReference[],
): readonly (readonly [string, Resource])[] {
  const open = world.resources.filter(
    (resource): resource is Resource<AssetSpec> => resource.kind === "Asset" && world.identities.get(resource.address)?.state === "blocked",
  );
  const free = references.filter(({ id }) => !known.has(id));
  return pairs(open, free, ({ spec }, live) => spec.name === live.name && (spec.type === undefined || spec.type === live.type));
}

function pairs<R extends Resource, L extends { readonly id: string }>(
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

function withNames(
  kind: string,
  live: readonly { readonly id: string; readonly name: string }[],
  known: ReadonlyMap<string, Resource>,
  world: AccountView,
): ReadonlyMap<string, string> {
  const taken = new Set(world.resources.flatMap((resource) => (resource.kind === kind ? [resource.name] : [])));
  const fresh = nameAll(
    live.filter(({ id }) => !known.has(id)),
    taken,
    kind.toLowerCase(),
  );
  return new Map([...fresh, ...[...known].map(([id, { name }]) => [id, name] as const)]);
}

/** The integration that alone uses the asset, as its source. */
function soleOwner({ id }: LiveReference, integrations: readonly LiveIntegration[]): LiveIntegration | undefined {
  const users = integrations.filter(({ source, destination }) => source.id === id || destination.id === id);
  const [only] = users;
  return users.length === 1 && only?.source.id === id && only.destination.id !== id ? only : undefined;
}

function roleOf({ id }: LiveReference, integrations: readonly LiveIntegration[]): "source" | "destination" | undefined {
  const isSource = integrations.some(({ source }) => source.id === id);
  const isDestination = integrations.some(({ destination }) => destination.id === id);
  return isSource === isDestination ? undefined : isSource ? "source" : "destination";
}

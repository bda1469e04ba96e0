import type { AccountView } from "../kinds/kind.ts";
import { integrations, users } from "../kinds/lists.ts";
import { assetAddress, integrationAddress, schemaConfigAddress, tagAddress } from "../kinds/manifests.ts";
import { userRefFor } from "../kinds/users.ts";
import type { Binding } from "../model/address.ts";
import { type Address, byText } from "../model/address.ts";
import type { JsonValue } from "../model/json/json.ts";
import type { LiveIntegration, LiveReference, LiveTag } from "../model/live.ts";
import type { Resource } from "../model/resource.ts";
import { assetText, type DocumentText, integrationText, tagText } from "./document-text.ts";
import { type ImportFailure, notShared } from "./failure.ts";
import type { Sharing } from "./other-targets.ts";
import { type Names, nameObjects, type Pairs, pairManifests, referencesIn } from "./pair.ts";

// Decides which manifest belongs to which live object, and what to write for objects without one. Objects that have a manifest are
// only bound. Pure: the account goes in; documents and bindings come out. Schemas are adopted later, one integration at
// a time (schemas/adopt-schemas.ts), because the schemas of a large account do not fit in memory together.

export interface AdoptionInput {
  /** With the project's manifests and the objects that they are identified with. */
  readonly account: AccountView;
  /** With what each is attached to. */
  readonly tags: readonly LiveTag[];
  readonly sharing: Sharing;
  /** Whether new manifests may be written; otherwise, objects without one are failures. */
  readonly canCreate: boolean;
  /** Whether the user asked for it. Assets are imported with the integrations that refer to them. */
  readonly isSelected: (address: Address) => boolean;
  /** The SchemaConfig that decides for a live integration now. */
  readonly configOf: (id: string) => Address | undefined;
}

export interface NewDocument extends DocumentText {
  /** Name of the integration in whose file it belongs; absent: the file of its kind. */
  readonly integration?: string;
}

export interface Adoption {
  /** Addresses of all selected manifests, including those to write; no SchemaConfigs. */
  readonly addresses: readonly Address[];
  /** Integrations whose schemas are next, by manifest name. */
  readonly integrations: readonly NamedIntegration[];
  readonly documents: readonly NewDocument[];
  readonly bindings: ReadonlyMap<Address, Binding>;
  /** Sentences for the user. */
  readonly notices: readonly string[];
  readonly failures: readonly ImportFailure[];
  /** Something was not written because other targets would load it too. */
  readonly isLimited: boolean;
}

export interface NamedIntegration {
  readonly live: LiveIntegration;
  /** Of its manifest. */
  readonly name: string;
}

export function adopt(input: AdoptionInput): Adoption {
  const { account, tags } = input;
  const references = referencesIn(account.list(integrations).items);
  const pairs = pairManifests(account, references);
  const names = nameObjects(account, references, tags, pairs);
  const selected = select(input, names, references);
  const draft: Draft = {
    hasNewRelations: false,
    ...{ input, pairs, names, written: namesWritten(names, pairs, input.canCreate ? selected : noneSelected) },
    ...{ addresses: [], documents: [], notices: [], failures: [], bindings: new Map() },
  };
  for (const reference of selected.assets) adoptAsset(draft, reference);
  for (const integration of selected.integrations) adoptIntegration(draft, integration);
  for (const tag of selected.tags) adoptTag(draft, tag);
  if (draft.hasNewRelations && account.taggedBy === undefined) draft.notices.push(noTagger);
  const { addresses, documents, notices, failures, bindings } = draft;
  const named = selected.integrations.filter(({ live }) => input.canCreate || pairs.integrations.has(live.id));
  return { addresses, documents, notices, failures, bindings, integrations: named, isLimited: failures.length > 0 };
}

/** The adoption so far. */
interface Draft {
  readonly input: AdoptionInput;
  readonly pairs: Pairs;
  /** Of all objects. */
  readonly names: Names;
  /** Of the objects that have a manifest afterwards: only these can be referred to by name. */
  readonly written: Names;
  readonly addresses: Address[];
  readonly documents: NewDocument[];
  readonly notices: string[];
  readonly failures: ImportFailure[];
  readonly bindings: Map<Address, Binding>;
  /** Whether a new Tag manifest has resources. */
  hasNewRelations: boolean;
}

/** Import cannot know the user; without one, the next resource that the user adds to a tag is an error. */
const noTagger =
  "Creating a tag relation needs the user who tags. Before you add resources to a tag, set defaults.taggedBy in dimsync.yaml to the e-mail address of a user.";

interface Selected {
  readonly integrations: readonly NamedIntegration[];
  readonly assets: readonly LiveReference[];
  readonly tags: readonly LiveTag[];
}

const noneSelected: Selected = { integrations: [], assets: [], tags: [] };

function select(input: AdoptionInput, names: Names, references: readonly LiveReference[]): Selected {
  const { account, isSelected, configOf } = input;
  const named = account
    .list(integrations)
    .items.map((live): NamedIntegration => ({ live, name: names.integrations.get(live.id) ?? live.id }))
    .filter(({ live, name }) => {
      // Both are asked for, so that every address counts as known.
      const own = isSelected(integrationAddress(name));
      const config = isSelected(configOf(live.id) ?? schemaConfigAddress(name));
      return own || config;
    })
    .sort((a, b) => byText(a.name, b.name));
  const referred = new Set(named.flatMap(({ live }) => [live.source.id, live.destination.id]));
  const nameOf = (tag: LiveTag): string => names.tags.get(tag.id) ?? "";
  return {
    integrations: named,
    assets: references.filter(({ id }) => isSelected(assetAddress(names.assets.get(id) ?? "")) || referred.has(id)),
    tags: input.tags.filter((tag) => isSelected(tagAddress(nameOf(tag)))).sort((a, b) => byText(nameOf(a), nameOf(b))),
  };
}

function namesWritten(names: Names, pairs: Pairs, { integrations, assets }: Selected): Names {
  const written = (
    all: ReadonlyMap<string, string>,
    known: ReadonlyMap<string, Resource>,
    ids: readonly string[],
  ): ReadonlyMap<string, string> => {
    const selected = new Set(ids);
    return new Map([...all].filter(([id]) => known.has(id) || selected.has(id)));
  };
  return {
    integrations: written(
      names.integrations,
      pairs.integrations,
      integrations.map(({ live }) => live.id),
    ),
    assets: written(
      names.assets,
      pairs.assets,
      assets.flatMap(({ id, name }) => (name === "" ? [] : [id])),
    ),
    tags: names.tags,
  };
}

function bind({ input, addresses, bindings }: Draft, address: Address, binding: Binding): void {
  addresses.push(address);
  if (input.account.bindings.get(address)?.id !== binding.id) bindings.set(address, binding);
}

/** Whether a manifest may be written for an object without one; if not, that is a failure. */
function mayCreate({ input, failures }: Draft, address: Address): boolean {
  if (!input.canCreate) failures.push(notShared(address, input.sharing.inUse));
  return input.canCreate;
}

function adoptAsset(draft: Draft, reference: LiveReference): void {
  const { pairs, names, written, input } = draft;
  const resource = pairs.assets.get(reference.id);
  if (resource !== undefined) {
    const { secretVersion } = resource.spec;
    bind(draft, resource.address, { id: reference.id, ...(secretVersion === undefined ? {} : { secretVersion }) });
    return;
  }
  if (reference.name === "") {
    draft.notices.push(`The asset ${reference.id} has no name, so import wrote no manifest for it.`);
    return;
  }
  const name = names.assets.get(reference.id) ?? "";
  if (!mayCreate(draft, assetAddress(name))) return;
  bind(draft, assetAddress(name), { id: reference.id, secretVersion: 0 });
  const owner = soleOwner(reference, input.account.list(integrations).items);
  const integration = owner === undefined ? undefined : written.integrations.get(owner.id);
  draft.documents.push({
    ...assetText(name, reference, roleOf(reference, input.account.list(integrations).items)),
    ...(integration === undefined ? {} : { integration }),
  });
}

function adoptIntegration(draft: Draft, { live, name }: NamedIntegration): void {
  const { pairs, written } = draft;
  const isCovered = pairs.integrations.has(live.id);
  if (!isCovered && !mayCreate(draft, integrationAddress(name))) return;
  bind(draft, integrationAddress(name), { id: live.id });
  if (!isCovered) draft.documents.push({ ...integrationText(name, live, written.assets.get(live.destination.id)), integration: name });
}

function adoptTag(draft: Draft, tag: LiveTag): void {
  const { pairs, names, written, input, notices, documents } = draft;
  const { account } = input;
  const isCovered = pairs.tags.has(tag.id);
  if (!isCovered && tag.name === "") {
    notices.push(`The tag ${tag.id} has no name, so import wrote no manifest for it.`);
    return;
  }
  const name = names.tags.get(tag.id) ?? "";
  if (!isCovered && !mayCreate(draft, tagAddress(name))) return;
  bind(draft, tagAddress(name), { id: tag.id });
  if (isCovered) return;
  const { entries, untyped } = tagResources(tag, written, account);
  draft.hasNewRelations ||= entries.length > 0;
  documents.push(tagText(name, tag, { owner: userRefFor(tag.owner, account.list(users).items), resources: entries, untyped }));
}

/** The integration that alone uses the asset, as its source. */
function soleOwner({ id }: LiveReference, all: readonly LiveIntegration[]): LiveIntegration | undefined {
  const usedBy = all.filter(({ source, destination }) => source.id === id || destination.id === id);
  const [only] = usedBy;
  return usedBy.length === 1 && only?.source.id === id && only.destination.id !== id ? only : undefined;
}

function roleOf({ id }: LiveReference, all: readonly LiveIntegration[]): "source" | "destination" | undefined {
  const isSource = all.some(({ source }) => source.id === id);
  const isDestination = all.some(({ destination }) => destination.id === id);
  return isSource === isDestination ? undefined : isSource ? "source" : "destination";
}

/** The entries for the resources of a tag: integrations and assets by name. `untyped`: ids whose type is unknown. */
function tagResources(
  tag: LiveTag,
  names: Names,
  { list }: Pick<AccountView, "list">,
): { readonly entries: readonly JsonValue[]; readonly untyped: readonly string[] } {
  const ids = [...new Set((tag.taggedResources ?? []).map(({ id }) => id))].sort(byText);
  const entries: { readonly key: string; readonly entry: JsonValue }[] = [];
  const untyped: string[] = [];
  for (const id of ids) {
    const integration = names.integrations.get(id);
    const asset = names.assets.get(id);
    if (integration !== undefined) entries.push({ key: `1 ${integration}`, entry: { integration } });
    else if (list(integrations).byId.has(id)) entries.push({ key: `2 ${id}`, entry: { integration: { id } } });
    else if (asset !== undefined) entries.push({ key: `3 ${asset}`, entry: { asset } });
    else untyped.push(id);
  }
  return { entries: entries.sort((a, b) => byText(a.key, b.key)).map(({ entry }) => entry), untyped };
}

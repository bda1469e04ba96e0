import { type Address, type Binding, byText, kindOf, toAddress } from "../../core/base/model/address.ts";
import type { JsonObject } from "../../core/base/model/json/json.ts";
import type { LiveIntegration } from "../../core/base/model/live.ts";
import type { Manifest } from "../../core/base/model/manifest.ts";
import { freeName } from "../../core/base/model/maps.ts";
import type { NamedObject } from "../../core/base/model/plan.ts";
import {
  type Account,
  type Identity,
  type ImportedObjects,
  integrations,
  kindNames,
  kinds,
  schemaConfigAddress,
} from "../../core/kinds/index.ts";
import type { StateObject } from "./terraform.ts";
import { type DocumentText, documentText } from "./writer.ts";

// Decides which manifest belongs to which live object, and what to write for objects without one. Objects that have a manifest are
// only bound. Pure: the account goes in; documents and bindings come out. Schemas are adopted later, one integration at
// a time (schemas/import-schemas.ts), because the schemas of a large account do not fit in memory together.

interface AdoptionInput {
  /** With the project's manifests and the objects that they are identified with. The lists have whole objects. */
  readonly account: Account;
  /** Whether the pinned id of a manifest may be that of another account. */
  readonly mayBePinnedElsewhere: (manifest: Manifest) => boolean;
  /** Addresses of manifests of other targets only. */
  readonly taken: ReadonlySet<Address>;
  /** metadata.targets of new manifests. */
  readonly targets: readonly string[] | undefined;
  /** Whether the user asked for it. What a selected object needs is imported with it. */
  readonly isSelected: (address: Address) => boolean;
  /** Objects of a state of Terraform that are in the account, whether or not it shows them. */
  readonly stated: readonly StateObject[];
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
  /** Manifests whose pinned id is that of another account, with the id in this one. */
  readonly pins: readonly (readonly [Manifest, id: string])[];
  /** Sentences for the user. */
  readonly notices: readonly string[];
}

export interface NamedIntegration {
  readonly live: LiveIntegration;
  /** Of its manifest. */
  readonly name: string;
}

/** The live objects of a kind. */
interface Group {
  readonly kind: string;
  readonly imported: ImportedObjects;
  readonly objects: readonly NamedObject[];
  /** Their manifests, by live id. */
  readonly manifests: ReadonlyMap<string, Manifest>;
  /** The names of their manifests, including those that will be written, by live id. */
  readonly names: ReadonlyMap<string, string>;
}

export function adopt(input: AdoptionInput): Adoption {
  const { account } = input;
  const groups = kinds.flatMap(({ name, list, imported }) => {
    if (imported === undefined) return [];
    const shown = imported.objects?.(account) ?? (list ? account.list(list).items : []);
    const ids = new Set(shown.map(({ id }) => id));
    return [groupOf(name, imported, [...shown, ...input.stated.filter(({ kind, id }) => kind === name && !ids.has(id))], input)];
  });
  const chosen = new Set(groups.flatMap((group) => group.objects.filter((live) => isChosen(live, group, input))));
  const needed = new Set(
    groups.flatMap((group) =>
      group.objects
        .filter((live) => chosen.has(live) && skipReason(live, group) === undefined)
        .flatMap((live) => group.imported.needs?.(live) ?? []),
    ),
  );
  const isAdopted = (live: NamedObject): boolean => chosen.has(live) || needed.has(live.id);
  const isWritten = (live: NamedObject, group: Group): boolean =>
    group.manifests.has(live.id) || (isAdopted(live) && skipReason(live, group) === undefined);
  const named = new Map(
    groups.map((group) => [
      group.kind,
      new Map(group.objects.filter((live) => isWritten(live, group)).map(({ id }) => [id, group.names.get(id) ?? ""])),
    ]),
  );
  const nameOf = (kind: string, id: string): string | undefined => named.get(kind)?.get(id);
  const draft: Draft = { input, nameOf, addresses: [], documents: [], notices: new Set(), bindings: new Map(), pins: [] };
  for (const group of groups) {
    const adopted = group.objects.filter(isAdopted).sort((a, b) => byText(group.names.get(a.id) ?? "", group.names.get(b.id) ?? ""));
    for (const live of adopted) adoptObject(draft, group, live);
  }
  const { addresses, documents, notices, bindings, pins } = draft;
  const ofIntegrations = account.list(integrations).items.flatMap((live): readonly NamedIntegration[] => {
    const name = isAdopted(live) ? nameOf(kindNames.integration, live.id) : undefined;
    return name === undefined ? [] : [{ live, name }];
  });
  return {
    addresses,
    documents,
    notices: [...notices],
    bindings,
    pins,
    integrations: ofIntegrations.sort((a, b) => byText(a.name, b.name)),
  };
}

/** The adoption so far. */
interface Draft {
  readonly input: AdoptionInput;
  /** The name of the manifest that an object has afterwards. */
  readonly nameOf: (kind: string, id: string) => string | undefined;
  readonly addresses: Address[];
  readonly documents: NewDocument[];
  readonly notices: Set<string>;
  readonly bindings: Map<Address, Binding>;
  readonly pins: (readonly [Manifest, string])[];
}

function isChosen({ id }: NamedObject, { kind, names }: Group, { isSelected, configOf }: AdoptionInput): boolean {
  const name = names.get(id) ?? "";
  // All are asked for, so that every address counts as known.
  const addresses = [toAddress(kind, name), ...(kind === kindNames.integration ? [configOf(id) ?? schemaConfigAddress(name)] : [])];
  return addresses.map(isSelected).includes(true);
}

/** Why no manifest is written for an object that has none. */
const skipReason = (live: NamedObject, { imported, manifests }: Group): string | undefined =>
  manifests.has(live.id) ? undefined : imported.skips?.(live);

function adoptObject({ input, nameOf, addresses, documents, notices, bindings, pins }: Draft, group: Group, live: NamedObject): void {
  const { kind, imported, manifests, names } = group;
  const { account, targets } = input;
  const manifest = manifests.get(live.id);
  const skipped = skipReason(live, group);
  if (skipped !== undefined) {
    const shown = live.name === "" ? live.id : `"${live.name}" (${live.id})`;
    notices.add(`The ${kind.toLowerCase()} ${shown} ${skipped}, so import wrote no manifest for it.`);
    return;
  }
  const name = names.get(live.id) ?? "";
  const address = toAddress(kind, name);
  addresses.push(address);
  if (account.bindings.get(address)?.id !== live.id) bindings.set(address, { id: live.id, ...imported.record?.(manifest) });
  if (manifest?.id !== undefined && manifest.id !== live.id) pins.push([manifest, live.id]);
  if (manifest !== undefined) return;
  const { body, after = [], integration, notice } = imported.manifest(live, { account, name, nameOf });
  const stated = input.stated.find(({ kind: ofKind, id }) => ofKind === kind && id === live.id)?.specFor(name) ?? {};
  if (notice !== undefined) notices.add(notice);
  const inFileOf = integration === undefined ? undefined : nameOf(kindNames.integration, integration);
  const text = documentText(kind, name, withStated(body, stated), { targets, after: "connection" in stated ? [] : after });
  documents.push({ ...text, ...(inFileOf === undefined ? {} : { integration: inFileOf }) });
}

/** The manifest with what only the state knows. Of settings, the account knows better. */
function withStated({ spec = {}, ...rest }: JsonObject, stated: JsonObject): JsonObject {
  const own = spec as JsonObject; // a spec is a map
  const settings = stated["settings"] === undefined ? {} : { settings: Object.assign({}, stated["settings"], own["settings"]) };
  return { ...rest, spec: { ...own, ...stated, ...settings } };
}

/**
 * The manifest of each object is the one that dimsync identifies with it, else the only one that
 * describes it, which pairs the objects of a second target with the manifests of the first. Others get a name that no manifest has.
 */
function groupOf(
  kind: string,
  imported: ImportedObjects,
  objects: readonly NamedObject[],
  { account, taken, mayBePinnedElsewhere }: AdoptionInput,
): Group {
  const declared = account.manifests.filter((manifest) => manifest.kind === kind);
  const found = declared.flatMap((manifest) => {
    const identity = account.identities.get(manifest.address);
    return identity?.state === "found" ? [[identity.id, manifest] as const] : [];
  });
  const known = new Set(found.map(([id]) => id));
  const isUnpaired = (identity: Identity | undefined, manifest: Manifest): boolean =>
    identity?.state === "blocked" || (identity?.state === "gone" && manifest.id === identity.id && mayBePinnedElsewhere(manifest));
  const unpaired = declared.filter((manifest) => isUnpaired(account.identities.get(manifest.address), manifest));
  const rest = objects.filter(({ id }) => !known.has(id));
  const manifests = new Map([
    ...found,
    ...onlyPairs(unpaired, rest, (one, live) => imported.fits?.(one, live, slugOf(live.name)) === true),
  ]);
  const unnamed = objects.filter(({ id }) => !manifests.has(id));
  const others = [...taken].flatMap((address) => (kindOf(address) === kind ? [address.slice(kind.length + 1)] : []));
  const given = nameAll(unnamed, new Set([...declared.map(({ name }) => name), ...others]), kind.toLowerCase());
  return { kind, imported, objects, manifests, names: new Map([...given, ...[...manifests].map(([id, { name }]) => [id, name] as const)]) };
}

/** Manifest and live object that fit each other and nothing else. */
function onlyPairs(
  manifests: readonly Manifest[],
  live: readonly NamedObject[],
  fits: (manifest: Manifest, live: NamedObject) => boolean,
): readonly (readonly [string, Manifest])[] {
  return manifests.flatMap((manifest) => {
    const [only, second] = live.filter((one) => fits(manifest, one));
    if (only === undefined || second !== undefined || manifests.some((other) => other !== manifest && fits(other, only))) return [];
    return [[only.id, manifest] as const];
  });
}

const maxLength = 60;

/** Names are cut before they are changed, because they can be long: only the beginning is used. */
const readLength = 500;

/** Letters that Unicode does not decompose into one of a-z and a mark. */
const transliterated: Readonly<Record<string, string>> = { ß: "ss", æ: "ae", œ: "oe", ø: "o", đ: "d", ð: "d", ł: "l", þ: "th", ı: "i" };

/** A readable name in [a-z0-9._-] for a live name: `Orders (EU)` -> `orders-eu`. "" if no character is left. */
export function slugOf(text: string): string {
  return text
    .slice(0, readLength)
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll(/[ßæœøđðłþı]/gu, (letter) => transliterated[letter] ?? "")
    .replaceAll(/[^a-z0-9._]+/gu, "-")
    .slice(0, maxLength)
    .replaceAll(/^[-.]+|[-.]+$/gu, "");
}

/**
 * New manifest names, independent of the order of the list: the slug of the live name. If another
 * object or manifest has it too, the slug of the id follows; if that is taken too, a number.
 * `fallback` replaces an empty slug.
 */
export function nameAll(
  live: readonly { readonly id: string; readonly name: string }[],
  taken: ReadonlySet<string>,
  fallback: string,
): ReadonlyMap<string, string> {
  const wanted = new Map<string, number>();
  for (const { name } of live) wanted.set(slugOf(name), (wanted.get(slugOf(name)) ?? 0) + 1);
  const used = new Set(taken);
  const nameById = new Map<string, string>();
  const give = (id: string, candidate: string): void => {
    const name = freeName(candidate, (one) => used.has(one));
    used.add(name);
    nameById.set(id, name);
  };
  const sorted = [...live].sort((a, b) => byText(a.id, b.id));
  const isPlain = ({ name }: { readonly name: string }): boolean =>
    slugOf(name) !== "" && wanted.get(slugOf(name)) === 1 && !taken.has(slugOf(name));
  for (const one of sorted) if (isPlain(one)) give(one.id, slugOf(one.name));
  for (const one of sorted)
    if (!isPlain(one)) give(one.id, [slugOf(one.name) || fallback, slugOf(one.id)].filter((part) => part !== "").join("-"));
  return nameById;
}

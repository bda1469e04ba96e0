import { type Address, byText, kindOf, objectAddress, schemasKind } from "../base/model/address.ts";
import { own } from "../base/model/json/json.ts";
import type { LiveIntegration } from "../base/model/live.ts";
import type { IntegrationRef, IntegrationSelector, IntegrationSpec, Manifest, SchemaConfigSpec } from "../base/model/manifest.ts";
import { getOrAdd, once } from "../base/model/maps.ts";
import type { Code } from "../base/model/titles.ts";
import { didYouMean } from "../base/text/suggest.ts";
import { candidateTexts } from "./identity.ts";
import type { Account, Identity } from "./kind.ts";
import { integrations } from "./lists.ts";
import { accountLists, indexed } from "./lookup.ts";
import { integrationAddress, isIntegration, isSchemaConfig, kindNames, schemasAddress } from "./manifests.ts";
import type { LabelScope } from "./patterns/labels.ts";
import { namesMatcher } from "./patterns/names.ts";

/** An integration that a manifest refers to, as far as it is known. `name` is that of its manifest, else its name in addresses. */
export type Selected =
  | { readonly state: "found"; readonly id: string; readonly name: string }
  | { readonly state: "waits"; readonly on: Address; readonly name: string }
  | { readonly state: "unresolved"; readonly code: Code; readonly message: string; readonly name: string };

/** The identity of a manifest, for the manifests that refer to it. */
export function fromIdentity(address: Address, name: string, identity: Identity | undefined): Selected {
  switch (identity?.state) {
    case "found":
      return { state: "found", id: identity.id, name };
    case "absent":
    case "waits":
      return { state: "waits", on: address, name };
    case "gone":
      return unresolved(name, "E_DEPENDENCY", `${address} is bound to ${identity.id}, which is no longer in the account.`);
    case "blocked":
      return unresolved(name, "E_DEPENDENCY", `It needs ${address}, which is blocked (${identity.code}).`);
    default:
      return unresolved(name, "E_DEPENDENCY", `It needs ${address}, which is not part of this run.`);
  }
}

const unresolved = (name: string, code: Code, message: string): Selected => ({ state: "unresolved", code, message, name });

const integrationManifests = (account: Account): readonly Manifest<IntegrationSpec>[] => account.manifests.filter(isIntegration);

/** The name of a live integration in addresses. */
export const nameInAddresses = (id: string, { naming }: Account): string => naming.ofLive.get(id) ?? id;

/** The address of the schemas of a selected integration. */
export const schemasOf = (selected: Selected, { naming }: Account): Address => {
  const { name } = selected;
  if (selected.state === "found") return schemasAddress(naming.ofLive.get(selected.id) ?? name);
  return schemasAddress(naming.ofManifest.get(integrationAddress(name)) ?? name);
};

/** The account in which the manifests have these live objects. */
export function withIdentities(account: Account, identities: Account["identities"]): Account {
  const identified = indexed({ ...account, identities });
  const named = { ...identified, naming: namingOf(identified) };
  return { ...named, addressesOf: addressesIn(named) };
}

/**
 * How integrations are called in the addresses of their schemas: by the name of the manifest, else the live name, else the id. No two
 * have the same name, because outcomes would be lost. A live name belongs to the integration that had it alone when the run began; a
 * manifest whose name is the live name of another integration is called by its address. So what a manifest is called does not depend on
 * other manifests, nor what an integration without one is called on any.
 */
function namingOf(account: Account): Account["naming"] {
  const before = account.list(integrations).items.filter(({ id }) => !account.fresh.has(id));
  const owners = new Map<string, string | undefined>();
  for (const { id, name } of before) owners.set(name, owners.has(name) ? undefined : id);
  for (const { id } of before) owners.set(id, id);
  const isUsable = (name: string): boolean => name !== "" && !name.startsWith(integrationAddress(""));
  const ofLive = new Map(
    account.list(integrations).items.map(({ id, name }) => [id, isUsable(name) && owners.get(name) === id ? name : id]),
  );
  const ofManifest = new Map<Address, string>();
  const manifests = new Map<string, Manifest<IntegrationSpec>>();
  for (const manifest of integrationManifests(account)) {
    const identity = account.identities.get(manifest.address);
    const id = identity?.state === "found" ? identity.id : undefined;
    const owner = owners.get(manifest.name);
    const name = owner === undefined || owner === id ? manifest.name : manifest.address;
    ofManifest.set(manifest.address, name);
    if (id === undefined) continue;
    ofLive.set(id, name);
    manifests.set(id, manifest);
  }
  return { ofLive, ofManifest, manifests };
}

function addressesIn(account: Account): Account["addressesOf"] {
  const configs = once(() => selectingConfigs(account));
  return (address) =>
    kindOf(address) === schemasKind ? [address, ...(configs().get(address) ?? [])] : [...new Set([address, objectAddress(address)])];
}

/** The SchemaConfigs that select each integration, by the address of its schemas. */
function selectingConfigs(account: Account): ReadonlyMap<Address, readonly Address[]> {
  const found = new Map<Address, Address[]>();
  for (const config of account.manifests.filter(isSchemaConfig))
    for (const selected of selectedBy(config.spec, account)) getOrAdd(found, schemasOf(selected, account), () => []).push(config.address);
  return found;
}

/** Whether a SchemaConfig selects the integration whose schemas have this address. */
export const isConfigured = (schemas: Address, { addressesOf }: Account): boolean => addressesOf(schemas).length > 1;

/** The integrations that a SchemaConfig selects. */
export function selectedBy({ integration, integrations: selector }: SchemaConfigSpec, account: Account): readonly Selected[] {
  if (integration !== undefined) return [selectIntegration(integration, account)];
  return selector === undefined ? [] : selectIntegrations(selector, account);
}

/** The sentence for a name that neither a manifest nor an integration has. */
export const unknownIntegration = (name: string, known: readonly string[]): string =>
  `No manifest and no integration in the account has the name ${JSON.stringify(name)}.${didYouMean(name, known)}`;

/** One integration: by live id, by the name of a manifest, else by the only live integration of that name. */
export function selectIntegration(ref: IntegrationRef, account: Account): Selected {
  if (typeof ref === "object") return { state: "found", id: ref.id, name: nameInAddresses(ref.id, account) };
  const address = integrationAddress(ref);
  if (account.lookup.manifests.has(address)) return fromIdentity(address, ref, account.identities.get(address));
  const named = account.list(integrations).byName.get(ref) ?? [];
  const [first] = named;
  if (first === undefined) {
    const known = [...integrationManifests(account).map(({ name }) => name), ...account.list(integrations).items.map(({ name }) => name)];
    return unresolved(ref, "E_UNKNOWN_REFERENCE", unknownIntegration(ref, known));
  }
  if (named.length > 1) {
    return unresolved(
      ref,
      "E_AMBIGUOUS",
      `${named.length} integrations have the name ${JSON.stringify(ref)}: ${candidateTexts(named)}. Give the id of the right one instead: { id: ID }.`,
    );
  }
  return { state: "found", id: first.id, name: nameInAddresses(first.id, account) };
}

/** The live integrations, sorted by their names in addresses. */
export const integrationsByName = (account: Account): readonly LiveIntegration[] =>
  account.list(integrations).items.toSorted((a, b) => byText(nameInAddresses(a.id, account), nameInAddresses(b.id, account)));

/** What selectors match of an integration. */
export interface IntegrationNames {
  /** The name of its manifest, then its live name; if it has neither, its id. */
  readonly names: readonly string[];
  /** The labels of its manifest. */
  readonly labels: Readonly<Record<string, string>>;
}

/** Whether a selector matches an integration: `names` match any of its names and `!pattern` none, and it has all `labels`. */
export function integrationMatcher(selector: IntegrationSelector = {}): (integration: IntegrationNames) => boolean {
  const matchesNames = selector.names === undefined ? () => true : namesMatcher(selector.names);
  const wanted = Object.entries(selector.labels ?? {});
  return ({ names, labels }) => matchesNames(names) && wanted.every(([key, value]) => own(labels, key) === value);
}

/** The names and labels of live integrations, by id. */
export function integrationNames(account: Account): (liveId: string) => IntegrationNames {
  return (liveId) => {
    const manifest = account.naming.manifests.get(liveId);
    const known = [manifest?.name, account.list(integrations).byId.get(liveId)?.name].filter((name) => name !== undefined);
    return { names: known.length === 0 ? [liveId] : [...new Set(known)], labels: manifest?.labels ?? {} };
  };
}

/** The account in which each integration has the name that its manifest asks for, as it has when somebody has renamed it. */
export function withDeclaredNames(account: Account): Account {
  const { items } = account.list(integrations);
  const named = items.map((one) => ({ ...one, name: account.naming.manifests.get(one.id)?.spec.settings?.name ?? one.name }));
  if (named.every(({ name }, index) => name === items[index]?.name)) return account;
  const own = accountLists(new Map([[integrations.name, named]]));
  const list: Account["list"] = (of) => (of.name === integrations.name ? own(of) : account.list(of));
  return withIdentities({ ...account, list }, account.identities);
}

/** The account with other integrations, by id. Those with labels have a manifest. */
export function withIntegrations(account: Account, made: ReadonlyMap<string, IntegrationNames>): Account {
  const all = [...made].map(
    ([
      id,
      {
        names: [name = id],
        labels,
      },
    ]) => ({ id, name, labels }),
  );
  const none = { createdAt: undefined, paused: undefined, source: undefined, destination: undefined };
  const live = all.map(({ id, name }): LiveIntegration => ({ id, name, ...none }));
  const manifests = all.flatMap(({ id, name, labels }): readonly Manifest<IntegrationSpec>[] => {
    const place = { file: "", document: 0, pointer: "" };
    const manifest = {
      kind: kindNames.integration,
      name,
      address: `${integrationAddress(name)} ${id}`,
      id,
      labels,
      lifecycle: { create: "never" } as const,
      spec: {},
      place,
    };
    return Object.keys(labels).length === 0 ? [] : [manifest];
  });
  return withIdentities(
    {
      ...account,
      list: accountLists(new Map([[integrations.name, live]])),
      manifests: [...account.manifests.filter((one) => !isIntegration(one)), ...manifests],
      bindings: new Map(),
      earlierCreates: [],
      goneIds: new Set<string>(),
      fresh: new Set<string>(),
    },
    new Map(manifests.map(({ address, id = "" }) => [address, { state: "found", id, by: "pin" } as const])),
  );
}

/** The scope of an integration's labels; undefined if the project has no Classification. */
export function labelScopes(account: Account): ((liveId: string) => LabelScope) | undefined {
  const { columnLabels } = account;
  if (columnLabels === undefined) return undefined;
  const namesOf = integrationNames(account);
  return (liveId) =>
    columnLabels({
      names: namesOf(liveId).names,
      destinationSchema: account.naming.manifests.get(liveId)?.spec.create?.destinationSchema,
    });
}

/** Every integration that a selector matches, in the order of their labels in addresses. Labels match manifests only. */
export function selectIntegrations(selector: IntegrationSelector, account: Account): readonly Selected[] {
  const matches = integrationMatcher(selector);
  const declared = new Set<string>();
  const found = new Map<string, Selected>();
  for (const manifest of integrationManifests(account)) {
    const identity = account.identities.get(manifest.address);
    const liveName = identity?.state === "found" ? account.list(integrations).byId.get(identity.id)?.name : undefined;
    if (identity?.state === "found") declared.add(identity.id);
    if (matches({ names: liveName === undefined ? [manifest.name] : [manifest.name, liveName], labels: manifest.labels }))
      found.set(identity?.state === "found" ? identity.id : manifest.address, fromIdentity(manifest.address, manifest.name, identity));
  }
  if (selector.names !== undefined && selector.labels === undefined)
    for (const { id, name } of account.list(integrations).items)
      if (!declared.has(id) && matches({ names: [name], labels: {} }))
        found.set(id, { state: "found", id, name: nameInAddresses(id, account) });
  return [...found.values()].sort((a, b) => byText(a.name, b.name));
}

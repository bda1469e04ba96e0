import { type Address, byText } from "../model/address.ts";
import { own } from "../model/json/json.ts";
import type { IntegrationRef, IntegrationSelector, Resource } from "../model/resource.ts";
import { didYouMean } from "../text/suggest.ts";
import type { AccountView, Identity } from "./kind.ts";
import { indexed } from "./lookup.ts";
import { integrationAddress, isIntegration } from "./manifests.ts";
import type { LabelScope } from "./patterns/labels.ts";
import { namesMatcher } from "./patterns/names.ts";

/**
 * An integration that a manifest refers to, as far as it is known. `label` is its name in
 * addresses: manifest name, else live name, else id.
 */
export type Selected =
  | { readonly state: "found"; readonly id: string; readonly label: string }
  | { readonly state: "waits"; readonly on: Address; readonly label: string }
  | { readonly state: "unresolved"; readonly code: string; readonly message: string; readonly label: string };

/** The identity of a manifest, for the manifests that refer to it. */
export function fromIdentity(address: Address, label: string, identity: Identity | undefined): Selected {
  switch (identity?.state) {
    case "found":
      return { state: "found", id: identity.id, label };
    case "absent":
    case "waits":
      return { state: "waits", on: address, label };
    case "gone":
      return unresolved(label, "E_DEPENDENCY", `${address} is bound to ${identity.id}, which is no longer in the account.`);
    case "blocked":
      return unresolved(label, "E_DEPENDENCY", `It needs ${address}, which is blocked (${identity.code}).`);
    default:
      return unresolved(label, "E_DEPENDENCY", `It needs ${address}, which is not part of this run.`);
  }
}

const unresolved = (label: string, code: string, message: string): Selected => ({ state: "unresolved", code, message, label });

const integrationManifests = (account: AccountView): readonly Resource[] => account.resources.filter(isIntegration);

/**
 * The name of a live integration in addresses: the name of its manifest, else its own, else its id.
 * A name that several integrations have is not used, because their items would share an address and
 * outcomes would be lost. An empty name is not used either.
 */
export const labelOf = (id: string, { labels }: AccountView): string => labels.get(id) ?? id;

/** The account in which the manifests have these live objects. */
export function withIdentities(account: AccountView, identities: AccountView["identities"]): AccountView {
  const identified = indexed({ ...account, identities });
  return { ...identified, labels: labelsIn(identified) };
}

function labelsIn(account: AccountView): AccountView["labels"] {
  const manifests = integrationManifests(account);
  const taken = new Set(["", ...manifests.map(({ name }) => name), ...account.integrations.map(({ id }) => id)]);
  const twice = new Set<string>();
  for (const { name } of account.integrations) {
    if (taken.has(name)) twice.add(name);
    taken.add(name);
  }
  const labels = new Map(account.integrations.map(({ id, name }) => [id, twice.has(name) ? id : name]));
  for (const { address, name } of manifests) {
    const identity = account.identities.get(address);
    if (identity?.state === "found") labels.set(identity.id, name);
  }
  return labels;
}

/** One integration: by live id, by the name of a manifest, else by the only live integration of that name. */
export function selectIntegration(ref: IntegrationRef, account: AccountView): Selected {
  if (typeof ref === "object") return { state: "found", id: ref.id, label: labelOf(ref.id, account) };
  const address = integrationAddress(ref);
  if (account.lookup.resources.has(address)) return fromIdentity(address, ref, account.identities.get(address));
  const named = account.lookup.integrationsByName.get(ref) ?? [];
  const [first] = named;
  if (first === undefined) {
    const known = [...integrationManifests(account).map(({ name }) => name), ...account.integrations.map(({ name }) => name)];
    const message = `No manifest and no integration in the account has the name ${JSON.stringify(ref)}.${didYouMean(ref, known)}`;
    return unresolved(ref, "E_UNKNOWN_REFERENCE", message);
  }
  if (named.length > 1) {
    const ids = named.map(({ id }) => id).sort(byText);
    return unresolved(
      ref,
      "E_AMBIGUOUS",
      `${named.length} integrations have the name ${JSON.stringify(ref)}: ${ids.join(", ")}. Give the id instead: { id: ${JSON.stringify(ids[0])} }.`,
    );
  }
  return { state: "found", id: first.id, label: labelOf(first.id, account) };
}

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
export function integrationNames(account: AccountView): (liveId: string) => IntegrationNames {
  const liveNames = new Map(account.integrations.map(({ id, name }) => [id, name]));
  const manifests = new Map<string, Resource>();
  for (const resource of integrationManifests(account)) {
    const identity = account.identities.get(resource.address);
    if (identity?.state === "found") manifests.set(identity.id, resource);
  }
  return (liveId) => {
    const manifest = manifests.get(liveId);
    const known = [manifest?.name, liveNames.get(liveId)].filter((name) => name !== undefined);
    return { names: known.length === 0 ? [liveId] : [...new Set(known)], labels: manifest?.labels ?? {} };
  };
}

/** The scope of an integration's labels; undefined if the project has no Classification. */
export function labelScopes(account: AccountView): ((liveId: string) => LabelScope) | undefined {
  const { columnLabels } = account;
  if (columnLabels === undefined) return undefined;
  const namesOf = integrationNames(account);
  const schemas = new Map<string, string | undefined>();
  for (const resource of account.resources.filter(isIntegration)) {
    const identity = account.identities.get(resource.address);
    if (identity?.state === "found") schemas.set(identity.id, resource.spec.create?.destinationSchema);
  }
  return (liveId) => columnLabels({ names: namesOf(liveId).names, destinationSchema: schemas.get(liveId) });
}

/** Every integration that a selector matches, in the order of their labels in addresses. Labels match manifests only. */
export function selectIntegrations(selector: IntegrationSelector, account: AccountView): readonly Selected[] {
  const matches = integrationMatcher(selector);
  const nameById = new Map(account.integrations.map(({ id, name }) => [id, name]));
  const declared = new Set<string>();
  const found = new Map<string, Selected>();
  for (const resource of integrationManifests(account)) {
    const identity = account.identities.get(resource.address);
    const liveName = identity?.state === "found" ? nameById.get(identity.id) : undefined;
    if (identity?.state === "found") declared.add(identity.id);
    if (matches({ names: liveName === undefined ? [resource.name] : [resource.name, liveName], labels: resource.labels }))
      found.set(identity?.state === "found" ? identity.id : resource.address, fromIdentity(resource.address, resource.name, identity));
  }
  if (selector.names !== undefined && selector.labels === undefined)
    for (const { id, name } of account.integrations)
      if (!declared.has(id) && matches({ names: [name], labels: {} })) found.set(id, { state: "found", id, label: labelOf(id, account) });
  return [...found.values()].sort((a, b) => byText(a.label, b.label));
}

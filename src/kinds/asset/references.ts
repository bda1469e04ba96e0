import { byText } from "../../model/address.ts";
import type { LiveIntegration, LiveReference } from "../../model/live.ts";
import type { AssetSpec, IntegrationSpec, Resource } from "../../model/resource.ts";
import type { AccountView } from "../kind.ts";

/** The references by which integrations show assets, each id once, ordered by id. */
export function referencesIn(integrations: readonly LiveIntegration[]): readonly LiveReference[] {
  const byId = new Map<string, LiveReference>();
  for (const { source, destination } of integrations) for (const reference of [source, destination]) byId.set(reference.id, reference);
  return [...byId.values()].sort((a, b) => byText(a.id, b.id));
}

/**
 * Live assets that this manifest may mean although no id is on record: same name and type; or, where an integration's manifest uses the asset
 * as destination, the destination of a live integration with that manifest's source. Creating beside one of them could double it.
 */
export function lookalikes(resource: Resource<AssetSpec>, account: AccountView): readonly LiveReference[] {
  const { name, type } = resource.spec;
  const users = account.resources.filter(({ kind }) => kind === "Integration").map(({ spec }) => spec as IntegrationSpec);
  const sources = users
    .filter(({ destination }) => destination !== undefined && "asset" in destination && destination.asset === resource.name)
    .flatMap(({ create }) => (create === undefined ? [] : [create.sourceConfig]));
  const taken = new Set([...account.bindings.values()].map(({ id }) => id));
  const bySource = account.integrations
    .filter(({ source }) => sources.some((config) => config.name === source.name && config.type === source.type))
    .map(({ destination }) => destination);
  return referencesIn(account.integrations).filter(
    (reference) =>
      !taken.has(reference.id) && ((reference.name === name && reference.type === type) || bySource.some(({ id }) => id === reference.id)),
  );
}

import { byText } from "../../base/model/address.ts";
import type { LiveIntegration, LiveReference } from "../../base/model/live.ts";
import type { AssetSpec, Manifest } from "../../base/model/manifest.ts";
import type { Account } from "../kind.ts";
import { integrations } from "../lists.ts";
import { isIntegration } from "../manifests.ts";

/** The references by which integrations show assets, each id once, ordered by id. */
export function referencesIn(live: readonly LiveIntegration[]): readonly LiveReference[] {
  const byId = new Map<string, LiveReference>();
  for (const { source, destination } of live)
    for (const reference of [source, destination]) if (reference !== undefined && reference.id !== "") byId.set(reference.id, reference);
  return [...byId.values()].sort((a, b) => byText(a.id, b.id));
}

/** Live integrations with the source of a manifest that has this asset as destination. */
export function integrationsOf(manifest: Manifest<AssetSpec>, account: Account): readonly LiveIntegration[] {
  const sources = account.manifests
    .filter(isIntegration)
    .map(({ spec }) => spec)
    .filter(({ destination }) => destination !== undefined && "asset" in destination && destination.asset === manifest.name)
    .flatMap(({ create }) => create?.sourceConfig ?? []);
  return account
    .list(integrations)
    .items.filter(({ source }) => sources.some((config) => config.name === source?.name && config.type === source.type));
}

/**
 * Unbound live assets that may be this one: those with its name and type, and the destinations of
 * live integrations whose manifest has this asset as destination. Creating it could duplicate one
 * of them.
 */
export function lookalikes(manifest: Manifest<AssetSpec>, account: Account): readonly LiveReference[] {
  const { name, type } = manifest.spec;
  const usedBy = new Set(integrationsOf(manifest, account).map(({ destination }) => destination?.id));
  const bound = new Set([...account.bindings.values()].map(({ id }) => id));
  return referencesIn(account.list(integrations).items).filter(
    (reference) => !bound.has(reference.id) && ((reference.name === name && reference.type === type) || usedBy.has(reference.id)),
  );
}

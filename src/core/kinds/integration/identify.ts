import { byText } from "../../base/model/address.ts";
import { defined } from "../../base/model/json/json.ts";
import type { LiveIntegration } from "../../base/model/live.ts";
import type { IntegrationSpec, Manifest } from "../../base/model/manifest.ts";
import { bindCommand } from "../../base/text/shell.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import { blocked, boundIdentity, candidateTexts, mayHaveName, otherwise, recordedFor, renamedFrom } from "../identity.ts";
import type { Account, Identity } from "../kind.ts";
import { integrations } from "../lists.ts";
import { assetAddress } from "../manifests.ts";
import { fromIdentity, type Selected } from "../select.ts";

/** The destination of the manifest; undefined if it has none. */
export function destinationOf({ spec: { destination } }: Manifest<IntegrationSpec>, account: Account): Selected | undefined {
  if (destination === undefined) return undefined;
  if ("id" in destination) return { state: "found", id: destination.id, name: destination.id };
  const address = assetAddress(destination.asset);
  return fromIdentity(address, address, account.identities.get(address));
}

/** The existing source of the manifest; undefined if it has none. */
export function sourceOf({ spec: { create } }: Manifest<IntegrationSpec>, account: Account): Selected | undefined {
  const sourceId = create?.sourceId;
  if (sourceId === undefined) return undefined;
  if (typeof sourceId === "string") return { state: "found", id: sourceId, name: sourceId };
  const address = assetAddress(sourceId.asset);
  return fromIdentity(address, address, account.identities.get(address));
}

/** Fields by which a live integration is looked up; all that are present must match. */
type LookupKey = NonNullable<IntegrationSpec["match"]> & { readonly sourceId?: string };

export function matchesKey(live: LiveIntegration, key: LookupKey): boolean {
  return (
    (key.name === undefined || live.name === key.name) &&
    (key.sourceName === undefined || live.source?.name === key.sourceName) &&
    (key.sourceType === undefined || live.source?.type === key.sourceType) &&
    (key.sourceId === undefined || live.source?.id === key.sourceId) &&
    (key.destinationId === undefined || live.destination?.id === key.destinationId)
  );
}

/** The live integrations that match, in the order of the list. */
function integrationsWith(key: LookupKey, { list, lookup }: Account): readonly LiveIntegration[] {
  const { name, sourceName } = key;
  const candidates =
    name !== undefined
      ? (list(integrations).byName.get(name) ?? [])
      : sourceName !== undefined
        ? (lookup.integrationsBySource.get(sourceName) ?? [])
        : list(integrations).items;
  return candidates.filter((live) => matchesKey(live, key));
}

/**
 * Pin, binding, then a lookup: by `match`, else by source and destination, else by name, else by what
 * is recorded for a manifest that was renamed. Several matches are ambiguous; list order never decides.
 */
export function identify(manifest: Manifest<IntegrationSpec>, account: Account): Identity {
  const bound = boundIdentity(manifest, account);
  if (bound !== undefined) return unlessOther(manifest, bound, account);
  const key = lookupKey(manifest, account);
  if ("state" in key) return key;
  // Several integrations can have the same source and destination. What tells them apart, the schema at the destination, is in no list.
  const found = key.sourceId === undefined ? integrationsWith(key, account) : [];
  const [first] = found;
  if (found.length > 1) return managedElsewhere(manifest, found, { key, account }) ?? ambiguous(found, key);
  const one = first ?? renamed(manifest, account);
  if (one !== undefined) return { state: "found", id: one.id, by: "look-up" };
  const { create } = manifest.spec;
  if (create === undefined || manifest.lifecycle.create === "never") return missing(manifest, key, account);
  const destination = destinationOf(manifest, account);
  if (destination === undefined) {
    const message = "It does not exist, and creating it needs a destination. Add spec.destination: { asset: NAME } or { id: ID }.";
    return blocked("E_MISSING_KEY", message);
  }
  if (destination.state !== "found") return whileMissing(destination);
  const source = sourceKey(manifest, account);
  if ("state" in source) return source;
  const alike = [
    ...integrationsWith({ ...source, destinationId: destination.id }, account),
    ...draftsOf(manifest, { ...source, destinationId: destination.id }, account),
  ];
  // An existing source can have several integrations with this destination. Those of other manifests are not meant.
  const similar = source.sourceId === undefined ? alike : alike.filter(({ id }) => recordedFor(manifest, id, account).length === 0);
  return similar.length === 0 ? { state: "absent" } : existingIntegration(manifest, similar, key);
}

/** Of a pinned or bound integration: blocked if `match` does not select it any more, because another one may be meant. What is not shown does not differ. */
function unlessOther(manifest: Manifest<IntegrationSpec>, bound: Identity, account: Account): Identity {
  const { match } = manifest.spec;
  const live = bound.state === "found" ? account.list(integrations).byId.get(bound.id) : undefined;
  if (match === undefined || live === undefined || account.fresh.has(live.id)) return bound;
  const { name, source, destination } = live;
  const shown = defined({
    name: name || undefined,
    sourceName: source?.name || undefined,
    sourceType: source?.type || undefined,
    destinationId: destination?.id || undefined,
  });
  if (Object.entries(shown).every(([field, value]) => [undefined, value].includes(match[field as keyof typeof match]))) return bound;
  const found = integrationsWith(match, account);
  const [first] = found;
  const seen = found.length === 0 ? "no live integration" : candidateTexts(found);
  const isPinned = manifest.id !== undefined;
  const how = isPinned ? "pin it with metadata.id" : "bind it";
  const is = `${JSON.stringify(name)} (${live.id})`;
  const message = `It is ${isPinned ? "pinned" : "bound"} to ${is}, which spec.match does not select: ${describe(match)} is ${seen}. Nothing is sent for either. ${found.length === 0 ? `If ${is} is meant, correct spec.match.` : `If ${first?.id} is meant, ${how}. Otherwise, correct spec.match.`}`;
  const command = first !== undefined && found.length === 1 && !isPinned ? bindCommand(manifest.address, first.id) : undefined;
  return { state: "blocked", code: "E_OTHER_OBJECT", message, id: live.id, ...defined({ command }) };
}

/**
 * Integrations of which the service shows only a part of the source or the destination, such as drafts, and that may be what a create would make:
 * nothing that is shown differs, and if the source is not shown, the name does not either.
 */
const draftsOf = (manifest: Manifest, key: LookupKey, account: Account): readonly LiveIntegration[] =>
  account.list(integrations).items.filter(({ id, name, source, destination, isInCreation }) => {
    const shown = [
      [source?.name, key.sourceName],
      [source?.type, key.sourceType],
      [source?.id, key.sourceId],
      [destination?.id, key.destinationId],
    ].filter(([, wanted]) => wanted !== undefined);
    const isHalf = shown.some(([live]) => !live);
    if (!isHalf || isInCreation === true || account.lookup.recorded.has(id)) return false;
    const hasSource = key.sourceId === undefined ? source?.name : source?.id;
    return shown.every(([live, wanted]) => !live || live === wanted) && (!!hasSource || mayHaveName(manifest, name));
  });

function lookupKey(manifest: Manifest<IntegrationSpec>, account: Account): LookupKey | Identity {
  const { match, create } = manifest.spec;
  if (match !== undefined) return match;
  if (create === undefined) return { name: manifest.name };
  const source = sourceKey(manifest, account);
  if ("state" in source) return source;
  const destination = destinationOf(manifest, account);
  if (destination === undefined) return source;
  return destination.state === "found" ? { ...source, destinationId: destination.id } : whileMissing(destination);
}

/** The source that a create would have: a new one, by its name and type, or an existing one, by its id. */
function sourceKey(manifest: Manifest<IntegrationSpec>, account: Account): LookupKey | Identity {
  const config = manifest.spec.create?.sourceConfig;
  if (config !== undefined) return { sourceName: config.name, sourceType: config.type };
  const source = sourceOf(manifest, account);
  if (source === undefined) return {};
  return source.state === "found" ? { sourceId: source.id } : whileMissing(source);
}

/** Of a manifest whose source or destination has no id yet. */
const whileMissing = (end: Exclude<Selected, { readonly state: "found" }>): Identity =>
  end.state === "waits" ? { state: "waits", on: [end.on] } : blocked(end.code, end.message);

function describe(key: LookupKey): string {
  return Object.entries(key)
    .map(([field, value]) => `${field} ${JSON.stringify(value)}`)
    .join(", ");
}

function ambiguous(found: readonly LiveIntegration[], key: LookupKey): Identity {
  const message = `${found.length} live integrations have ${describe(key)}: ${candidateTexts(found)}. Pin the right one with metadata.id, or narrow spec.match.`;
  return blocked("E_AMBIGUOUS", message);
}

/**
 * Each of those that match belongs to another manifest: import has written one for each. Then none is left for this one, which is
 * not ambiguous.
 */
function managedElsewhere(
  manifest: Manifest<IntegrationSpec>,
  found: readonly LiveIntegration[],
  { key, account }: { readonly key: LookupKey; readonly account: Account },
): Identity | undefined {
  const owners = found.map(({ id }) => recordedFor(manifest, id, account)[0]);
  if (owners.includes(undefined)) return undefined;
  const seen = found.map(({ id }, index) => `${id} (${owners[index]})`).sort(byText);
  const [which, it] =
    found.length === 1
      ? [`The live integration with ${describe(key)} belongs to another manifest`, "it"]
      : [`The ${found.length} live integrations with ${describe(key)} belong to other manifests`, "one of them"];
  const message = `${which}: ${seen.join(", ")}. If ${it} is meant, pin it with metadata.id and remove the other manifest.`;
  return blocked("E_INTEGRATION_MISSING", message);
}

/** What the manifest expects. It is evidence only, not a look-up. Undefined if it expects no name. */
function expectedKey({ spec }: Manifest<IntegrationSpec>): LookupKey | undefined {
  const { source } = spec.expect ?? {};
  const name = spec.settings?.name ?? spec.expect?.name;
  return name === undefined ? undefined : { name, ...defined({ sourceName: source?.name, sourceType: source?.type }) };
}

/**
 * The one integration that is as the manifest expects, and whose records name a manifest that does not exist any more. Import
 * writes manifests without `match`, so nothing else would find it after the manifest gets another name.
 */
function renamed(manifest: Manifest<IntegrationSpec>, account: Account): LiveIntegration | undefined {
  const key = expectedKey(manifest);
  const [first, ...others] = key === undefined ? [] : integrationsWith(key, account);
  if (first === undefined || others.length > 0 || renamedFrom(manifest, first.id, account) === undefined) return undefined;
  return recordedFor(manifest, first.id, account).length === 0 ? first : undefined;
}

/** `match` finds nothing, but an integration has the source and destination that would be created: after a lost binding, a create would duplicate it. */
function existingIntegration(manifest: Manifest<IntegrationSpec>, similar: readonly LiveIntegration[], key: LookupKey): Identity {
  const [first] = [...similar].sort((a, b) => byText(a.id, b.id));
  const seen = similar
    .map(({ id, name }) => `${id} (${JSON.stringify(name)})`)
    .sort(byText)
    .join(", ");
  if (key.sourceId !== undefined) {
    const message = `${seen} has the source and the destination that would be created, and dimsync can't see the schema at the destination, so a second one is not created. If it is the same, bind it. Otherwise, run dimsync import, which writes a manifest for it.`;
    return blocked("E_UNBOUND", message, first && bindCommand(manifest.address, first.id));
  }
  const isCertain = similar.every(({ source, destination }) => source?.name && destination?.id);
  const wayOn = isCertain
    ? "If it is the same, bind it. Otherwise, correct spec.match."
    : otherwise(manifest.address, "complete or remove it");
  const message = `No live integration has ${describe(key)}, but ${seen} ${isCertain ? "has" : "may have"} the source and destination that would be created, so a second one is not created. ${wayOn}`;
  return blocked("E_UNBOUND", message, first && bindCommand(manifest.address, first.id));
}

function missing(manifest: Manifest<IntegrationSpec>, key: LookupKey, account: Account): Identity {
  const wanted = expectedKey(manifest);
  const expected = wanted === undefined ? [] : integrationsWith(wanted, account);
  const taken = wanted === undefined || expected.length === 0 ? undefined : managedElsewhere(manifest, expected, { key: wanted, account });
  if (taken !== undefined) return taken;
  const code = "E_INTEGRATION_MISSING";
  const [only] = expected;
  if (only !== undefined && expected.length === 1) {
    const message = `No live integration has ${describe(key)}, but ${only.id} (${JSON.stringify(only.name)}) is as spec.expect requires. If it is the same, bind it; dimsync import does that for all that it can tell apart.`;
    return blocked(code, message, bindCommand(manifest.address, only.id));
  }
  const similar = key.name === undefined ? "" : didYouMean(key.name, account.list(integrations).byName.keys());
  const [why, instead] =
    manifest.spec.create === undefined
      ? ["its manifest has no spec.create", "add spec.create"]
      : ["lifecycle.create is never", "set lifecycle.create: ifMissing"];
  return blocked(
    code,
    `No live integration has ${describe(key)}, and ${why}.${similar} Create it in the service, correct spec.match, or ${instead}.`,
  );
}

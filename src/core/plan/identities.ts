import type { Address, Bindings } from "../base/model/address.ts";
import { isFailedCreation, type ServiceError } from "../base/model/errors.ts";
import { defined } from "../base/model/json/json.ts";
import { type Manifest, problemIn } from "../base/model/manifest.ts";
import type { Problem } from "../base/model/problem.ts";
import type { UnreadEntry } from "../base/model/service.ts";
import type { Code } from "../base/model/titles.ts";
import { enumerate } from "../base/text/describe.ts";
import { grouped } from "../base/text/lists.ts";
import { bindCommand } from "../base/text/shell.ts";
import { type Account, blocked, conflicts, entryText, type Identity, kindNamed, kinds, mayHaveName, otherwise } from "../kinds/index.ts";
import { creationFailed } from "./reads/lists-and-ids.ts";

type Identities = ReadonlyMap<Address, Identity>;

/** The live object of every manifest. `failedIds`: those that could not be read. */
export function identify(
  account: Account,
  failedIds: ReadonlyMap<string, ServiceError>,
): { readonly identities: Identities; readonly problems: readonly Problem[] } {
  const { identities, problems } = identifyAll(account, failedIds);
  return { identities: withoutExchanged(withoutShared(identities, account), account), problems };
}

/** The id that a manifest is pinned or bound to. */
export const knownId = ({ id, address }: Manifest, bindings: Bindings): string | undefined => id ?? bindings.get(address)?.id;

/** Identifies all manifests, in the order of the registry: a kind may use the identities of those before it. */
function identifyAll(
  account: Account,
  failedIds: ReadonlyMap<string, ServiceError>,
): { readonly identities: Identities; readonly problems: readonly Problem[] } {
  const identities = new Map<Address, Identity>();
  const view = { ...account, identities };
  const { unreadLists, unreadEntries, bindings } = account;
  const comparable = new Set(account.comparable);
  const problems: Problem[] = [];
  for (const kind of kinds)
    for (const manifest of account.manifests) {
      if (manifest.kind !== kind.name || kind.identify === undefined) continue;
      const isUnread = kind.lists(manifest, account).some((list) => unreadLists.has(list));
      const id = knownId(manifest, bindings) ?? "";
      const failure = failedIds.get(id);
      const identity =
        failure !== undefined && isFailedCreation(failure)
          ? blocked("E_CREATION_FAILED", creationFailed(id, failure))
          : isUnread || failure !== undefined
            ? unreadIdentity
            : unlessUnread(manifest, kind.identify(manifest, view), kind.list === undefined ? [] : (unreadEntries.get(kind.list) ?? []));
      identities.set(manifest.address, identity);
      if (identity.state === "blocked" && identity.code === "E_AMBIGUOUS" && comparable.has(manifest))
        problems.push(problemIn(manifest, "/metadata/name", { code: identity.code, message: `${manifest.address}: ${identity.message}` }));
    }
  return { identities, problems };
}

const unreadIdentity: Identity = {
  state: "blocked",
  code: "E_READ_FAILED",
  message: "A read that it needs failed, so it is not known whether it exists.",
};

/** What looks missing may be an entry that could not be read. */
function unlessUnread(manifest: Manifest, identity: Identity, entries: readonly UnreadEntry[]): Identity {
  const isMissing = identity.state === "absent" || (identity.state === "blocked" && missingCodes.has(identity.code));
  const first = isMissing ? entries.find(({ name }) => mayHaveName(manifest, name)) : undefined;
  if (first === undefined) return identity;
  const { address } = manifest;
  return blocked(
    "E_READ_FAILED",
    `It may be an entry of the list that could not be read: ${entryText(first)}. ${otherwise(address, "fix or remove that entry")}`,
    bindCommand(address, first.id),
  );
}

const missingCodes: ReadonlySet<Code> = new Set(["E_INTEGRATION_MISSING", "E_TAG_MISSING"]);

/**
 * Manifests that cannot be distinguished are blocked, and nothing else: two with one live object would overwrite each other in every run. One that
 * is pinned or bound to it stays.
 */
function withoutShared(identities: Identities, { manifests, bindings }: Account): Identities {
  const found = manifests.flatMap((manifest) => {
    const identity = identities.get(manifest.address);
    return identity?.state === "found" ? [{ manifest, ...identity }] : [];
  });
  const isLookedUp = ({ by }: (typeof found)[number]): boolean => by !== "pin" && by !== "binding";
  const shared = grouped(found, ({ manifest, id }) => `${manifest.kind} ${id}`).flatMap((all) => {
    if (all.length === 1) return [];
    const names = enumerate(
      all.map(({ manifest }) => manifest.address),
      "and",
    );
    const message = `${names} refer to the same object, ${all[0].id}. Keep one of them, or pin other ids with metadata.id.`;
    const lookedUp = all.filter(isLookedUp);
    return (lookedUp.length > 0 && all.length - lookedUp.length === 1 ? lookedUp : all).map(
      ({ manifest }) => [manifest.address, message] as const,
    );
  });
  const alike = conflicts(manifests, bindings).flatMap(({ pair, message }) =>
    pair.filter((manifest) => knownId(manifest, bindings) === undefined).map(({ address }) => [address, message] as const),
  );
  const idOf = new Map(found.map(({ manifest, id }) => [manifest.address, id]));
  const refused = [...alike, ...shared].map(
    ([address, message]) => [address, { ...blocked("E_SHARED_IDENTITY", message), ...defined({ id: idOf.get(address) }) }] as const,
  );
  return refused.length === 0 ? identities : new Map([...identities, ...refused]);
}

/** The digests of what names an object, in what is recorded of it. */
const nameDigests = ["/name", "/create/sourceConfig/name"];

/**
 * Manifests that exchanged their names, in pairs or in a chain, are blocked: each but the last says now what was sent for another one, which says
 * something else itself. Sent, it would turn each object into another.
 */
function withoutExchanged(identities: Identities, { manifests, bindings }: Account): Identities {
  const changed = manifests.flatMap((manifest) => {
    const { address, kind, id: pin } = manifest;
    const binding = bindings.get(address);
    if (binding?.sent === undefined || (pin !== undefined && pin !== binding.id)) return [];
    const now = kindNamed(kind)?.baseline?.(manifest).sent;
    const name = nameDigests.find((path) => now?.[path] !== undefined && binding.sent?.[path] !== undefined) ?? "";
    const [was, is] = [binding.sent[name], now?.[name]];
    return was === is ? [] : [{ address, id: binding.id, was: `${kind} ${was}`, is: `${kind} ${is}` }];
  });
  const whoWas = new Map(changed.map((one) => [one.was, one]));
  const whoIs = new Map(changed.map((one) => [one.is, one]));
  const exchanged = changed.flatMap(({ address, id, was, is }) => {
    const [next, before] = [whoWas.get(is), whoIs.get(was)];
    const said =
      next !== undefined
        ? `its manifest says now what was sent for ${next.address} (${next.id})`
        : before && `what was sent for it is now in the manifest of ${before.address} (${before.id})`;
    if (said === undefined) return [];
    const way = next === undefined ? "correct the others first." : "bind each to its object:";
    const message = `It is bound to ${id}, and ${said}: manifests exchanged their names. Nothing is sent for them. Give the manifests their earlier names again; if this is meant, ${way}`;
    return [[address, { ...blocked("E_OTHER_OBJECT", message, next && bindCommand(address, next.id)), id }] as const];
  });
  return exchanged.length === 0 ? identities : new Map([...identities, ...exchanged]);
}

import { type Address, type Binding, type Bindings, byText, kindOf } from "../../base/model/address.ts";
import { canonicalJson, defined, isObject, type JsonObject, type JsonValue } from "../../base/model/json/json.ts";
import { atPointer, fromPointer, leavesOf, type Pointer } from "../../base/model/json/pointer.ts";
import type { LiveIntegration, LiveReference } from "../../base/model/live.ts";
import { type AssetSpec, type Manifest, problemIn } from "../../base/model/manifest.ts";
import { repeated } from "../../base/model/maps.ts";
import type { ReadyStep } from "../../base/model/plan.ts";
import type { Problem } from "../../base/model/problem.ts";
import { bindCommand, resolveCommand } from "../../base/text/shell.ts";
import { unknownValue } from "../hints.ts";
import { blocked, boundIdentity, entryText, goneObject, otherwise, unitPerManifest, unreadable } from "../identity.ts";
import type { Account, Conflict, Identity, ImportedObjects, Kind, Unit } from "../kind.ts";
import { assetFields, assets, integrations, type LiveAsset, users } from "../lists.ts";
import { kindNames } from "../manifests.ts";
import { tagReferences } from "../tags.ts";
import { needsUsers } from "../users.ts";
import { createdAsset, hasFlatConnection, sameShown, shownOf, updatedAsset, writeBlocks } from "./diff.ts";
import { naturalKeyOf, recordedName, recordOfSpec } from "./record.ts";
import { integrationsOf, lookalikes, referencesIn } from "./references.ts";

/** The service returns only the name and type of an asset, so the connection is a commented stub that is never sent. */
const imported: ImportedObjects<LiveReference> = {
  objects: (account) => referencesIn(account.list(integrations).items).filter(({ id }) => id !== ""),
  skips: ({ name }) => (name === "" ? "has no name" : undefined),
  fits: ({ spec }, { name, type }) => {
    const asset = spec as AssetSpec;
    return asset.name === name && (asset.type === undefined || asset.type === type);
  },
  record: (manifest) => {
    const { secretVersion } = manifest === undefined ? { secretVersion: 0 } : (manifest.spec as AssetSpec);
    return secretVersion === undefined ? {} : { secretVersion };
  },
  manifest(live, { account, name }) {
    const all = account.list(integrations).items;
    const connectionType = roleOf(live, all);
    const owner = soleOwner(live, all);
    const variable = `${name.replaceAll(/[^a-z0-9]+/gu, "_").toUpperCase()}_PASSWORD`;
    return {
      body: {
        lifecycle: { create: "never" },
        spec: {
          name: live.name,
          ...(live.type === "" ? {} : { type: live.type }),
          ...(connectionType === undefined ? {} : { connectionType }),
          secretVersion: 0,
        },
      },
      after: [
        "  # The service never returns a connection, and none is sent while secretVersion is 0. To manage it, write it here and raise secretVersion:",
        "  # connection:",
        `  #   password: { $secret: { env: ${variable} } }`,
      ],
      ...(owner === undefined ? {} : { integration: owner.id }),
    };
  },
};

/** The integration that alone uses the asset, as its source. */
function soleOwner({ id }: LiveReference, all: readonly LiveIntegration[]): LiveIntegration | undefined {
  const usedBy = all.filter(({ source, destination }) => source?.id === id || destination?.id === id);
  const [only] = usedBy;
  return usedBy.length === 1 && only?.source?.id === id && only.destination?.id !== id ? only : undefined;
}

function roleOf({ id }: LiveReference, all: readonly LiveIntegration[]): "source" | "destination" | undefined {
  const isSource = all.some(({ source }) => source?.id === id);
  const isDestination = all.some(({ destination }) => destination?.id === id);
  return isSource === isDestination ? undefined : isSource ? "source" : "destination";
}

// The interface has no call that reads an asset (docs/service-interface.md). What is live is known from the references of
// integrations and from a request beyond it (docs/writes.md); what else was sent, only from the digests in the bindings.

interface AssetUnit extends Unit {
  readonly manifest: Manifest<AssetSpec>;
}

/** An asset as far as the service shows it. */
interface AssetLive {
  /** Those of all assets, by integrations. */
  readonly references: readonly LiveReference[];
  readonly asset: LiveAsset | undefined;
  /** Whether the service, which has the request, does not have the asset. */
  readonly isGone?: boolean;
}

/** Compared with GET of the asset if the service has that, else with the references by which integrations show assets. */
export const asset: Kind<AssetUnit, AssetLive> = {
  name: kindNames.asset,
  references: ({ spec }) => tagReferences((spec as AssetSpec).tags, "/spec/tags"),
  hints: (manifest) => assetHints(manifest as Manifest<AssetSpec>),
  lists: ({ spec }) => ((spec as AssetSpec).owners?.some(needsUsers) === true ? [integrations, users] : [integrations]),
  imported,
  // A lost binding must not create it a second time.
  defaultCreate: "never",
  isPlainKey: (path, key) => key === "secretVersion" && path.length === 1 && path[0] === "spec",

  liveView: {
    one: { read: (id, reads) => reads.one(assets, id), call: assets.extended },
    columns: ["id", ...Object.keys(assetFields)],
  },

  identify: (manifest, account) => identify(manifest as Manifest<AssetSpec>, account),

  conflicts: sameAssets,

  baseline: ({ spec }) => recordOfSpec(spec as AssetSpec),

  units: (manifests, account) => unitPerManifest(manifests, account),

  observe: async ({ liveId = "" }, reads) => {
    const found = await reads.one(assets, liveId);
    const isGone = found === undefined && reads.offers?.("GET /v1/assets/{id}") === true;
    if (isGone && referencesIn((await reads.list(integrations)).items).some(({ id }) => id === liveId))
      throw unreadable(assets.name, liveId, "An integration");
    return { references: [], asset: found, isGone };
  },

  diff({ address, manifest, liveId }, live, account) {
    const identity = account.identities.get(address);
    if (identity?.state === "gone") return goneObject(manifest, identity.id);
    if (liveId === undefined) return createdAsset(manifest, account);
    if (live?.isGone === true) return goneObject(manifest, liveId);
    return updatedAsset(manifest, { id: liveId, asset: live?.asset }, account);
  },

  find: async (key, reads) =>
    referencesIn((await reads.list(integrations)).items)
      .filter(({ name, type }) => name === key["name"] && type === key["type"])
      .map(({ id }) => id),

  update: {
    async reread({ liveId = "" }, reads) {
      const asset = await reads.one(assets, liveId);
      return { asset, references: asset === undefined ? referencesIn((await reads.list(integrations)).items) : [] };
    },

    document(item, live) {
      const name = live?.references.find(({ id }) => id === item.liveId)?.name;
      return asWritten(item, defined({ name, ...shownOf(live?.asset) }));
    },

    isShown: ({ asset }) => asset !== undefined,
  },
};

/** A shown document with the values of the item's request where it shows them in another form, or a cleared one not at all. */
function asWritten({ requests }: ReadyStep, shown: JsonObject): JsonObject {
  const isShown = (path: Pointer, value: JsonValue): boolean => {
    const live = atPointer(shown, path) as JsonValue | undefined; // a JSON document
    return live === undefined ? Array.isArray(value) && value.length === 0 : sameShown(path, value, live);
  };
  const leaves = requests.flatMap(({ body }) => leavesOf(body)).filter(({ path, value }) => isShown(path, value));
  return leaves.reduce((document, { path, value }) => withValue(document, fromPointer(path), value), shown);
}

function withValue(document: JsonObject, [name = "", ...below]: readonly string[], value: JsonValue): JsonObject {
  const inner = document[name];
  return { ...document, [name]: below.length === 0 ? value : withValue(isObject(inner) ? (inner as JsonObject) : {}, below, value) };
}

const assetHints = (manifest: Manifest<AssetSpec>): readonly Problem[] => [
  ...unknownValue(manifest, "/spec/authMethod"),
  ...flatConnection(manifest),
];

/** A PATCH with a flat connection of such an asset is answered with 200, and nothing is written: a rotated password would never arrive. */
function flatConnection(manifest: Manifest<AssetSpec>): readonly Problem[] {
  if (manifest.spec.connectionType !== "multi_purpose" || !hasFlatConnection(manifest.spec)) return [];
  const message = `The service accepts a flat connection for a new multi_purpose asset, but answers a later change of it with 200 and writes nothing. ${writeBlocks}`;
  return [problemIn(manifest, "/spec/connection", { code: "W_FLAT_CONNECTION", severity: "warning", message })];
}

/** Pin, binding, then what the records and the integrations show about assets with the same name and type. */
function identify(manifest: Manifest<AssetSpec>, account: Account): Identity {
  const bound = boundIdentity(manifest, account);
  if (bound !== undefined) return bound;
  const duplicates = duplicatesOf(manifest, account);
  const [duplicate, ...others] = duplicates;
  if (duplicate !== undefined) return others.length === 0 ? ofDuplicate(manifest, duplicate, account) : severalDuplicates(duplicates);
  const similar = lookalike(manifest, account);
  if (similar !== undefined) return similar;
  if (manifest.lifecycle.create === "ifMissing") return hiddenAsset(manifest, account) ?? { state: "absent" };
  const message =
    "Its id is not recorded, and dimsync has no request that finds an asset. Bind its id, or set lifecycle.create: ifMissing if it does not exist yet.";
  return blocked("E_UNBOUND", message, bindCommand(manifest.address));
}

/** What may hide the asset: an entry of the list that could not be read, or one of its own integrations that shows no destination. */
function hiddenAsset(manifest: Manifest<AssetSpec>, account: Account): Identity | undefined {
  const { address } = manifest;
  const [unread] = account.unreadEntries.get(integrations) ?? [];
  const partial = integrationsOf(manifest, account).find(({ destination }) => !destination?.id);
  const [why, repair] =
    unread !== undefined
      ? [`An entry of the list of integrations could not be read: ${entryText(unread)}`, "fix or remove that entry"]
      : [
          partial && `GET /v1/integrations shows no destination of ${JSON.stringify(partial.name)} (${partial.id})`,
          "choose its destination",
        ];
  if (why === undefined) return undefined;
  return blocked("E_READ_FAILED", `${why}, and it may use this asset. ${otherwise(address, repair)}`, bindCommand(address));
}

function ofDuplicate(manifest: Manifest<AssetSpec>, { address, id, hasManifest }: Duplicate, { goneIds }: Account): Identity {
  if (id === undefined) {
    const message = `An earlier run sent a create for ${address}, which has the same name and type, and no response showed whether it was created. Nothing is created until you resolve it.`;
    return blocked("E_UNKNOWN_OUTCOME", message, resolveCommand(address));
  }
  if (!hasManifest) return goneIds.has(id) ? { state: "gone", id } : { state: "found", id, by: "renamed" };
  const message = `${address} is bound to ${id}, which has the same name and type, so a second one is not created. If ${manifest.address} is that asset, bind it and remove ${address}. If it is another asset, change its spec.name.`;
  return blocked("E_UNBOUND", message, bindCommand(manifest.address, id));
}

function severalDuplicates(duplicates: readonly Duplicate[]): Identity {
  const seen = duplicates.map(({ address, id }) => `${id ?? "unknown id"} (${address})`).join(", ");
  return blocked("E_AMBIGUOUS", `${duplicates.length} assets have its name and type: ${seen}. Pin the right one with metadata.id.`);
}

/** An asset in the account that may be this one. */
function lookalike(manifest: Manifest<AssetSpec>, account: Account): Identity | undefined {
  const candidates = lookalikes(manifest, account);
  const [candidate] = candidates;
  if (candidate === undefined) return undefined;
  const seen = candidates.map(({ id, name, type }) => `${JSON.stringify(name)} (${type}, ${id})`).join(", ");
  const message = `Its id is not recorded, and integrations refer to ${seen}, which may be this asset. An asset can't be read back, so dimsync does not create a second one. If it is the same, bind it.`;
  return blocked("E_UNBOUND", message, bindCommand(manifest.address, candidate.id));
}

// The interface can't list assets, so the records are the only way to recognise that an asset with
// this name and type was created under another address.

interface Duplicate {
  /** The other address. */
  readonly address: Address;
  /** Absent if the outcome of its create is unknown. */
  readonly id?: string;
  readonly hasManifest: boolean;
}

/** Assets with the name and type of this one that another address is bound to, or that an earlier run created, ordered by address. */
function duplicatesOf(manifest: Manifest<AssetSpec>, account: Account): readonly Duplicate[] {
  const { bindings, earlierCreates, lookup } = account;
  const isOther = (address: Address): boolean => address !== manifest.address && kindOf(address) === manifest.kind;
  const bound = [...bindings].filter(([address, binding]) => isOther(address) && isDuplicate(manifest, address, binding, account));
  const boundIds = new Set([...bindings.values()].map(({ id }) => id));
  const { name, type } = naturalKeyOf(manifest.spec);
  const created = earlierCreates.filter(
    ({ address, id, naturalKey }) =>
      isOther(address) && naturalKey?.["name"] === name && naturalKey?.["type"] === type && (id === undefined || !boundIds.has(id)),
  );
  return [...bound.map(([address, { id }]) => ({ address, id })), ...created]
    .map(({ address, id }): Duplicate => ({ address, ...defined({ id }), hasManifest: lookup.manifests.has(address) }))
    .sort((a, b) => byText(a.address, b.address));
}

/** Whether a bound asset has the name and type of this one. A type that nothing shows counts as equal. */
function isDuplicate({ spec }: Manifest<AssetSpec>, address: Address, binding: Binding, account: Account): boolean {
  const live = referencesIn(account.list(integrations).items).find(({ id }) => id === binding.id);
  const key = account.earlierCreates.find(({ id }) => id === binding.id)?.naturalKey;
  const manifest = account.lookup.manifests.get(address)?.spec as AssetSpec | undefined;
  const hasName = recordedName(spec.name, binding) || [live?.name, key?.["name"]].includes(spec.name);
  const type = live?.type ?? key?.["type"] ?? manifest?.type;
  return hasName && (type === undefined || spec.type === undefined || type === spec.type);
}

/** Pairs of manifests with equal name and type, unless both are pinned or bound to different ids. */
function sameAssets(manifests: readonly Manifest[], bindings: Bindings): readonly Conflict[] {
  const idOf = (manifest: Manifest): string | undefined => manifest.id ?? bindings.get(manifest.address)?.id;
  const same = repeated(manifests, ({ spec }) => canonicalJson(naturalKeyOf(spec as AssetSpec)));
  return same.flatMap(([first, manifest]): readonly Conflict[] => {
    // Equal ids are reported for all kinds alike.
    if (idOf(first) !== undefined && idOf(manifest) !== undefined) return [];
    const message = `${first.address} and ${manifest.address} have the same name and type, and an asset can't be read back, so dimsync can't tell them apart. Remove one of them, change its spec.name, or pin the ids of both with metadata.id.`;
    return [{ pair: [first, manifest], message, pointer: "/spec/name" }];
  });
}

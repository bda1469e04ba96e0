import type { LiveIntegration, LiveReference } from "../../model/live.ts";
import type { Problem } from "../../model/problem.ts";
import { type AssetSpec, problemIn, type Resource } from "../../model/resource.ts";
import { unknownValue } from "../hints.ts";
import { goneObject, unitPerManifest } from "../identity.ts";
import type { ImportedObjects, Kind, Unit } from "../kind.ts";
import { integrations, users } from "../lists.ts";
import { kindNames } from "../manifests.ts";
import { tagReferences } from "../tags.ts";
import { needsUsers } from "../users.ts";
import { createdAsset, updatedAsset } from "./diff.ts";
import { identify, sameAssets } from "./identify.ts";
import { recordOfSpec } from "./record.ts";
import { referencesIn } from "./references.ts";

/** The service returns only the name and type of an asset, so the connection is a commented stub that is never sent. */
const imported: ImportedObjects<LiveReference> = {
  objects: (account) => referencesIn(account.list(integrations).items).filter(({ id }) => id !== ""),
  skips: ({ name }) => (name === "" ? "has no name" : undefined),
  fits: ({ spec }, { name, type }) => {
    const asset = spec as AssetSpec;
    return asset.name === name && (asset.type === undefined || asset.type === type);
  },
  record: (resource) => {
    const { secretVersion } = resource === undefined ? { secretVersion: 0 } : (resource.spec as AssetSpec);
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

// The interface has no call that reads an asset (docs/service-interface.md). What is live is known
// only from the references of integrations; what was sent, only from the digests in the bindings.

interface AssetUnit extends Unit {
  readonly resource: Resource<AssetSpec>;
}

/** Compared with the references by which integrations show assets. */
export const asset: Kind<AssetUnit, readonly LiveReference[]> = {
  name: kindNames.asset,
  references: ({ spec }) => tagReferences((spec as AssetSpec).tags, "/spec/tags"),
  hints: (resource) => assetHints(resource as Resource<AssetSpec>),
  lists: ({ spec }) => ((spec as AssetSpec).owners?.some(needsUsers) === true ? [integrations, users] : [integrations]),
  imported,
  // A lost binding must not create it a second time.
  defaultCreate: "never",
  connectorAt: "/spec",
  isPlainKey: (path, key) => key === "secretVersion" && path.length === 1 && path[0] === "spec",

  identify: (resource, account) => identify(resource as Resource<AssetSpec>, account),

  conflicts: sameAssets,

  baseline: ({ spec }) => recordOfSpec(spec as AssetSpec),

  units: (resources, account) => unitPerManifest(resources, account),

  diff({ address, resource, liveId }, _live, account) {
    const identity = account.identities.get(address);
    if (identity?.state === "gone") return goneObject(resource, identity.id);
    return liveId === undefined ? createdAsset(resource, account) : updatedAsset(resource, liveId, account);
  },

  find: async (key, reads) =>
    referencesIn((await reads.list(integrations)).items)
      .filter(({ name, type }) => name === key["name"] && type === key["type"])
      .map(({ id }) => id),

  update: {
    reread: async (_item, reads) => referencesIn((await reads.list(integrations)).items),

    document(item, references) {
      const name = references?.find(({ id }) => id === item.liveId)?.name;
      return name === undefined ? {} : { name };
    },
  },
};

/** The blocks of a connection of an asset that serves several purposes. */
const purposes = ["etl", "reverseEtl", "catalog", "etlSource"];

const assetHints = (resource: Resource<AssetSpec>): readonly Problem[] => [
  ...unknownValue(resource, "/spec/authMethod"),
  ...flatConnection(resource),
];

/** A PATCH with a flat connection of such an asset is answered with 200, and nothing is written: a rotated password would never arrive. */
function flatConnection(resource: Resource<AssetSpec>): readonly Problem[] {
  const { connectionType, connection, secretVersion } = resource.spec;
  if (connection === undefined || secretVersion === 0 || connectionType !== "multi_purpose") return [];
  if (Object.keys(connection).some((name) => purposes.includes(name))) return [];
  const message = `The service accepts a flat connection for a new multi_purpose asset, but answers a later change of it with 200 and writes nothing. Write one block per purpose that is used: ${purposes.join(", ")}.`;
  return [problemIn(resource, "/spec/connection", { code: "W_FLAT_CONNECTION", severity: "warning", message })];
}

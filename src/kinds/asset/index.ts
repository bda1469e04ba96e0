import type { LiveReference } from "../../model/live.ts";
import type { AssetSpec, Resource } from "../../model/resource.ts";
import { goneObject, unitPerManifest } from "../identity.ts";
import type { Kind, Unit } from "../kind.ts";
import { integrations } from "../lists.ts";
import { kindNames } from "../manifests.ts";
import { createdAsset, updatedAsset } from "./diff.ts";
import { sameAssets } from "./duplicates.ts";
import { identify } from "./identify.ts";
import { imported } from "./import.ts";
import { recordOfSpec } from "./record.ts";
import { referencesIn } from "./references.ts";

// The interface has no call that reads an asset (docs/service-interface.md). What is live is known
// only from the references of integrations; what was sent, only from the digests in the bindings.

export interface AssetUnit extends Unit {
  readonly resource: Resource<AssetSpec>;
}

/** Compared with the references by which integrations show assets. */
export const asset: Kind<AssetUnit, readonly LiveReference[]> = {
  name: kindNames.asset,
  references: () => [],
  lists: () => [integrations],
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
    return liveId === undefined ? createdAsset(resource) : updatedAsset(resource, liveId, account);
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

import type { LiveIntegration, LiveReference } from "../../model/live.ts";
import type { AssetSpec } from "../../model/resource.ts";
import type { ImportedObjects } from "../kind.ts";
import { integrations } from "../lists.ts";
import { referencesIn } from "./references.ts";

/** The service returns only the name and type of an asset, so the connection is a commented stub that is never sent. */
export const imported: ImportedObjects<LiveReference> = {
  objects: (account) => referencesIn(account.list(integrations).items).filter(({ id }) => id !== ""),
  needsName: true,
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
  const usedBy = all.filter(({ source, destination }) => source.id === id || destination.id === id);
  const [only] = usedBy;
  return usedBy.length === 1 && only?.source.id === id && only.destination.id !== id ? only : undefined;
}

function roleOf({ id }: LiveReference, all: readonly LiveIntegration[]): "source" | "destination" | undefined {
  const isSource = all.some(({ source }) => source.id === id);
  const isDestination = all.some(({ destination }) => destination.id === id);
  return isSource === isDestination ? undefined : isSource ? "source" : "destination";
}

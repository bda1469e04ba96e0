import type { LiveIntegration } from "../../model/live.ts";
import type { IntegrationSpec } from "../../model/resource.ts";
import type { ImportedObjects } from "../kind.ts";
import { kindNames } from "../manifests.ts";

/** The manifest has no `create`, since the integration exists. */
export const imported: ImportedObjects<LiveIntegration> = {
  needs: ({ source, destination }) => [source.id, destination.id],
  fits: ({ name, spec }, live, slug) => {
    const { expect, create } = spec as IntegrationSpec;
    return create === undefined && (expect?.name === live.name || (expect?.name === undefined && name === slug));
  },
  manifest({ id, name, paused, source, destination }, { nameOf }) {
    const asset = nameOf(kindNames.asset, destination.id);
    const expect = { name, ...(paused === undefined ? {} : { paused }), source: { name: source.name, type: source.type } };
    return { body: { spec: { destination: asset === undefined ? { id: destination.id } : { asset }, expect } }, integration: id };
  },
};

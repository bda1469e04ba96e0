import { boundIdentity } from "../../../src/kinds/identity.ts";
import { emptyDiff, type Kind, type Unit } from "../../../src/kinds/kind.ts";
import { changedLeaves, leafDigests } from "../../../src/kinds/leaves.ts";
import { urlPath } from "../../../src/model/json/pointer.ts";
import type { DraftItem } from "../../../src/model/plan.ts";
import { locationIn, type Resource } from "../../../src/model/resource.ts";

// The folder of a kind that test/kinds/new-kind.slow.test.ts adds to the registry. A note
// is kept as the description of an asset.

interface NoteUnit extends Unit {
  readonly resource: Resource<{ readonly text: string }>;
}

export const note: Kind<NoteUnit, string> = {
  name: "Note",
  references: () => [],
  lists: () => [],
  identify: (resource, account) => boundIdentity(resource, account) ?? { state: "absent" },

  units: (resources, account) => ({
    units: resources.map((resource) => {
      const identity = account.identities.get(resource.address);
      const unit = { address: resource.address, resource: resource as NoteUnit["resource"] };
      return identity?.state === "found" ? { ...unit, liveId: identity.id } : unit;
    }),
    blocked: [],
    deferred: [],
    problems: [],
  }),

  diff({ address, resource, liveId }, _live, account) {
    const { text } = resource.spec;
    const sent = leafDigests({ text });
    const recorded = account.bindings.get(address)?.sent;
    if (recorded !== undefined && changedLeaves(sent, recorded).length === 0) return emptyDiff;
    const path = urlPath(liveId === undefined ? ["v1", "assets"] : ["v1", "assets", liveId]);
    const item: DraftItem = {
      address,
      kind: "Note",
      ...(liveId === undefined
        ? { action: "create", naturalKey: { name: resource.name } }
        : { action: "update", liveId, binding: { id: liveId, sent } }),
      ...(liveId === undefined ? { binding: { sent } } : {}),
      changes: [{ path: "/text", after: text, risk: "neutral", cause: { place: locationIn(resource, "/spec/text") } }],
      requests: [
        liveId === undefined
          ? {
              method: "POST",
              path,
              body: { name: resource.name, description: text, type: "note", connectionType: "source", connection: {} },
            }
          : { method: "PATCH", path, body: { description: text } },
      ],
    };
    return { ...emptyDiff, items: [item] };
  },

  find: async () => [],
  update: { reread: async () => "", document: () => ({}) },
};

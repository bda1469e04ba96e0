import { idOf, memberOf, textOf } from "../../../../src/core/base/model/decode.ts";
import { urlPath } from "../../../../src/core/base/model/json/pointer.ts";
import { locationIn, type Manifest } from "../../../../src/core/base/model/manifest.ts";
import type { DraftItem } from "../../../../src/core/base/model/plan.ts";
import type { List } from "../../../../src/core/base/model/service.ts";
import { bindItem, boundIdentity, goneObject } from "../../../../src/core/kinds/identity.ts";
import { emptyDiff, type ImportedObjects, type Kind, type Unit } from "../../../../src/core/kinds/kind.ts";

// The folder of a kind that test/core/kinds/new-kind.test.ts adds to the registry. endpoints.ts has its calls.

interface LiveNote {
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

interface NoteUnit extends Unit {
  readonly manifest: Manifest<{ readonly text: string }>;
}

const notes: List<LiveNote> = { name: "notes", decode, one: decode, isCreated: true };

function decode(part: Parameters<typeof memberOf>[0]): LiveNote {
  return { id: idOf(memberOf(part, "id")), name: textOf(memberOf(part, "name")), text: textOf(memberOf(part, "text")) };
}

const imported: ImportedObjects<LiveNote> = { manifest: ({ text }) => ({ body: { spec: { text } } }) };

export const note: Kind<NoteUnit, LiveNote> = {
  name: "Note",
  list: notes,
  references: () => [],
  lists: () => [notes],
  imported,
  liveView: { columns: ["id", "name", "text"] },

  identify(manifest, account) {
    const [live] = account.list(notes).byName.get(manifest.name) ?? [];
    return boundIdentity(manifest, account) ?? (live === undefined ? { state: "absent" } : { state: "found", id: live.id, by: "look-up" });
  },

  units: (manifests, account) => ({
    units: manifests.map((manifest) => {
      const identity = account.identities.get(manifest.address);
      const unit = { address: manifest.address, manifest: manifest as NoteUnit["manifest"] };
      return identity?.state === "found" ? { ...unit, liveId: identity.id } : unit;
    }),
    ...{ steps: [], problems: [] },
  }),

  diff({ address, manifest, liveId }, _live, account) {
    const identity = account.identities.get(address);
    if (identity?.state === "gone") return goneObject(manifest, identity.id);
    const { name, spec } = manifest;
    const live = account.list(notes).byId.get(liveId ?? "");
    const change = { path: "/text", after: spec.text, risk: "neutral", cause: { place: locationIn(manifest, "/spec/text") } } as const;
    if (live === undefined) {
      const requests = [{ method: "POST", path: "/v1/notes", body: { name, text: spec.text } }] as const;
      return {
        ...emptyDiff,
        steps: [{ address, kind: "Note", verb: "create", standing: "ready", naturalKey: { name }, changes: [change], requests }],
      };
    }
    const item: DraftItem = {
      ...{ address, kind: "Note", verb: "update", standing: "ready", liveId: live.id, liveName: live.name },
      changes: [{ ...change, before: live.text }],
      requests: [{ method: "PATCH", path: urlPath(["v1", "notes", live.id]), body: { text: spec.text } }],
    };
    return { ...emptyDiff, steps: [...bindItem(manifest, live, account), ...(live.text === spec.text ? [] : [item])] };
  },

  find: async ({ name }, reads) => (await reads.list(notes)).items.filter((live) => live.name === name).map(({ id }) => id),

  update: {
    reread: (item, reads) => reads.one(notes, item.liveId ?? ""),
    document: (_item, live) => (live === undefined ? {} : { text: live.text }),
  },
};

import { blockedStep } from "../base/model/draft-steps.ts";
import type { JsonValue } from "../base/model/json/json.ts";
import type { Manifest, Reference, TagRef } from "../base/model/manifest.ts";
import { waitingCreate } from "./identity.ts";
import { type Account, type DiffResult, emptyDiff } from "./kind.ts";
import { kindNames, tagAddress } from "./manifests.ts";
import { fromIdentity } from "./select.ts";

// Tags that an object gets when it is created. Those of existing objects are relations of the tag.

/** What a list of tags refers to; `pointer` is that of the list. */
export const tagReferences = (tags: readonly TagRef[] | undefined, pointer: string): readonly Reference[] =>
  (tags ?? []).flatMap((tag, index) =>
    typeof tag === "string" ? [{ kind: kindNames.tag, name: tag, pointer: `${pointer}/${index}`, orLive: false }] : [],
  );

/** The live ids of the tags; the difference if the object can't be created yet. `desired`: what would be created. */
export function tagIds(
  { address }: Manifest,
  { tags, desired }: { readonly tags: readonly TagRef[] | undefined; readonly desired: JsonValue },
  account: Account,
): { readonly ids: readonly string[] | undefined } | { readonly instead: DiffResult } {
  if (tags === undefined) return { ids: undefined };
  const ids: string[] = [];
  for (const tag of tags) {
    if (typeof tag === "object") {
      ids.push(tag.id);
      continue;
    }
    const selected = fromIdentity(tagAddress(tag), tag, account.identities.get(tagAddress(tag)));
    if (selected.state === "waits") return { instead: { ...emptyDiff, steps: [waitingCreate(address, [selected.on], desired)] } };
    if (selected.state === "unresolved")
      return { instead: { ...emptyDiff, steps: [blockedStep({ address, code: selected.code, message: selected.message })] } };
    ids.push(selected.id);
  }
  return { ids };
}

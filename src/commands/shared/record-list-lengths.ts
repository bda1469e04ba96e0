import type { Settings } from "../../model/config.ts";
import type { Listing, Reads } from "../../model/service.ts";
import { recordListLengths } from "../../records/list-lengths.ts";

/**
 * Notes how long the lists are that pass by, for later runs: how many entries came in one list whose answer says nothing of more. `trusted`: a person says
 * that they are whole, so none of them was cut off where it ends.
 */
export function listLengthRecorder(
  settings: Settings,
  trusted: boolean,
): { readonly noting: (reads: Reads) => Reads; readonly keep: () => Promise<void> } {
  const seen = new Map<string, number>();
  const noted = <T>(name: string, read: () => Promise<Listing<T>>) => {
    return async (): Promise<Listing<T>> => {
      const list = await read();
      if (list.completeness === "unknown") seen.set(name, Math.max(seen.get(name) ?? 0, list.items.length + (trusted ? 1 : 0)));
      return list;
    };
  };
  return {
    noting: (reads) => ({
      ...reads,
      integrations: noted("integrations", reads.integrations),
      tags: noted("tags", reads.tags),
      users: noted("users", reads.users),
    }),
    // Not kept, it only means that a list is suspected again.
    keep: () =>
      seen.size === 0 ? Promise.resolve() : recordListLengths(settings.folder, settings.target, Object.fromEntries(seen)).catch(() => {}),
  };
}

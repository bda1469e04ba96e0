import type { Settings } from "../model/config.ts";
import type { Listing, Reads } from "../model/service.ts";
import { recordListLengths } from "../records/list-lengths.ts";

/**
 * Records the lengths of the lists that `recording` reads, for later runs: a list of a round length is suspicious unless an earlier run has seen a
 * longer one. `trusted`: the user states that the lists are complete, so their length is not a page size.
 */
export function listLengthRecorder(
  settings: Settings,
  trusted: boolean,
): { readonly recording: (reads: Reads) => Reads; readonly save: () => Promise<void> } {
  const seen = new Map<string, number>();
  const recorded = <T>(name: string, read: () => Promise<Listing<T>>) => {
    return async (): Promise<Listing<T>> => {
      const list = await read();
      if (list.completeness === "unknown") seen.set(name, Math.max(seen.get(name) ?? 0, list.items.length + (trusted ? 1 : 0)));
      return list;
    };
  };
  return {
    recording: (reads) => ({
      ...reads,
      integrations: recorded("integrations", reads.integrations),
      tags: recorded("tags", reads.tags),
      users: recorded("users", reads.users),
    }),
    // If it fails, the list is only suspicious again.
    save: () =>
      seen.size === 0 ? Promise.resolve() : recordListLengths(settings.folder, settings.target, Object.fromEntries(seen)).catch(() => {}),
  };
}

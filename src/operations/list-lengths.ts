import type { Listing, Reads } from "../model/service.ts";
import type { RecordsRun } from "../records/records.ts";

/**
 * Records the lengths of the lists that `recording` reads, for later runs: a list whose length
 * looks like a page size is suspicious unless an earlier run has seen a longer one. `trusted`: the
 * user states that the lists are complete, so their length is not a page size. `save` adds the
 * lengths to the records.
 */
export function listLengthRecorder(
  records: Pick<RecordsRun, "rememberLists">,
  trusted: boolean,
): { readonly recording: (reads: Reads) => Reads; readonly save: () => void } {
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
    save: () => {
      if (seen.size > 0) records.rememberLists(Object.fromEntries(seen));
    },
  };
}

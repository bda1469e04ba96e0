import type { Fact } from "../facts.ts";
import type { RecordsState } from "../records.ts";
import { recordsUnreadable, type StorePlace } from "../store-errors.ts";
import { readLocalJournal } from "./local-journal.ts";

/**
 * Facts of earlier runs on this machine that could not be stored. An id is added as the service's
 * response to an intent that is still open, and the next plan binds it.
 */
export async function keptFacts(
  store: StorePlace & { readonly folder: string },
  state: RecordsState,
): Promise<{ readonly facts: readonly Fact[]; readonly files: readonly string[] }> {
  const { files, responses } = await readLocalJournal(store.folder, store.target).catch((error: unknown) => {
    throw recordsUnreadable(store, `the responses that this machine keeps in .dimsync: ${String(error)}`, error);
  });
  const open = new Set(state.open.map(({ entryId }) => entryId));
  const at = new Date().toISOString();
  const facts = responses
    .filter(({ entryId }) => open.has(entryId))
    .map(({ entryId, settlement }): Fact => {
      const { id } = settlement;
      return { type: "settle", entryId, settlement: id === undefined ? settlement : { outcome: "answered", id }, at };
    });
  return { facts, files };
}

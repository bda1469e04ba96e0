import { randomUUID } from "node:crypto";
import { kindNamed } from "../../core/kinds/index.ts";
import { schemasAddress } from "../../core/kinds/manifests.ts";
import { type Project, unknownManifest, withLocations } from "../../core/manifests/project.ts";
import { type Address, integrationOfSchemas } from "../../core/model/address.ts";
import { DimsyncError } from "../../core/model/errors.ts";
import { withRecords } from "../../core/operations/open-records.ts";
import type { RunEnvironment } from "../../core/operations/session.ts";
import type { RecordsRun, RecordsState } from "../../core/records/records.ts";
import { shellWord } from "../../core/text/shell.ts";
import { didYouMean } from "../../core/text/suggest.ts";

/** The environment of a change to the records. */
export interface RecordsChange extends Pick<RunEnvironment, "env" | "signal"> {
  /** Called with a sentence for each change, once it is saved. */
  readonly onRecorded: (text: string) => void;
}

/** Runs `work` under the lease, so that no apply uses the records at the same time. `say`: what was recorded, in a sentence. */
export function changeRecords(
  project: Project,
  { env, signal, onRecorded }: RecordsChange,
  work: (records: RecordsRun, say: (text: string) => void) => Promise<void>,
): Promise<void> {
  const changing = withRecords(project.settings, env, async (store) => {
    const lines: string[] = [];
    const records = await store.begin({ runId: randomUUID(), waitMs: 0, signal });
    try {
      await work(records, (text) => lines.push(text));
    } finally {
      await records.release();
      for (const line of lines) onRecorded(line);
    }
  });
  return withLocations(project, changing);
}

/**
 * Records ids: of each ADDRESS=ID the id; with `isAccepted` also of ADDRESS alone that the account was changed by hand to match the manifest. Sends no
 * request. Throws E_UNKNOWN_ADDRESS and E_USAGE.
 */
export const bindIds = (
  project: Project,
  { texts, isAccepted }: { readonly texts: readonly string[]; readonly isAccepted: boolean },
  change: RecordsChange,
): Promise<void> =>
  changeRecords(project, change, async (records, say) => {
    for (const text of texts) {
      const { bindings, open } = records.state();
      const at = text.indexOf("=");
      const address = at === -1 ? text : text.slice(0, at);
      const id = at === -1 ? bindings.get(address)?.id : text.slice(at + 1);
      const resource = project.resources.find((one) => one.address === address);
      if (resource === undefined) throw unknownManifest(address, project.resources);
      if (at === -1 && !isAccepted)
        throw new DimsyncError(
          "E_USAGE",
          `${JSON.stringify(text)} has no id. Use ADDRESS=ID; or use --accept to record that the account was changed by hand to match the manifest.`,
        );
      if (id === undefined || id === "")
        throw new DimsyncError("E_USAGE", `No id is recorded for ${address}. Bind it first.`, {
          command: `dimsync bind ${shellWord(address)}=ID`,
        });
      const baseline = kindNamed(resource.kind)?.baseline?.(resource) ?? {};
      const kept = bindings.get(address);
      const version = baseline.secretVersion === undefined ? {} : { secretVersion: baseline.secretVersion };
      await records.bind(address, isAccepted ? { id, ...baseline } : { ...(kept?.id === id ? kept : {}), id, ...version });
      for (const { entryId, address: of } of open)
        if (of === address) await records.settle(entryId, { outcome: "created", id, by: "bind" });
      say(`${address} is bound to ${id}${isAccepted ? " and recorded as matching its manifest" : ""}.`);
    }
  });

/** The names of the integrations that selectors by live name have covered. */
const namesCovered = ({ covered }: RecordsState): readonly string[] => [...covered.values()].flatMap((ids) => [...ids.values()]);

/** Gives up an integration that left selectors by a rename: by the name that it had, or by its id. Returns a sentence; undefined if none had it. */
function giveUp(records: RecordsRun, address: Address): string | undefined {
  const name = integrationOfSchemas(address);
  const { covered } = records.state();
  const isMeant = (id: string, before: string): boolean => id === name || before === name;
  const changed = [...covered].filter(([, ids]) => [...ids].some(([id, before]) => isMeant(id, before)));
  if (name === undefined || changed.length === 0) return undefined;
  records.remember({
    covered: new Map(changed.map(([of, ids]) => [of, new Map([...ids].filter(([id, before]) => !isMeant(id, before)))])),
  });
  const of = changed.map(([config]) => config).join(" and ");
  return `Drift no longer reports ${address} if it has left ${of}. If the selector still matches it, the next apply records it again.`;
}

/** Removes recorded ids, and gives up integrations that left a selector. Sends no request. Throws E_UNKNOWN_ADDRESS. */
export const unbindIds = (project: Project, addresses: readonly string[], change: RecordsChange): Promise<void> =>
  changeRecords(project, change, async (records, say) => {
    for (const address of addresses) {
      const state = records.state();
      const created = state.created.get(address);
      const id = state.bindings.get(address)?.id ?? created?.id;
      const given = giveUp(records, address);
      if (given !== undefined) say(given);
      if (id === undefined && given !== undefined) continue;
      if (id === undefined)
        throw new DimsyncError(
          "E_UNKNOWN_ADDRESS",
          `No id is recorded for ${JSON.stringify(address)}.${didYouMean(address, [...state.bindings.keys(), ...namesCovered(state).map(schemasAddress)])}`,
        );
      await records.unbind(address);
      if (created !== undefined) await records.settle(created.entryId, { outcome: "forgotten", by: "unbind" });
      say(`${address} is no longer bound to ${id}.`);
    }
  });

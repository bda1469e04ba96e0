import { randomUUID } from "node:crypto";
import type { Context } from "../../cli/context.ts";
import { say } from "../../cli/io.ts";
import { loadOneProject } from "../../cli/project.ts";
import { DimsyncError } from "../../core/base/model/errors.ts";
import type { ExitCode } from "../../core/base/model/exit.ts";
import { shellWord } from "../../core/base/text/shell.ts";
import { didYouMean } from "../../core/base/text/suggest.ts";
import { kindNamed } from "../../core/kinds/index.ts";
import { type Project, unknownManifest, withLocations } from "../../core/manifests/index.ts";
import { type RunEnvironment, withRecords } from "../../core/operations/index.ts";
import type { RecordsRun } from "../../core/records/index.ts";
import type { BindFlags } from "./index.ts";

/** `dimsync bind ADDRESS=ID…` records ids; `bind --accept ADDRESS…` records that the account was changed by hand to match. Sends no request. */
export async function runBind(context: Context<BindFlags>, texts: readonly string[]): Promise<ExitCode> {
  const project = await loadOneProject(context, { account: true });
  await bindIds(project, { texts, isAccepted: context.flags.accept === true }, changeOf(context));
  return 0;
}

/** `dimsync unbind ADDRESS…` removes recorded ids. Sends no request. */
export async function runUnbind(context: Context, addresses: readonly string[]): Promise<ExitCode> {
  await unbindIds(await loadOneProject(context, { account: true }), addresses, changeOf(context));
  return 0;
}

/** Prints on stderr what is recorded. */
export const changeOf = ({ io }: Context): RecordsChange => ({
  env: io.env,
  signal: io.interrupted,
  onRecorded: (text) => say(io, text),
});

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
const bindIds = (
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
      const manifest = project.manifests.find((one) => one.address === address);
      if (manifest === undefined) throw unknownManifest(address, project.manifests);
      if (at === -1 && !isAccepted)
        throw new DimsyncError(
          "E_USAGE",
          `${JSON.stringify(text)} has no id. Use ADDRESS=ID; or use --accept to record that the account was changed by hand to match the manifest.`,
        );
      if (id === undefined || id === "")
        throw new DimsyncError("E_USAGE", `No id is recorded for ${address}. Bind it first.`, {
          command: `dimsync bind ${shellWord(address)}=ID`,
        });
      const baseline = kindNamed(manifest.kind)?.baseline?.(manifest) ?? {};
      const kept = bindings.get(address);
      const version = baseline.secretVersion === undefined ? {} : { secretVersion: baseline.secretVersion };
      await records.bind(address, isAccepted ? { id, ...baseline } : { ...(kept?.id === id ? kept : {}), id, ...version });
      for (const { entryId, address: of } of open)
        if (of === address) await records.settle(entryId, { outcome: "created", id, by: "bind" });
      say(`${address} is bound to ${id}${isAccepted ? " and recorded as matching its manifest" : ""}.`);
    }
  });

/** Removes recorded ids. Sends no request. Throws E_UNKNOWN_ADDRESS. */
const unbindIds = (project: Project, addresses: readonly string[], change: RecordsChange): Promise<void> =>
  changeRecords(project, change, async (records, say) => {
    for (const address of addresses) {
      const state = records.state();
      const created = state.created.get(address);
      const id = state.bindings.get(address)?.id ?? created?.id;
      if (id === undefined)
        throw new DimsyncError(
          "E_UNKNOWN_ADDRESS",
          `No id is recorded for ${JSON.stringify(address)}.${didYouMean(address, [...state.bindings.keys()])}`,
        );
      await records.unbind(address);
      if (created !== undefined) await records.settle(created.entryId, { outcome: "forgotten", by: "unbind" });
      say(`${address} is no longer bound to ${id}.`);
    }
  });

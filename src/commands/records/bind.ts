import type { Context } from "../../cli/context.ts";
import type { BindFlags } from "../../cli/flags.ts";
import { kindNamed } from "../../kinds/index.ts";
import { DimsyncError } from "../../model/errors.ts";
import type { ExitCode } from "../../model/exit.ts";
import { shellWord } from "../../text/shell.ts";
import { didYouMean } from "../../text/suggest.ts";
import { withRecords } from "./with-records.ts";

/** `dimsync bind ADDRESS=ID…` records ids; `bind --accept ADDRESS…` records that the account was changed by hand to match. Sends no request. */
export async function runBind(context: Context<BindFlags>, texts: readonly string[]): Promise<ExitCode> {
  const { flags } = context;
  await withRecords(context, async ({ records, resourceAt, say }) => {
    for (const text of texts) {
      const { bindings, open } = records.state();
      const at = text.indexOf("=");
      const address = at === -1 ? text : text.slice(0, at);
      const id = at === -1 ? bindings.get(address)?.id : text.slice(at + 1);
      const resource = resourceAt(address);
      if (at === -1 && flags.accept !== true)
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
      await records.bind(address, flags.accept === true ? { id, ...baseline } : { ...(kept?.id === id ? kept : {}), id, ...version });
      for (const { entryId, address: of } of open)
        if (of === address) await records.settle(entryId, { outcome: "created", id, by: "bind" });
      say(`${address} is bound to ${id}${flags.accept === true ? " and recorded as matching its manifest" : ""}.`);
    }
  });
  return 0;
}

/** `dimsync unbind ADDRESS…` removes recorded ids. Sends no request. */
export async function runUnbind(context: Context, addresses: readonly string[]): Promise<ExitCode> {
  await withRecords(context, async ({ records, say }) => {
    for (const address of addresses) {
      const state = records.state();
      const created = state.created.get(address);
      const id = state.bindings.get(address)?.id ?? created?.id;
      if (id === undefined)
        throw new DimsyncError(
          "E_UNKNOWN_ADDRESS",
          `No id is recorded for ${JSON.stringify(address)}.${didYouMean(address, state.bindings.keys())}`,
        );
      await records.unbind(address);
      if (created !== undefined) await records.settle(created.entryId, { outcome: "forgotten", by: "unbind" });
      say(`${address} is no longer bound to ${id}.`);
    }
  });
  return 0;
}

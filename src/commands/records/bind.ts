import { randomUUID } from "node:crypto";
import { kindNamed } from "../../kinds/index.ts";
import { parseAddress } from "../../model/address.ts";
import { DimsyncError } from "../../model/errors.ts";
import type { ExitCode } from "../../model/exit.ts";
import type { Resource } from "../../model/resource.ts";
import { openRecords } from "../../operations/records.ts";
import type { RecordsRun } from "../../records/records.ts";
import { didYouMean } from "../../text/suggest.ts";
import type { Context } from "../shared/context.ts";
import type { BindFlags, ResolveFlags } from "../shared/flags.ts";
import { loadOneProject } from "../shared/project.ts";

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
        throw new DimsyncError("E_USAGE", `No id is recorded for ${address}. Bind it first.`, { command: `dimsync bind ${address}=ID` });
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

/** `dimsync resolve ADDRESS --created=ID | --not-created` records the outcome of a create whose response was lost. Sends no request. */
export async function runResolve(context: Context<ResolveFlags>, address: string): Promise<ExitCode> {
  const { flags } = context;
  if ((flags.created === undefined) === (flags.notCreated !== true))
    throw new DimsyncError("E_USAGE", "resolve needs exactly one of --created=ID and --not-created.");
  if (flags.created === "") throw new DimsyncError("E_USAGE", "The id of --created is empty. Use the id of the object in the account.");
  await withRecords(context, async ({ records, say }) => {
    const unknown = records.state().open;
    const open = unknown.filter((intent) => intent.address === address);
    if (open.length === 0)
      throw new DimsyncError(
        "E_UNKNOWN_ADDRESS",
        `No create of ${JSON.stringify(address)} has an unknown outcome.${didYouMean(
          address,
          unknown.map((intent) => intent.address),
        )}`,
      );
    const id = flags.created;
    const relation = parseAddress(address)?.resource !== undefined;
    const record = open.find((intent) => intent.record !== undefined)?.record;
    if (id !== undefined && !relation) await records.bind(address, { ...record, id });
    for (const { entryId } of open)
      await records.settle(
        entryId,
        id === undefined ? { outcome: "not-created", by: "resolve" } : { outcome: "created", id, by: "resolve" },
      );
    const created = relation ? "was created" : `was created and is bound to ${id}`;
    say(id === undefined ? `${address} was not created; the next apply may create it.` : `${address} ${created}.`);
  });
  return 0;
}

interface Opened {
  readonly records: RecordsRun;
  readonly resourceAt: (address: string) => Resource;
  /** Prints what was recorded on stderr, once it is saved. */
  readonly say: (text: string) => void;
}

/** Runs `work` under the lease, so that no apply uses the records at the same time. */
async function withRecords(context: Context, work: (opened: Opened) => Promise<void>): Promise<void> {
  const { io } = context;
  const { settings, resources } = await loadOneProject(context);
  const store = await openRecords(settings, io.env);
  const lines: string[] = [];
  const resourceAt = (address: string): Resource => {
    const found = resources.find((resource) => resource.address === address);
    if (found === undefined)
      throw new DimsyncError(
        "E_UNKNOWN_ADDRESS",
        `No manifest has the address ${JSON.stringify(address)}.${didYouMean(
          address,
          resources.map((resource) => resource.address),
        )}`,
      );
    return found;
  };
  try {
    const records = await store.begin({ runId: randomUUID(), waitMs: 0, signal: io.interrupted });
    try {
      await work({ records, resourceAt, say: (text) => lines.push(text) });
    } finally {
      await records.release();
      for (const line of lines) io.stderr(`dimsync: ${line}\n`);
    }
  } finally {
    await store.close();
  }
}

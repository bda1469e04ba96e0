import { randomUUID } from "node:crypto";
import { kindNamed } from "../../kinds/index.ts";
import { parseAddress } from "../../model/address.ts";
import { DimsyncError } from "../../model/errors.ts";
import type { ExitCode } from "../../model/exit.ts";
import type { Resource } from "../../model/resource.ts";
import { openBindings } from "../../records/bindings.ts";
import { openJournal } from "../../records/journal.ts";
import { acquireLock } from "../../records/lock.ts";
import { didYouMean } from "../../text/suggest.ts";
import type { Context } from "../shared/context.ts";
import type { BindFlags, ResolveFlags } from "../shared/flags.ts";
import { loadOneProject } from "../shared/project.ts";

/** `dimsync bind ADDRESS=ID…` records ids; `bind --accept ADDRESS…` records that a person made the account equal the manifest. Makes no call. */
export async function runBind(context: Context<BindFlags>, texts: readonly string[]): Promise<ExitCode> {
  const { io, flags } = context;
  await withRecords(context, async ({ bindings, journal, resourceAt }) => {
    for (const text of texts) {
      const at = text.indexOf("=");
      const address = at === -1 ? text : text.slice(0, at);
      const id = at === -1 ? bindings.get(address)?.id : text.slice(at + 1);
      const resource = resourceAt(address);
      if (at === -1 && flags.accept !== true)
        throw new DimsyncError(
          "E_USAGE",
          `bind takes ADDRESS=ID, and ${JSON.stringify(text)} has no id. To record that a person made a change, use --accept.`,
        );
      if (id === undefined || id === "")
        throw new DimsyncError(
          "E_USAGE",
          `No id is on record for ${address}, so there is nothing to accept. Bind it first: dimsync bind ${address}=ID`,
        );
      const baseline = kindNamed(resource.kind)?.baseline?.(resource) ?? {};
      const kept = bindings.get(address);
      const version = baseline.secretVersion === undefined ? {} : { secretVersion: baseline.secretVersion };
      await bindings.set(address, flags.accept === true ? { id, ...baseline } : { ...(kept?.id === id ? kept : {}), id, ...version });
      for (const { entryId, address: of } of journal.open())
        if (of === address) await journal.settle(entryId, { outcome: "created", id, by: "bind" });
      io.stderr(`dimsync: ${address} is ${flags.accept === true ? "accepted as it is declared, and " : ""}bound to ${id}.\n`);
    }
  });
  return 0;
}

/** `dimsync unbind ADDRESS…` forgets ids. Makes no call. */
export async function runUnbind(context: Context, addresses: readonly string[]): Promise<ExitCode> {
  const { io } = context;
  await withRecords(context, async ({ bindings, journal }) => {
    for (const address of addresses) {
      const created = journal.created().get(address);
      const id = bindings.get(address)?.id ?? created?.id;
      if (id === undefined)
        throw new DimsyncError(
          "E_UNKNOWN_ADDRESS",
          `No id is on record for ${JSON.stringify(address)}.${didYouMean(address, bindings.all().keys())}`,
        );
      await bindings.remove(address);
      if (created !== undefined) await journal.settle(created.entryId, { outcome: "forgotten", by: "unbind" });
      io.stderr(`dimsync: ${address} is no longer bound to ${id}.\n`);
    }
  });
  return 0;
}

/** `dimsync resolve ADDRESS --created=ID | --not-created` says what became of a create whose answer was lost. Makes no call. */
export async function runResolve(context: Context<ResolveFlags>, address: string): Promise<ExitCode> {
  const { io, flags } = context;
  if ((flags.created === undefined) === (flags.notCreated !== true))
    throw new DimsyncError("E_USAGE", "resolve takes either --created=ID or --not-created.");
  if (flags.created === "") throw new DimsyncError("E_USAGE", "--created takes the id that the service gave the object, and it is empty.");
  await withRecords(context, async ({ bindings, journal }) => {
    const open = journal.open().filter((intent) => intent.address === address);
    if (open.length === 0)
      throw new DimsyncError(
        "E_UNKNOWN_ADDRESS",
        `No create of ${JSON.stringify(address)} has an unknown outcome.${didYouMean(
          address,
          journal.open().map((intent) => intent.address),
        )}`,
      );
    const id = flags.created;
    const relation = parseAddress(address)?.resource !== undefined;
    const record = open.find((intent) => intent.record !== undefined)?.record;
    if (id !== undefined && !relation) await bindings.set(address, { ...record, id });
    for (const { entryId } of open)
      await journal.settle(
        entryId,
        id === undefined ? { outcome: "not-created", by: "resolve" } : { outcome: "created", id, by: "resolve" },
      );
    const created = relation ? "is there" : `was created as ${id}, and is bound to it`;
    io.stderr(
      id === undefined ? `dimsync: ${address} was not created; the next apply may create it.\n` : `dimsync: ${address} ${created}.\n`,
    );
  });
  return 0;
}

interface Records {
  readonly bindings: Awaited<ReturnType<typeof openBindings>>;
  readonly journal: Awaited<ReturnType<typeof openJournal>>;
  readonly resourceAt: (address: string) => Resource;
}

/** Under the lock of apply: ids must not change while a run works with them. */
async function withRecords(context: Context, work: (records: Records) => Promise<void>): Promise<void> {
  const { settings, resources } = await loadOneProject(context);
  const lock = await acquireLock(settings.folder, settings.target, { runId: randomUUID(), waitMs: 0, signal: context.io.interrupted });
  try {
    const [bindings, journal] = await Promise.all([
      openBindings(settings.bindingsFile, settings.target),
      openJournal(settings.folder, settings.target),
    ]);
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
    await work({ bindings, journal, resourceAt });
  } finally {
    await lock.release();
  }
}

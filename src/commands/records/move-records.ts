import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { relative, resolve } from "node:path";
import type { Context } from "../../cli/context.ts";
import type { RecordsFlags } from "../../cli/flags.ts";
import { loadOneProject } from "../../cli/project.ts";
import { say } from "../../cli/say.ts";
import type { Project } from "../../manifests/project.ts";
import { DimsyncError } from "../../model/errors.ts";
import type { ExitCode } from "../../model/exit.ts";
import { type CreatedStore, createStore, parseStore, type StoreChoice, writeRecordsConfig } from "../../operations/records/create-store.ts";
import { openRecords } from "../../operations/records/open.ts";
import { type Bundle, bundleOf, importBundle, isEmpty, parseBundle, sameRecords } from "../../records/bundle.ts";
import { movedReason, movedTo } from "../../records/moved.ts";
import type { Records } from "../../records/records.ts";
import { jsonDocument, visible } from "../../text/control-characters.ts";
import { counted } from "../../text/counts.ts";
import { shellWord } from "../../text/shell.ts";
import { inlineYaml } from "../../yaml/print.ts";

type Task = "init" | "migrate" | "export" | "restore" | "check";

/** The tasks of `dimsync records` that create, move, save and check records. */
export async function runMove(context: Context<RecordsFlags>, task: Task, file: string | undefined): Promise<ExitCode> {
  const project = await loadOneProject(context);
  const records = await openRecords(project.settings, context.io.env);
  try {
    const opened = { context, project, records };
    switch (task) {
      case "init":
        await init(opened);
        break;
      case "migrate":
        await migrate(opened);
        break;
      case "export":
        context.io.stdout(jsonDocument(await bundleOf(records, project.settings.target)));
        break;
      case "restore":
        await restore(opened, file);
        break;
      case "check":
        await check(opened);
    }
    return 0;
  } finally {
    await records.close();
  }
}

interface Opened {
  readonly context: Context<RecordsFlags>;
  readonly project: Project;
  readonly records: Records;
}

async function init({ context, project, records }: Opened): Promise<void> {
  const { settings } = project;
  if (settings.records.store !== "folder")
    throw new DimsyncError(
      "E_RECORDS_EXIST",
      `dimsync.yaml already names records for the target ${settings.target} (${records.place}). To move them to another store:`,
      {
        command: "dimsync records migrate --to STORE",
      },
    );
  const before = await bundleOf(records, settings.target);
  if (!isEmpty(before))
    throw new DimsyncError(
      "E_RECORDS_EXIST",
      `The target ${settings.target} has records in ${records.place}: ${summary(before)}. A new store would not know them. Move them instead:`,
      {
        command: `dimsync records migrate --to ${context.flags.to ?? "git"}`,
      },
    );
  const choice = parseStore(context.flags.to, settings.target);
  await finish({ context, project, records }, choice, await createStore(settings, choice, context.io.env));
}

async function migrate({ context, project, records }: Opened): Promise<void> {
  const { settings } = project;
  if (context.flags.to === undefined) throw new DimsyncError("E_USAGE", "records migrate needs --to: folder, git, git:REF or postgres.");
  const choice = parseStore(context.flags.to, settings.target);
  if (
    choice.store === settings.records.store &&
    !(choice.store === "git" && settings.records.store === "git" && choice.ref !== settings.records.ref)
  )
    throw new DimsyncError("E_USAGE", `The records of the target ${settings.target} are in this store already (${records.place}).`);
  const runId = randomUUID();
  await records.lock({ runId, reason: `dimsync records migrate is moving the records to ${context.flags.to}` });
  let isCopied = false;
  try {
    const created = await createStore(settings, choice, context.io.env);
    const target = await openRecords({ ...settings, records: created.settings }, context.io.env);
    try {
      // By an earlier migration out of this store.
      if (movedTo((await target.lease())?.reason) !== undefined) await target.unlock();
      const before = await bundleOf(records, settings.target);
      const found = await bundleOf(target, settings.target);
      if (!sameRecords(before, found)) {
        if (!isEmpty(found) && choice.store !== "folder")
          throw new DimsyncError("E_RECORDS_EXIST", `The new store has other records (${summary(found)}), so nothing was moved.`);
        await importBundle(target, before, runId);
      }
      const after = await bundleOf(target, settings.target);
      if (!sameRecords(before, after))
        throw new DimsyncError(
          "E_RECORDS_BUNDLE",
          `The new store does not contain the same records (before: ${summary(before)}; after: ${summary(after)}). dimsync.yaml was not changed.`,
        );
      isCopied = true;
      const named = created.config === undefined ? "no records" : `records: ${inlineYaml(created.config as never)}`;
      await records.lock({ runId, reason: movedReason(`${target.place} (${named})`) });
      await finish({ context, project, records: target }, choice, created);
      say(context.io, `Moved ${summary(before)}. The old store stays closed, so that nothing uses it.`);
    } finally {
      await target.close();
    }
  } catch (error) {
    // Afterwards there are two copies, and only one may be used.
    if (!isCopied) await records.unlock();
    throw error;
  }
}

/** Names the new store in dimsync.yaml, or prints what to write there. */
async function finish({ context, project }: Opened, choice: StoreChoice, created: CreatedStore): Promise<void> {
  const { settings, configFile } = project;
  const { io, flags, cwd } = context;
  for (const note of created.notes) say(io, note);
  const lines = created.config === undefined ? "" : `records: ${inlineYaml(created.config as never)}\n`;
  if (flags.print === true || configFile === undefined) {
    say(io, `${created.config === undefined ? "Remove records from" : "Add this to"} the target ${settings.target} in dimsync.yaml:`);
    io.stdout(lines);
    return;
  }
  await writeRecordsConfig(configFile, settings.target, created.config);
  const where = relative(cwd, configFile);
  say(io, `${where} now names the ${choice.store} store for the target ${settings.target}. Commit it.`);
}

async function restore({ context, project, records }: Opened, file: string | undefined): Promise<void> {
  if (file === undefined) throw new DimsyncError("E_USAGE", "records restore needs the file that records export wrote.");
  const text = await readFile(resolve(context.cwd, file), "utf8").catch((error: unknown) => {
    throw new DimsyncError("E_RECORDS_BUNDLE", `${file} cannot be read.`, { cause: error });
  });
  const bundle = parseBundle(text, file);
  const { target } = project.settings;
  if (bundle.target !== target && context.flags.force !== true)
    throw new DimsyncError(
      "E_RECORDS_BUNDLE",
      `${file} has the records of the target ${JSON.stringify(bundle.target)}, not of ${JSON.stringify(target)}. Ids of one account mean nothing in another. If the target was renamed, use --force.`,
    );
  const before = await bundleOf(records, target);
  if (sameRecords(before, bundle)) return say(context.io, "The store has these records already.");
  if (!isEmpty(before))
    throw new DimsyncError(
      "E_RECORDS_EXIST",
      `${records.place} has other records (${summary(before)}). Records are only restored into an empty store.`,
    );
  await importBundle(records, bundle, randomUUID());
  say(context.io, `Restored ${summary(bundle)}.`);
}

async function check({ context, project, records }: Opened): Promise<void> {
  const bundle = await bundleOf(records, project.settings.target);
  const addresses = new Set(project.resources.map(({ address }) => address));
  const orphans = Object.keys(bundle.bindings).filter((address) => !addresses.has(address));
  const line = (text: string): void => context.io.stdout(`${visible(text)}\n`);
  line(`${records.place}: ${summary(bundle)}.`);
  for (const { address } of bundle.open)
    line(`${address}: the outcome of its create is unknown. Run dimsync plan, then dimsync resolve ${shellWord(address)}.`);
  for (const address of orphans)
    line(
      `${address}: no manifest has this address. If it was renamed, bind the new address; otherwise run dimsync unbind ${shellWord(address)}.`,
    );
}

const summary = ({ bindings, open, applied }: Bundle): string =>
  `${counted(Object.keys(bindings).length, "recorded id")}, ${counted(open.length, "create")} with an unknown outcome, ${counted(applied.length, "applied plan")}`;

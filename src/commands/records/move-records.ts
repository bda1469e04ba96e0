import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { relative, resolve } from "node:path";
import type { Context } from "../../cli/context.ts";
import type { RecordsFlags } from "../../cli/flags.ts";
import { loadOneProject, loadProjects } from "../../cli/project.ts";
import { say } from "../../cli/say.ts";
import { type Project, withLocations } from "../../manifests/project.ts";
import { DimsyncError } from "../../model/errors.ts";
import type { ExitCode } from "../../model/exit.ts";
import { isLocal, type Settings } from "../../model/settings/config.ts";
import { openRecords } from "../../operations/records/open.ts";
import { type CreatedStore, parseStore, type StoreChoice, storeNamed } from "../../operations/records/stores.ts";
import { writeRecordsConfig, writeRecordsId } from "../../operations/records/write-config.ts";
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
  if (task !== "init" && task !== "migrate")
    return moveOne(context, task, { project: await loadOneProject(context, { account: true }), file });
  const projects = await loadProjects(context, { account: true });
  if (projects.length > 1 && context.flags.to?.startsWith("git:") === true)
    throw new DimsyncError(
      "E_USAGE",
      `${context.flags.to} would be the ref of ${projects.length} targets. With --to git, each has its own.`,
    );
  for (const project of projects) {
    if (projects.length > 1 && isThere(project, context.flags.to))
      say(context.io, `The target ${project.settings.target} has its records there already.`);
    else await moveOne(context, task, { project });
  }
  return 0;
}

/** Whether a project names records in this store, or in any if none is given. With several targets, the others follow. */
function isThere({ settings: { records } }: Project, to: string | undefined): boolean {
  return records.store !== "unusable" && !isLocal(records) && (to === undefined || to === records.store);
}

async function moveOne(
  context: Context<RecordsFlags>,
  task: Task,
  { project, file }: { readonly project: Project; readonly file?: string | undefined },
): Promise<ExitCode> {
  const { settings } = project;
  const named = await namedStore(settings, task, context);
  // Until the named store exists, records are files.
  const current: Settings = named === undefined ? settings : { ...settings, records: { store: "folder" } };
  const records = await withLocations(project, openRecords(current, context.io.env));
  try {
    const opened = { context, project, records, named };
    switch (task) {
      case "init":
        await init(opened);
        break;
      case "migrate":
        await migrate(opened);
        break;
      case "export":
        context.io.stdout(jsonDocument(await bundleOf(records, settings.target)));
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
  /** The store that dimsync.yaml names and that is to be created. */
  readonly named?: StoreChoice | undefined;
}

/** The store that dimsync.yaml names, if it is to be created: it has no id, or records init was asked for and it is gone. */
async function namedStore({ records, ...settings }: Settings, task: Task, { io }: Context<RecordsFlags>): Promise<StoreChoice | undefined> {
  if (records.store === "unusable") return task === "init" || task === "migrate" ? records.named : undefined;
  if (isLocal(records) || task !== "init") return undefined;
  const opened = await openRecords({ ...settings, records }, io.env);
  try {
    await opened.read();
    return undefined;
  } catch (error) {
    if (!(error instanceof DimsyncError) || error.code !== "E_RECORDS_GONE") throw error;
    say(
      io,
      `The store with the id ${records.id} is not there. The new one is empty: if dimsync has created objects in this account, run records restore with an export before the next apply.`,
    );
    return records;
  } finally {
    await opened.close();
  }
}

async function init({ context, project, records, named }: Opened): Promise<void> {
  const { settings } = project;
  if (!isLocal(settings.records) && named === undefined)
    throw new DimsyncError(
      "E_RECORDS_EXIST",
      `dimsync.yaml already names records for the target ${settings.target} (${records.place}), with their id. To move them to another store:`,
      { command: "dimsync records migrate --to STORE" },
    );
  if (named !== undefined && context.flags.to !== undefined)
    throw new DimsyncError(
      "E_USAGE",
      "dimsync.yaml names the store, so records init takes no --to. Remove `records` from the target, or leave out --to.",
    );
  const before = await bundleOf(records, settings.target);
  if (!isEmpty(before))
    throw new DimsyncError(
      "E_RECORDS_EXIST",
      `The target ${settings.target} has records in ${records.place}: ${summary(before)}. A new store would not know them. Move them instead:`,
      {
        command: named === undefined ? `dimsync records migrate --to ${context.flags.to ?? "git"}` : "dimsync records migrate",
      },
    );
  const choice = named ?? parseStore(context.flags.to, settings.target);
  await finish(
    { context, project, records, named },
    choice,
    await storeNamed(choice.store).create(choice, { settings, env: context.io.env }),
  );
}

async function migrate({ context, project, records, named }: Opened): Promise<void> {
  const { settings } = project;
  if (context.flags.to === undefined && named === undefined)
    throw new DimsyncError("E_USAGE", "records migrate needs --to: folder, git, git:REF or postgres.");
  const choice = context.flags.to === undefined && named !== undefined ? named : parseStore(context.flags.to, settings.target);
  if (
    choice.store === settings.records.store &&
    !(choice.store === "git" && settings.records.store === "git" && choice.ref !== settings.records.ref)
  )
    throw new DimsyncError("E_USAGE", `The records of the target ${settings.target} are in this store already (${records.place}).`);
  const runId = randomUUID();
  await records.lock({ runId, reason: `dimsync records migrate is moving the records to ${choice.store}` });
  let isCopied = false;
  try {
    const created = await storeNamed(choice.store).create(choice, { settings, env: context.io.env });
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
      const shown = created.config === undefined ? "no records" : `records: ${inlineYaml(created.config as never)}`;
      await records.lock({ runId, reason: movedReason(`${target.place} (${shown})`) });
      await finish({ context, project, records: target, named }, choice, created);
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
async function finish({ context, project, named }: Opened, choice: StoreChoice, created: CreatedStore): Promise<void> {
  const { settings, configFile } = project;
  const { io, flags, cwd } = context;
  for (const note of created.notes) say(io, note);
  const lines = created.config === undefined ? "" : `records: ${inlineYaml(created.config as never)}\n`;
  if (flags.print === true || configFile === undefined) {
    say(io, `${created.config === undefined ? "Remove records from" : "Add this to"} the target ${settings.target} in dimsync.yaml:`);
    io.stdout(lines);
    return;
  }
  if (choice === named && "id" in created.settings)
    await writeRecordsId(configFile, settings.target, { store: choice.store, id: created.settings.id });
  else await writeRecordsConfig(configFile, settings.target, created.config);
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

import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Context } from "../../cli/context.ts";
import { say } from "../../cli/io.ts";
import { loadOneProject, loadProjects } from "../../cli/project.ts";
import { DimsyncError } from "../../core/base/model/errors.ts";
import type { ExitCode } from "../../core/base/model/exit.ts";
import type { JsonObject } from "../../core/base/model/json/json.ts";
import { isLocal, type Settings } from "../../core/base/model/settings/config.ts";
import type { Environment } from "../../core/base/model/settings/env.ts";
import { counted } from "../../core/base/text/counts.ts";
import { type Edit, editYaml } from "../../core/base/yaml/edit.ts";
import { inlineYaml } from "../../core/base/yaml/print.ts";
import { type Project, shownPath, withLocations } from "../../core/manifests/index.ts";
import { type CreatedStore, parseStore, type StoreChoice, storeNamed, withRecords } from "../../core/operations/index.ts";
import {
  ContentError,
  movedReason,
  movedTo,
  parseRecords,
  printRecords,
  type Records,
  type RecordsContent,
  writeAtomic,
} from "../../core/records/index.ts";
import type { RecordsFlags } from "./index.ts";

type Task = "init" | "migrate" | "export" | "restore";

/** The tasks of `dimsync records` that create, move and save records. */
export async function runMove(context: Context<RecordsFlags>, task: Task, file: string | undefined): Promise<ExitCode> {
  if (task === "init" || task === "migrate") await moveEach(context, task);
  else {
    const project = await loadOneProject(context, { account: true });
    await withLocations(project, runOne(context, task, { project, file }));
  }
  return 0;
}

async function moveEach(context: Context<RecordsFlags>, task: "init" | "migrate"): Promise<void> {
  const { io, flags } = context;
  const { to } = flags;
  const projects = await loadProjects(context, { account: true });
  if (projects.length > 1 && to?.startsWith("git:") === true)
    throw new DimsyncError("E_USAGE", `${to} would be the ref of ${projects.length} targets. With --to git, each has its own.`);
  for (const project of projects) {
    // With several targets, the others follow.
    if (projects.length > 1 && isThere(project, to)) {
      say(io, `The target ${project.settings.target} has its records there already.`);
      continue;
    }
    const options = { env: io.env, to, keepConfig: flags.print === true };
    const move = async (): Promise<void> => {
      if (task === "init") return showStore(context, project, await createRecords(project, options));
      const { moved, ...store } = await moveRecords(project, options);
      showStore(context, project, store);
      say(io, `Moved ${moved}. The old store stays closed, so that nothing uses it.`);
    };
    await withLocations(project, move());
  }
}

/** What dimsync.yaml names now, or what to write there. */
function showStore({ io, cwd }: Context<RecordsFlags>, { settings: { target } }: Project, { name, config, file, notes }: NewStore): void {
  for (const note of notes) say(io, note);
  if (file !== undefined) say(io, `${shownPath(cwd, file)} now names the ${name} store for the target ${target}. Commit it.`);
  else {
    say(io, `${config === undefined ? "Remove records from" : "Add this to"} the target ${target} in dimsync.yaml:`);
    io.stdout(config === undefined ? "" : `records: ${inlineYaml(config as never)}\n`);
  }
}

interface OneTarget {
  readonly project: Project;
  readonly file: string | undefined;
}

async function runOne(context: Context<RecordsFlags>, task: "export" | "restore", { project, file }: OneTarget): Promise<void> {
  const { io } = context;
  if (task === "export") return io.stdout(await exportRecords(project, io.env));
  await restore(context, project, file);
}

async function restore({ io, cwd }: Context<RecordsFlags>, project: Project, file: string | undefined): Promise<void> {
  if (file === undefined) throw new DimsyncError("E_USAGE", "records restore needs the file that records export wrote.");
  const text = await readFile(resolve(cwd, file), "utf8").catch((error: unknown) => {
    throw new DimsyncError("E_RECORDS_BUNDLE", `${file} cannot be read.`, { cause: error });
  });
  const restored = await restoreRecords(project, { text, file }, io.env);
  say(io, restored === undefined ? "The store has these records already." : `Restored ${restored}.`);
}

interface NewStoreOptions {
  readonly env: Environment;
  /** As in `--to`. Default: the store that dimsync.yaml names, else git. */
  readonly to?: string | undefined;
  /** Whether dimsync.yaml stays as it is. */
  readonly keepConfig?: boolean;
}

/** A new store for the records of a target. */
interface NewStore {
  readonly name: StoreChoice["store"];
  /** The member `records` of the target in dimsync.yaml; undefined: none. */
  readonly config: JsonObject | undefined;
  /** The file that names it now; undefined if it was not edited. */
  readonly file: string | undefined;
  readonly notes: readonly string[];
}

/** Whether the target names records in this store, or in any shared store if none is given. */
const isThere = ({ settings: { records } }: Project, to: string | undefined): boolean =>
  records.store !== "unusable" && !isLocal(records) && (to === undefined || to === records.store);

/**
 * Creates an empty store, and names it in dimsync.yaml. Throws E_RECORDS_EXIST if the target has records, E_USAGE, E_CONFIG_EDIT, and as creating a
 * store does (stores.ts).
 */
export async function createRecords(project: Project, options: NewStoreOptions): Promise<NewStore> {
  const { settings } = project;
  const { named, isGone } = await namedStore(project, options.env);
  return withRecords(untilCreated(settings, named), options.env, async (records) => {
    if (!isLocal(settings.records) && named === undefined)
      throw new DimsyncError(
        "E_RECORDS_EXIST",
        `dimsync.yaml already names records for the target ${settings.target} (${records.place}), with their id. To move them to another store:`,
        { command: "dimsync records migrate --to STORE" },
      );
    if (named !== undefined && options.to !== undefined)
      throw new DimsyncError(
        "E_USAGE",
        "dimsync.yaml names the store, so records init takes no --to. Remove `records` from the target, or leave out --to.",
      );
    const before = await records.content();
    if (!isEmpty(before))
      throw new DimsyncError(
        "E_RECORDS_EXIST",
        `The target ${settings.target} has records in ${records.place}: ${summary(before)}. A new store would not know them. Move them instead:`,
        { command: named === undefined ? `dimsync records migrate --to ${options.to ?? "git"}` : "dimsync records migrate" },
      );
    const choice = named ?? parseStore(options.to, settings);
    const created = await storeNamed(choice.store).create(choice, { settings, env: options.env });
    const gone = isGone === undefined ? [] : [isGone];
    return nameStore(project, { ...created, notes: [...gone, ...created.notes], choice, isNamed: choice === named }, options);
  });
}

/**
 * Moves all records to another store under a lease, compares both, and closes the old store for good. Throws E_RECORDS_EXIST, E_RECORDS_BUNDLE, E_USAGE,
 * E_CONFIG_EDIT, and as creating a store does (stores.ts). `moved`: what, in words.
 */
async function moveRecords(project: Project, options: NewStoreOptions): Promise<NewStore & { readonly moved: string }> {
  const { settings } = project;
  const named = settings.records.store === "unusable" ? settings.records.named : undefined;
  return withRecords(untilCreated(settings, named), options.env, async (records) => {
    if (options.to === undefined && named === undefined)
      throw new DimsyncError("E_USAGE", "records migrate needs --to: folder, git, git:REF or postgres.");
    const choice = options.to === undefined && named !== undefined ? named : parseStore(options.to, settings);
    if (isSameStore(choice, project))
      throw new DimsyncError("E_USAGE", `The records of the target ${settings.target} are in this store already (${records.place}).`);
    const runId = randomUUID();
    await records.lock({ runId, reason: `dimsync records migrate is moving the records to ${choice.store}` });
    let isCopied = false;
    try {
      const created = await storeNamed(choice.store).create(choice, { settings, env: options.env });
      return await withRecords({ ...settings, records: created.settings }, options.env, async (target) => {
        const moved = await copyRecords(records, target, choice.store === "folder");
        isCopied = true;
        const shown = created.config === undefined ? "no records" : `records: ${inlineYaml(created.config as never)}`;
        await records.lock({ runId, reason: movedReason(`${target.place} (${shown})`) });
        return { ...(await nameStore(project, { ...created, choice, isNamed: choice === named }, options)), moved: summary(moved) };
      });
    } catch (error) {
      // Afterwards there are two copies, and only one may be used.
      if (!isCopied) await records.unlock();
      throw error;
    }
  });
}

/** The text for `restoreRecords`. */
const exportRecords = (project: Project, env: Environment): Promise<string> =>
  withRecords(project.settings, env, async (records) => exportText(await records.content(), project.settings.target));

/** Without the lease, which belongs to the store. */
const exportText = (content: RecordsContent, target: string): string =>
  printRecords({ target, id: "" }, { ...content, epoch: 0, lease: undefined });

const sameRecords = (a: RecordsContent, b: RecordsContent): boolean => exportText(a, "") === exportText(b, "");

interface Export {
  readonly text: string;
  /** For messages. */
  readonly file: string;
}

/**
 * Restores an export into an empty store. Returns what, in words; undefined if the store has these records already. Throws E_RECORDS_BUNDLE and
 * E_RECORDS_EXIST.
 */
async function restoreRecords(project: Project, { text, file }: Export, env: Environment): Promise<string | undefined> {
  const { head, content } = parseExport(text, file);
  const { target } = project.settings;
  if (head.target !== target)
    throw new DimsyncError(
      "E_RECORDS_BUNDLE",
      `${file} has the records of the target ${JSON.stringify(head.target)}, not of ${JSON.stringify(target)}. Ids of one account mean nothing in another. If the target was renamed, correct its name in the first line of the file.`,
    );
  return withRecords(project.settings, env, async (records) => {
    const before = await records.content();
    if (sameRecords(before, content)) return undefined;
    if (!(await records.replace(content, isEmpty)))
      throw new DimsyncError(
        "E_RECORDS_EXIST",
        `${records.place} has other records (${summary(before)}). Records are only restored into an empty store.`,
      );
    return summary(content);
  });
}

function parseExport(text: string, file: string): ReturnType<typeof parseRecords> {
  try {
    return parseRecords(text);
  } catch (error) {
    if (!(error instanceof ContentError)) throw error;
    const message = `${file} cannot be restored: ${error.message}. Use a file that \`dimsync records export\` wrote.`;
    throw new DimsyncError("E_RECORDS_BUNDLE", message, { cause: error });
  }
}

/** Until the named store exists, records are files. */
const untilCreated = (settings: Settings, named: StoreChoice | undefined): Settings =>
  named === undefined ? settings : { ...settings, records: { store: "folder" } };

/** The store that dimsync.yaml names, if it is to be created: it has no id, or it is gone. */
async function namedStore(
  { settings }: Project,
  env: Environment,
): Promise<{ readonly named?: StoreChoice | undefined; readonly isGone?: string }> {
  const { records } = settings;
  if (records.store === "unusable") return { named: records.named };
  if (isLocal(records)) return {};
  try {
    await withRecords(settings, env, (opened) => opened.read());
    return {};
  } catch (error) {
    if (!(error instanceof DimsyncError) || error.code !== "E_RECORDS_GONE") throw error;
    const isGone = `The store with the id ${records.id} is not there. The new one is empty: if dimsync has created objects in this account, run records restore with an export before the next apply.`;
    return { named: records, isGone };
  }
}

const isSameStore = (choice: StoreChoice, { settings: { records } }: Project): boolean =>
  choice.store === records.store && !(choice.store === "git" && records.store === "git" && choice.ref !== records.ref);

/** Copies the records, and returns them when both stores have the same. `mayReplace`: other records there are replaced. */
async function copyRecords(from: Records, to: Records, mayReplace: boolean): Promise<RecordsContent> {
  // By an earlier migration out of this store.
  if (movedTo((await to.lease())?.reason) !== undefined) await to.unlock();
  const before = await from.content();
  const isReplaceable = (found: RecordsContent): boolean => mayReplace || isEmpty(found) || sameRecords(found, before);
  if (!(await to.replace(before, isReplaceable)))
    throw new DimsyncError("E_RECORDS_EXIST", `The new store has other records (${summary(await to.content())}), so nothing was moved.`);
  const after = await to.content();
  if (!sameRecords(before, after))
    throw new DimsyncError(
      "E_RECORDS_BUNDLE",
      `The new store does not contain the same records (before: ${summary(before)}; after: ${summary(after)}). dimsync.yaml was not changed.`,
    );
  return before;
}

/** Names the new store in dimsync.yaml; comments and order stay. `isNamed`: the file names it already, without its id. Throws E_CONFIG_EDIT. */
async function nameStore(
  { settings: { target }, configFile }: Project,
  { choice, isNamed, settings: records, config, notes }: CreatedStore & { readonly choice: StoreChoice; readonly isNamed: boolean },
  { keepConfig = false }: NewStoreOptions,
): Promise<NewStore> {
  const file = keepConfig ? undefined : configFile;
  const path = ["targets", target, "records"];
  const edit = isNamed && "id" in records ? { path: [...path, choice.store, "id"], value: records.id } : { path, value: config };
  if (file !== undefined) await editConfig(file, edit);
  return { name: choice.store, config, file, notes };
}

const isEmpty = ({ state: { bindings, open, created, forgotten = [] }, applied }: RecordsContent): boolean =>
  bindings.size + open.length + created.size + forgotten.length + applied.size === 0;

const summary = ({ state: { bindings, open, created }, applied }: RecordsContent): string =>
  `${counted(bindings.size, "recorded id")}, ${counted(created.size, "created object")}, ${counted(open.length, "create")} with an unknown outcome, ${counted(applied.size, "applied plan")}`;

async function editConfig(configFile: string, edit: Edit): Promise<void> {
  const text = await readFile(configFile, "utf8");
  const edited = editYaml(text, 0, [edit]);
  if (edited.refused.length > 0)
    throw new DimsyncError(
      "E_CONFIG_EDIT",
      `${configFile} could not be edited: ${edited.refused[0]?.why ?? "unknown reason"}. The store exists; add its settings to the target yourself.`,
    );
  await writeAtomic(configFile, edited.text);
}

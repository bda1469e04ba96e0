import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Project } from "../../manifests/project.ts";
import type { Address } from "../../model/address.ts";
import { DimsyncError } from "../../model/errors.ts";
import type { JsonObject } from "../../model/json/json.ts";
import { isLocal } from "../../model/settings/config.ts";
import type { Environment } from "../../model/settings/env.ts";
import { type Bundle, bundleOf, importBundle, isEmpty, parseBundle, sameRecords } from "../../records/bundle.ts";
import { writeAtomic } from "../../records/files/atomic.ts";
import type { Records } from "../../records/records.ts";
import { movedReason, movedTo } from "../../records/store-errors.ts";
import { counted } from "../../text/counts.ts";
import { editYaml } from "../../yaml/edit/edit.ts";
import { inlineYaml } from "../../yaml/print.ts";
import { openRecords } from "./open.ts";
import { type CreatedStore, parseStore, type StoreChoice, type StoreOwner, storeNamed } from "./stores.ts";

export interface NewStoreOptions {
  readonly env: Environment;
  /** As in `--to`. Default: the store that dimsync.yaml names, else git. */
  readonly to?: string | undefined;
  /** Whether dimsync.yaml stays as it is. */
  readonly keepConfig?: boolean;
}

/** A new store for the records of a target. */
export interface NewStore {
  readonly name: StoreChoice["store"];
  /** The member `records` of the target in dimsync.yaml; undefined: none. */
  readonly config: JsonObject | undefined;
  /** The file that names it now; undefined if it was not edited. */
  readonly file: string | undefined;
  readonly notes: readonly string[];
}

/** The records that a target has, and the store that dimsync.yaml names if it is still to be created. */
interface Opened {
  readonly project: Project;
  readonly owner: StoreOwner;
  readonly records: Records;
  readonly named: StoreChoice | undefined;
}

/** Whether the target names records in this store, or in any shared store if none is given. */
export const isThere = ({ settings: { records } }: Project, to: string | undefined): boolean =>
  records.store !== "unusable" && !isLocal(records) && (to === undefined || to === records.store);

/**
 * Creates an empty store, and names it in dimsync.yaml. Throws E_RECORDS_EXIST if the target has records, E_USAGE, E_CONFIG_EDIT, and as creating a
 * store does (stores.ts).
 */
export async function createRecords(project: Project, options: NewStoreOptions): Promise<NewStore> {
  const { settings } = project;
  const { named, isGone } = await namedStore(project, options.env);
  return withRecords({ project, env: options.env, named }, async (opened) => {
    if (!isLocal(settings.records) && named === undefined)
      throw new DimsyncError(
        "E_RECORDS_EXIST",
        `dimsync.yaml already names records for the target ${settings.target} (${opened.records.place}), with their id. To move them to another store:`,
        { command: "dimsync records migrate --to STORE" },
      );
    if (named !== undefined && options.to !== undefined)
      throw new DimsyncError(
        "E_USAGE",
        "dimsync.yaml names the store, so records init takes no --to. Remove `records` from the target, or leave out --to.",
      );
    const before = await bundleOf(opened.records, settings.target);
    if (!isEmpty(before))
      throw new DimsyncError(
        "E_RECORDS_EXIST",
        `The target ${settings.target} has records in ${opened.records.place}: ${summary(before)}. A new store would not know them. Move them instead:`,
        { command: named === undefined ? `dimsync records migrate --to ${options.to ?? "git"}` : "dimsync records migrate" },
      );
    const choice = named ?? parseStore(options.to, settings.target);
    const created = await storeNamed(choice.store).create(choice, opened.owner);
    const gone = isGone === undefined ? [] : [isGone];
    return nameStore(opened, choice, { ...created, notes: [...gone, ...created.notes] }, options);
  });
}

/**
 * Moves all records to another store under a lease, compares both, and closes the old store for good. Throws E_RECORDS_EXIST, E_RECORDS_BUNDLE, E_USAGE,
 * E_CONFIG_EDIT, and as creating a store does (stores.ts). `moved`: what, in words.
 */
export async function moveRecords(project: Project, options: NewStoreOptions): Promise<NewStore & { readonly moved: string }> {
  const { settings } = project;
  const named = settings.records.store === "unusable" ? settings.records.named : undefined;
  return withRecords({ project, env: options.env, named }, async (opened) => {
    if (options.to === undefined && named === undefined)
      throw new DimsyncError("E_USAGE", "records migrate needs --to: folder, git, git:REF or postgres.");
    const choice = options.to === undefined && named !== undefined ? named : parseStore(options.to, settings.target);
    if (isSameStore(choice, project))
      throw new DimsyncError(
        "E_USAGE",
        `The records of the target ${settings.target} are in this store already (${opened.records.place}).`,
      );
    const { records } = opened;
    const runId = randomUUID();
    await records.lock({ runId, reason: `dimsync records migrate is moving the records to ${choice.store}` });
    let isCopied = false;
    try {
      const created = await storeNamed(choice.store).create(choice, opened.owner);
      const target = await openRecords({ ...settings, records: created.settings }, options.env);
      try {
        const moved = await copyRecords(records, target, { target: settings.target, mayReplace: choice.store === "folder", runId });
        isCopied = true;
        const shown = created.config === undefined ? "no records" : `records: ${inlineYaml(created.config as never)}`;
        await records.lock({ runId, reason: movedReason(`${target.place} (${shown})`) });
        return { ...(await nameStore(opened, choice, created, options)), moved: summary(moved) };
      } finally {
        await target.close();
      }
    } catch (error) {
      // Afterwards there are two copies, and only one may be used.
      if (!isCopied) await records.unlock();
      throw error;
    }
  });
}

/** For `restoreRecords`. */
export const exportRecords = (project: Project, env: Environment): Promise<Bundle> =>
  withRecords({ project, env }, ({ records }) => bundleOf(records, project.settings.target));

export interface Export {
  readonly text: string;
  /** For messages. */
  readonly file: string;
  /** Whether the records of another target are restored. */
  readonly isForced: boolean;
}

/**
 * Restores an export into an empty store. Returns what, in words; undefined if the store has these records already. Throws E_RECORDS_BUNDLE and
 * E_RECORDS_EXIST.
 */
export async function restoreRecords(project: Project, { text, file, isForced }: Export, env: Environment): Promise<string | undefined> {
  const bundle = parseBundle(text, file);
  const { target } = project.settings;
  if (bundle.target !== target && !isForced)
    throw new DimsyncError(
      "E_RECORDS_BUNDLE",
      `${file} has the records of the target ${JSON.stringify(bundle.target)}, not of ${JSON.stringify(target)}. Ids of one account mean nothing in another. If the target was renamed, use --force.`,
    );
  return withRecords({ project, env }, async ({ records }) => {
    const before = await bundleOf(records, target);
    if (sameRecords(before, bundle)) return undefined;
    if (!isEmpty(before))
      throw new DimsyncError(
        "E_RECORDS_EXIST",
        `${records.place} has other records (${summary(before)}). Records are only restored into an empty store.`,
      );
    await importBundle(records, bundle, randomUUID());
    return summary(bundle);
  });
}

export interface CheckedRecords {
  readonly place: string;
  /** What there is, in words. */
  readonly records: string;
  /** Addresses whose create has an unknown outcome. */
  readonly open: readonly Address[];
  /** Addresses with an id that no manifest has. */
  readonly orphans: readonly Address[];
}

export async function checkRecords(project: Project, env: Environment): Promise<CheckedRecords> {
  return withRecords({ project, env }, async ({ records }) => {
    const bundle = await bundleOf(records, project.settings.target);
    const addresses = new Set(project.resources.map(({ address }) => address));
    return {
      place: records.place,
      records: summary(bundle),
      open: bundle.open.map(({ address }) => address),
      orphans: Object.keys(bundle.bindings).filter((address) => !addresses.has(address)),
    };
  });
}

interface RecordsOwner {
  readonly project: Project;
  readonly env: Environment;
  readonly named?: StoreChoice | undefined;
}

async function withRecords<T>({ project, env, named }: RecordsOwner, work: (opened: Opened) => Promise<T>): Promise<T> {
  const { settings } = project;
  // Until the named store exists, records are files.
  const records = await openRecords(named === undefined ? settings : { ...settings, records: { store: "folder" } }, env);
  try {
    return await work({ project, owner: { settings, env }, records, named });
  } finally {
    await records.close();
  }
}

/** The store that dimsync.yaml names, if it is to be created: it has no id, or it is gone. */
async function namedStore(
  { settings }: Project,
  env: Environment,
): Promise<{ readonly named?: StoreChoice | undefined; readonly isGone?: string }> {
  const { records } = settings;
  if (records.store === "unusable") return { named: records.named };
  if (isLocal(records)) return {};
  const opened = await openRecords(settings, env);
  try {
    await opened.read();
    return {};
  } catch (error) {
    if (!(error instanceof DimsyncError) || error.code !== "E_RECORDS_GONE") throw error;
    const isGone = `The store with the id ${records.id} is not there. The new one is empty: if dimsync has created objects in this account, run records restore with an export before the next apply.`;
    return { named: records, isGone };
  } finally {
    await opened.close();
  }
}

const isSameStore = (choice: StoreChoice, { settings: { records } }: Project): boolean =>
  choice.store === records.store && !(choice.store === "git" && records.store === "git" && choice.ref !== records.ref);

interface CopyOptions {
  readonly target: string;
  readonly runId: string;
  /** Whether other records there are replaced. */
  readonly mayReplace: boolean;
}

/** Copies the records, and returns them when both stores have the same. */
async function copyRecords(from: Records, to: Records, { target, runId, mayReplace }: CopyOptions): Promise<Bundle> {
  // By an earlier migration out of this store.
  if (movedTo((await to.lease())?.reason) !== undefined) await to.unlock();
  const before = await bundleOf(from, target);
  const found = await bundleOf(to, target);
  if (!sameRecords(before, found)) {
    if (!isEmpty(found) && !mayReplace)
      throw new DimsyncError("E_RECORDS_EXIST", `The new store has other records (${summary(found)}), so nothing was moved.`);
    await importBundle(to, before, runId);
  }
  const after = await bundleOf(to, target);
  if (!sameRecords(before, after))
    throw new DimsyncError(
      "E_RECORDS_BUNDLE",
      `The new store does not contain the same records (before: ${summary(before)}; after: ${summary(after)}). dimsync.yaml was not changed.`,
    );
  return before;
}

/** Names the new store in dimsync.yaml. */
async function nameStore(
  { project: { settings, configFile }, named }: Opened,
  choice: StoreChoice,
  { settings: records, config, notes }: CreatedStore,
  { keepConfig = false }: NewStoreOptions,
): Promise<NewStore> {
  const file = keepConfig ? undefined : configFile;
  if (file !== undefined && choice === named && "id" in records)
    await writeRecordsId(file, settings.target, { store: choice.store, id: records.id });
  else if (file !== undefined) await writeRecordsConfig(file, settings.target, config);
  return { name: choice.store, config, file, notes };
}

const summary = ({ bindings, open, applied }: Bundle): string =>
  `${counted(Object.keys(bindings).length, "recorded id")}, ${counted(open.length, "create")} with an unknown outcome, ${counted(applied.length, "applied plan")}`;

/** Writes `records` of the target into dimsync.yaml; comments and order stay. Throws E_CONFIG_EDIT (exit 1) if the file cannot be edited. */
const writeRecordsConfig = (configFile: string, target: string, records: JsonObject | undefined): Promise<void> =>
  editConfig(
    configFile,
    records === undefined
      ? { type: "members", path: ["targets", target], removed: new Set(["records"]), added: new Map(), before: new Map() }
      : { type: "set", path: ["targets", target, "records"], value: records as never },
  );

/** Like `writeRecordsConfig`, for the id of the store that dimsync.yaml names already. */
const writeRecordsId = (
  configFile: string,
  target: string,
  { store, id }: { readonly store: string; readonly id: string },
): Promise<void> => editConfig(configFile, { type: "set", path: ["targets", target, "records", store, "id"], value: id });

async function editConfig(configFile: string, edit: Parameters<typeof editYaml>[2][number]): Promise<void> {
  const text = await readFile(configFile, "utf8");
  const edited = editYaml(text, 0, [edit]);
  if (edited.refused.length > 0)
    throw new DimsyncError(
      "E_CONFIG_EDIT",
      `${configFile} could not be edited: ${edited.refused[0]?.why ?? "unknown reason"}. The store exists; add its settings to the target yourself.`,
    );
  await writeAtomic(configFile, edited.text);
}

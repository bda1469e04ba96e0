import { randomUUID } from "node:crypto";
import { mkdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { loadProject, type Project } from "../../../core/manifests/project.ts";
import { DimsyncError } from "../../../core/model/errors.ts";
import { allowedHostsVariable } from "../../../core/model/settings/allowed-hosts.ts";
import { allowPathVariable, type Environment } from "../../../core/model/settings/env.ts";
import type { Database } from "../../../core/records/postgres/connection.ts";
import { rowsOf } from "../database/rows.ts";
import { type BundleContent, checkPacked, mostPackedBytes, unpack } from "./bundle.ts";
import { forRun, keptCharacters, loadingEnvironment, type RecentlyUsed, recentlyUsed, withoutTexts } from "./kept-project.ts";
import { checkPlaces } from "./make-bundle.ts";

export interface BundleLoader {
  readonly database: Database;
  /** Absolute: copies of bundles, and what records keep on this machine. */
  readonly stateFolder: string;
  /** Whether the database is the embedded one: bundles then name the project's folder on this machine. */
  readonly isLocal: boolean;
  /** Of the worker, which decides which hosts get a key. */
  readonly env: Environment;
}

interface BundledTarget {
  readonly account: number;
  readonly digest: string;
  readonly target: string;
  readonly signal: AbortSignal;
}

/** What is needed of a bundle whose files are on this machine. */
interface UnpackedBundle {
  /** Absolute: of its files, which never change. */
  readonly folder: string;
  readonly content: Omit<BundleContent, "files">;
  /** Characters of each file, by absolute path. */
  readonly lengths: ReadonlyMap<string, number>;
}

const keptBundles = 1_000;

/**
 * Loads the projects of accounts as they were pushed, and keeps those that were used last: they contain
 * references to secrets, not their values. Throws E_BUNDLE, ProblemsError, and what loading throws.
 */
export function bundleProjects(loader: BundleLoader, keep = keptCharacters): (bundled: BundledTarget) => Promise<Project> {
  const bundles = recentlyUsed<UnpackedBundle>(keptBundles);
  // Each retry would unpack them again.
  const refused = recentlyUsed<DimsyncError>(keptBundles);
  const projects = recentlyUsed<Project>(keep);
  const unpacked = async (digest: string): Promise<UnpackedBundle> => {
    const kept = bundles.get(digest);
    if (kept !== undefined && (await exists(kept.folder))) return kept;
    const { files, ...content } = await readContent(loader, digest, refused);
    const folder = await materialise(loader.stateFolder, digest, files);
    const lengths = new Map(Object.entries(files).map(([path, text]) => [resolve(folder, path), text.length]));
    const bundle = { folder, content, lengths };
    bundles.set(digest, bundle, 1);
    return bundle;
  };
  return async ({ account, digest, target, signal }) => {
    const bundle = await unpacked(digest);
    const key = `${digest} ${target}`;
    let project = projects.get(key);
    if (project === undefined) {
      project = await load(bundle, { target, signal, env: loader.env });
      checkPlaces(project, loader.isLocal);
      projects.set(key, project, sizeOf(project, bundle));
    }
    const { folder, content } = bundle;
    const ready = forRun(project, { cwd: folder, env: content.env ?? {} });
    return placed(ready, bundle, join(loader.stateFolder, "accounts", String(account)));
  };
}

async function load(
  { folder, content }: UnpackedBundle,
  { target, signal, env: own }: { readonly target: string; readonly signal: AbortSignal; readonly env: Environment },
): Promise<Project> {
  const { configFile, vars = {}, varFiles = [], env = {}, commit, dirty = false } = content;
  // Files that dbt writes are not in a bundle.
  const project = await loadProject({
    cwd: folder,
    top: folder,
    configFile: join(folder, configFile),
    target,
    vars,
    signal,
    needsAccount: true,
    // Whoever pushes decides what is in the environment of a bundle.
    env: { ...loadingEnvironment(env), [allowedHostsVariable]: own[allowedHostsVariable], [allowPathVariable]: undefined },
    varFiles: varFiles.map((file) => join(folder, file)),
  });
  return withoutTexts(project, commit === undefined ? undefined : { commit, dirty });
}

/** Characters of the files of the target, without the config, which all targets share. */
const sizeOf = ({ sourceFiles, configFile }: Project, { lengths }: UnpackedBundle): number =>
  sourceFiles.files.reduce((sum, file) => sum + (file === configFile ? 0 : (lengths.get(file) ?? 0)), 0);

const exists = async (folder: string): Promise<boolean> => (await stat(folder).catch(() => undefined)) !== undefined;

/** Throws E_BUNDLE if the bundle is missing, or is not what push stores. `refused`: by the digest of the packed content. */
async function readContent(
  { database, isLocal }: BundleLoader,
  digest: string,
  refused: RecentlyUsed<DimsyncError>,
): Promise<BundleContent> {
  const [row] = await rowsOf<{ readonly bytes: number; readonly sum: string }>(
    database,
    "select octet_length(content) as bytes, encode(sha256(content), 'hex') as sum from dimsync_controller.bundle where digest = $1",
    [digest],
  );
  if (row === undefined)
    throw new DimsyncError("E_BUNDLE", `The bundle ${digest} is not in the controller's database. Push the project again.`);
  checkPacked(Number(row.bytes));
  const before = refused.get(`${digest} ${row.sum}`);
  if (before !== undefined) throw before;
  const [stored] = await rowsOf<{ readonly content: string }>(
    database,
    "select encode(content, 'base64') as content from dimsync_controller.bundle where digest = $1 and octet_length(content) <= $2",
    [digest, mostPackedBytes],
  );
  try {
    return unpack(Buffer.from(stored?.content ?? "", "base64"), digest, isLocal);
  } catch (error) {
    if (error instanceof DimsyncError) refused.set(`${digest} ${row.sum}`, error, 1);
    throw error;
  }
}

/** Writes the files of the bundle into a private folder, once, and returns it. */
async function materialise(stateFolder: string, digest: string, files: BundleContent["files"]): Promise<string> {
  const folder = join(stateFolder, "bundles", digest.replace("sha256:", "").slice(0, 40));
  if (await exists(folder)) return folder;
  const temporary = `${folder}.${randomUUID()}`;
  try {
    for (const [path, text] of Object.entries(files)) {
      const file = resolve(temporary, path);
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      await writeFile(file, text, { mode: 0o600 });
    }
    await rename(temporary, folder);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    // Another run of this worker was faster.
    if (await exists(folder)) return folder;
    throw error;
  }
  return folder;
}

/**
 * The bundle's files are only read. Records have one home: the database, or with the embedded database the folder that was
 * pushed (`local`), which applies by hand use too. `own`: for what the records of this account keep on this machine.
 */
async function placed(project: Project, { folder, content }: UnpackedBundle, own: string): Promise<Project> {
  const { folder: local } = content;
  const home = local ?? own;
  if (local === undefined) await mkdir(own, { recursive: true, mode: 0o700 });
  else if ((await stat(local).catch(() => undefined))?.isDirectory() !== true)
    throw new DimsyncError(
      "E_BUNDLE",
      `The project was pushed from ${local}, which no longer exists, and its records are there. Push the project again from its new folder.`,
    );
  const { settings } = project;
  return {
    ...project,
    settings: {
      ...settings,
      folder: home,
      isBundle: local === undefined,
      bindingsFile: resolve(home, relative(folder, settings.bindingsFile)),
    },
  };
}

import { type FSWatcher, statSync, watch } from "node:fs";
import { hostname } from "node:os";
import { dirname, join, resolve } from "node:path";
import { gitText } from "../../../core/git/process.ts";
import { findConfig } from "../../../core/manifests/config/file.ts";
import { listTargets, loadProject, type Project } from "../../../core/manifests/project.ts";
import { DimsyncError } from "../../../core/model/errors.ts";
import type { Environment } from "../../../core/model/settings/env.ts";
import { projectGitState } from "../../../core/operations/session.ts";
import { forRun, keptCharacters, loadingEnvironment, recentlyUsed, withoutTexts } from "./kept-project.ts";
import { accountEntries, sourceNotifications, type Wanted } from "./register.ts";

/** The project in a folder, whose files can change. */
export interface WatchedProject {
  /** Identifies the folder among all workers. */
  readonly source: string;
  /** The targets under control, and where their events are sent. Throws ProblemsError if the config cannot be used. */
  readonly wanted: () => Promise<Wanted>;
  /** Loads it again only if its files have changed since it was loaded, or if they are not watched. */
  readonly load: (target: string, signal: AbortSignal) => Promise<Project>;
  /** Calls `onChange` some time after the last of a series of changes. */
  readonly watch: (onChange: () => void) => () => void;
}

interface WatchOptions {
  readonly cwd: string;
  readonly configFile?: string | undefined;
  readonly env: Environment;
}

/** The files of a commit or of an editor change one after the other. */
const settleMs = 300;

/** Throws E_USAGE if there is no config. */
export function watchedProject({ cwd, configFile, env: all }: WatchOptions): WatchedProject {
  const env = loadingEnvironment(all);
  const options = { cwd, configFile, env };
  const config = findConfig(options);
  if (config === undefined)
    throw new DimsyncError("E_USAGE", "--watch uses the project in the working directory, and there is no dimsync.yaml in it or above it.");
  const folder = dirname(resolve(cwd, config));
  const load = (target: string, signal?: AbortSignal): Promise<Project> => loadProject({ ...options, target, signal });
  // While nothing watches, nothing is kept.
  let changes: number | undefined;
  const source = `${hostname()}:${folder}`;
  return {
    source,
    load: keepUnchanged(load, { cwd, env, folder }, () => changes),
    async wanted() {
      const projects = await Promise.all((await listTargets(options)).map((target) => load(target)));
      const accounts = accountEntries(projects);
      return { source, accounts, notifications: sourceNotifications(projects[0]?.settings, true) };
    },
    watch(onChange) {
      let timer: NodeJS.Timeout | undefined;
      changes = 0;
      const watcher: FSWatcher = watch(folder, { recursive: true }, (_, file) => {
        if (file !== null && isWritten(file)) return;
        if (changes !== undefined) changes++;
        if (file !== null && !isSource(file)) return;
        clearTimeout(timer);
        timer = setTimeout(onChange, settleMs);
      });
      // A folder that disappears is reported by the next check.
      watcher.on("error", () => {
        changes = undefined;
      });
      return () => {
        changes = undefined;
        clearTimeout(timer);
        watcher.close();
      };
    },
  };
}

/** Whether a run, git or npm writes the file: a check must not cause the next one. */
const isWritten = (file: string): boolean => /(?:^|[/\\])(?:\.dimsync|\.git|node_modules)(?:[/\\]|$)|\.bindings\.yaml$/u.test(file);

/** Manifests, labels, and programs that secrets name. */
const isSource = (file: string): boolean => /\.(?:ya?ml|[cm]?js|csv)$/u.test(file);

/** Loads the project of a target again only if its files, or the git state, have changed since it was loaded. `changes`: how many were seen; undefined if nothing watches. */
function keepUnchanged(
  load: WatchedProject["load"],
  loadedWith: { readonly cwd: string; readonly env: Environment; readonly folder: string },
  changes: () => number | undefined,
): WatchedProject["load"] {
  const kept = recentlyUsed<KeptProject>(keptCharacters);
  return async (target, signal) => {
    const found = kept.get(target);
    if (found !== undefined && found.changes === changes() && found.stamp === stampOf(found.paths))
      return forRun(found.project, loadedWith);
    const before = changes();
    const project = await load(target, signal);
    if (before === undefined) return project;
    const [git, gitFiles] = await Promise.all([projectGitState(project, signal), gitStateFiles(loadedWith)]);
    const sources = project.sourceFiles.files;
    // Adding or removing a file changes its folder.
    const paths = [...new Set([...sources, ...sources.map((path) => dirname(path)), ...project.dbtFiles, ...gitFiles])];
    kept.set(target, { project: withoutTexts(project, git), changes: before, paths, stamp: stampOf(paths) }, sizeOf(sources));
    return { ...project, recordedGit: { state: git } };
  };
}

interface KeptProject {
  readonly project: Project;
  /** How many changes had been seen before it was loaded. */
  readonly changes: number;
  /** What it was made from, and its state at that time: events can be lost. */
  readonly paths: readonly string[];
  readonly stamp: string;
}

function stampOf(paths: readonly string[]): string {
  return paths
    .map((path) => {
      const found = statSync(path, { throwIfNoEntry: false });
      return found === undefined ? "" : `${found.ino} ${found.size} ${found.mtimeMs}`;
    })
    .join("\n");
}

const sizeOf = (files: readonly string[]): number =>
  files.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0);

/** The files that git changes with the commit or the index; none outside a repository. */
async function gitStateFiles({ folder, env }: { readonly folder: string; readonly env: Environment }): Promise<readonly string[]> {
  const gitFolder = await gitText({ folder, env }, ["rev-parse", "--absolute-git-dir"], { timeoutMs: 5_000 }).catch(() => undefined);
  return gitFolder === undefined ? [] : ["HEAD", "index", "logs/HEAD"].map((name) => join(gitFolder, name));
}

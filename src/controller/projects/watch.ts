import { type FSWatcher, watch } from "node:fs";
import { hostname } from "node:os";
import { dirname, resolve } from "node:path";
import { findConfig } from "../../manifests/config/file.ts";
import { listTargets, loadProject, type Project } from "../../manifests/project.ts";
import { DimsyncError } from "../../model/errors.ts";
import type { Environment } from "../../model/settings/env.ts";
import { keepUnchanged } from "./keep-unchanged.ts";
import { loadingEnvironment } from "./kept-project.ts";
import { accountEntry, sourceNotifications, type Wanted } from "./register.ts";

/** The project in a folder, whose files can change. */
export interface WatchedProject {
  /** Identifies the folder among all workers. */
  readonly source: string;
  /** Absolute path of the folder with the config. */
  readonly folder: string;
  /** The targets under control, and where their events are sent. Throws ProblemsError if the config cannot be used. */
  readonly wanted: () => Promise<Wanted>;
  /** Loads it again only if its files have changed since it was loaded, or if they are not watched. */
  readonly load: (target: string, signal: AbortSignal) => Promise<Project>;
  /** Calls `onChange` some time after the last of a series of changes. */
  readonly watch: (onChange: () => void) => () => void;
}

export interface WatchOptions {
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
  // Undefined while nothing watches: then nothing is kept.
  let changes: number | undefined;
  const source = `${hostname()}:${folder}`;
  return {
    source,
    folder,
    load: keepUnchanged(load, { ...options, folder, changes: () => changes }),
    async wanted() {
      const projects = await Promise.all((await listTargets(options)).map((target) => load(target)));
      const accounts = projects.flatMap(({ settings }) => accountEntry(settings) ?? []);
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

/** Manifests, policy modules and labels. */
const isSource = (file: string): boolean => /\.(?:ya?ml|[cm]?js|csv)$/u.test(file);

import { yamlParser } from "../../../core/manifests/config/options.ts";
import { makeLocate } from "../../../core/manifests/locate.ts";
import type { Project } from "../../../core/manifests/project.ts";
import type { Environment } from "../../../core/model/settings/env.ts";

/** About 60 MiB of memory: a loaded project needs at most two bytes for each character of its manifests. */
export const keptCharacters = 32 * 2 ** 20;

/** The project without references to the texts of its files, so that it can be kept, and with the current git state. */
export const withoutTexts = (project: Project, git: NonNullable<Project["recordedGit"]>["state"]): Project => ({
  ...project,
  locate: ({ file }) => ({ file }),
  recordedGit: { state: git },
  sourceFiles: { files: project.sourceFiles.files, covers: () => false },
});

/**
 * The kept project for one run. It reads the files again if the run reports problems or differences: their
 * positions take more memory than the project. `cwd` and `env`: those that it was loaded with.
 */
export const forRun = (project: Project, { cwd, env }: { readonly cwd: string; readonly env: Environment }): Project => ({
  ...project,
  locate: makeLocate(cwd, () => undefined, { parser: yamlParser(env) }),
});

/** Variables that would override the config of every target. */
const overrides = ["DIMSYNC_BASE_URL", "DIMSYNC_API_KEY", "DIMSYNC_API_KEY_FILE", "DIMSYNC_TARGET", "DIMSYNC_CONFIG"] as const;

/**
 * The environment for loading projects. One controller has many accounts, so each names its own base URL
 * and key; `apiKey: { $secret: { env: DIMSYNC_API_KEY } }` still works, because secrets are read later.
 */
export function loadingEnvironment(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !(overrides as readonly string[]).includes(name)));
}

export type RecentlyUsed<T> = ReturnType<typeof recentlyUsed<T>>;

/** Values by key, up to a total size: the least recently used ones are removed first. A value that alone exceeds it is not kept. */
export function recentlyUsed<T>(maxSize: number) {
  // A Map iterates in the order of insertion, so the first entry is the one to remove.
  const entries = new Map<string, { readonly value: T; readonly size: number }>();
  let total = 0;
  const remove = (key: string): void => {
    total -= entries.get(key)?.size ?? 0;
    entries.delete(key);
  };
  return {
    get(key: string): T | undefined {
      const found = entries.get(key);
      if (found === undefined) return undefined;
      entries.delete(key);
      entries.set(key, found);
      return found.value;
    },
    set(key: string, value: T, size: number): void {
      remove(key);
      if (size > maxSize) return;
      entries.set(key, { value, size });
      total += size;
      for (const oldest of entries.keys()) {
        if (total <= maxSize) return;
        remove(oldest);
      }
    },
  };
}

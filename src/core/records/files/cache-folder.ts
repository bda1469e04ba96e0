import { existsSync, lstatSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

/** The user's folder for caches of records: created if it does not exist, and undefined if anyone but its owner could change what is in it. */
function cacheFolder(env: Environment): string | undefined {
  const { HOME, XDG_CACHE_HOME, LOCALAPPDATA } = env;
  const isWindows = process.platform === "win32";
  const caches = (isWindows ? [LOCALAPPDATA ?? ""] : [XDG_CACHE_HOME ?? "", join(HOME ?? "", ".cache")]).find(isAbsolute);
  if (caches === undefined) return undefined;
  const folder = join(caches, "dimsync", "records");
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    // On Windows, a folder of the user is private through its access control list. Elsewhere, whoever can write a folder above could
    // replace this one.
    return isWindows || [folder, dirname(folder), caches].every(isPrivate) ? folder : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The folder for clones of records, which can be deleted at any time: in RUNNER_TEMP of a CI job, else the folder for caches, else one in the
 * system's folder for temporary files. Throws what Node's calls throw, and an Error if it belongs to someone else.
 */
export function recordsFolder(env: Environment): string {
  const { RUNNER_TEMP: job = "" } = env;
  const ofJob = isAbsolute(job) && existsSync(job) ? join(job, "dimsync", "records") : undefined;
  const folder = ofJob ?? cacheFolder(env) ?? join(tmpdir(), `dimsync-${process.getuid?.() ?? "user"}-records`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (process.platform === "win32" || isPrivate(folder)) return folder;
  throw new Error(`${folder} belongs to another user, or others can write it. Remove it, or set XDG_CACHE_HOME to a folder of your own.`);
}

/** Whether it is a folder, not a link to one, that belongs to the user and that only the user can write. */
function isPrivate(folder: string): boolean {
  const stats = lstatSync(folder);
  return stats.isDirectory() && stats.uid === process.getuid?.() && (stats.mode & 0o022) === 0;
}

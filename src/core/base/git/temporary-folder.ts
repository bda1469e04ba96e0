import { lstat, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const aDayMs = 86_400_000;

/**
 * A new folder that only this user can read; the caller removes it. Removes those of the same kind that
 * killed processes left more than a day ago.
 */
export async function temporaryFolder(kind: string): Promise<string> {
  const prefix = `dimsync-${kind}-`;
  await removeAbandoned(tmpdir(), prefix, aDayMs);
  return await mkdtemp(join(tmpdir(), prefix));
}

/** Removes this user's folders in `parent` whose names begin with the prefix, if nothing in them was added or removed for so long. Never throws. */
export async function removeAbandoned(parent: string, prefix: string, afterMs: number): Promise<void> {
  const names = await readdir(parent).catch(() => []);
  for (const name of names.filter((each) => each.startsWith(prefix))) {
    const folder = join(parent, name);
    const found = await lstat(folder).catch(() => undefined);
    // Anyone can create files in the system's temporary folder.
    if (found?.isDirectory() !== true || found.uid !== (process.getuid?.() ?? found.uid)) continue;
    if (Date.now() - found.mtimeMs > afterMs) await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}

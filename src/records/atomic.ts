import { randomBytes } from "node:crypto";
import type { Stats } from "node:fs";
import { type FileHandle, open, realpath, rename, stat, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isErrno } from "./fs-errors.ts";

// Not the package write-file-atomic: on a full disk it takes a short write for a whole one, renames the cut file over the good one and reports success.

/**
 * Writes a whole file so that a reader, or a kill at any moment, finds the old text or the new one: temporary file, fsync, rename, fsync of the folder.
 * A symbolic link is followed, mode and owner of an existing file are kept where `mode` is absent. What is no regular file (a pipe, `/dev/stdout`)
 * is simply written to. The temporary file lies beside the target, or in `tempFolder` where that is on the same file system. Throws what Node's calls
 * throw.
 */
export async function writeAtomic(
  file: string,
  content: string | Uint8Array,
  options: { readonly mode?: number; readonly tempFolder?: string } = {},
): Promise<void> {
  const existing = await stat(file).catch(unlessMissing);
  if (existing !== undefined && (!existing.isFile() || file.startsWith("/dev/"))) return await writeThrough(file, content);

  const target = existing === undefined ? file : await realpath(file);
  const beside = dirname(target);
  const replaceFrom = async (folder: string): Promise<void> => {
    const temp = join(folder, `${basename(target).slice(0, 100)}.${randomBytes(6).toString("hex")}.tmp`);
    try {
      await writeTemp(temp, content, existing, options.mode);
      await rename(temp, target);
    } catch (error) {
      await unlink(temp).catch(() => undefined);
      throw error;
    }
  };
  await replaceFrom(options.tempFolder ?? beside).catch((error: unknown) => {
    if (!isErrno(error, "EXDEV")) throw error;
    return replaceFrom(beside);
  });
  await syncFolder(beside);
}

/** Makes a new or renamed name in the folder survive a power cut. File systems that can't sync a folder are let be. */
export async function syncFolder(folder: string): Promise<void> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(folder, "r");
    await handle.sync();
  } catch (error) {
    if (!isErrno(error, "EINVAL", "EPERM", "EACCES", "EISDIR", "ENOTSUP")) throw error;
  } finally {
    await handle?.close();
  }
}

async function writeTemp(temp: string, content: string | Uint8Array, existing: Stats | undefined, mode: number | undefined): Promise<void> {
  const finalMode = mode ?? (existing === undefined ? undefined : existing.mode & 0o7777);
  const handle = await open(temp, "wx", finalMode ?? 0o666);
  try {
    await handle.writeFile(content);
    // Only root may give a file away; for everyone else the file becomes theirs, as with any editor.
    if (existing !== undefined) await handle.chown(existing.uid, existing.gid).catch(() => undefined);
    // The mode given to `open` is narrowed by the umask.
    if (finalMode !== undefined) await handle.chmod(finalMode);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function writeThrough(file: string, content: string | Uint8Array): Promise<void> {
  const handle = await open(file, "a");
  try {
    await handle.writeFile(content);
  } finally {
    await handle.close();
  }
}

function unlessMissing(error: unknown): undefined {
  if (!isErrno(error, "ENOENT")) throw error;
}

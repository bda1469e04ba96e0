import { randomBytes } from "node:crypto";
import { fsync, type Stats } from "node:fs";
import { type FileHandle, open, realpath, rename, stat, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { isDevice } from "../../base/text/paths.ts";

// Not the package write-file-atomic: on a full disk it treats a short write as complete, renames the
// truncated file over the good one and reports success.

/** What a file is to contain; as a list, its pieces in order. */
type FileContent = string | Uint8Array | Iterable<string>;

interface AtomicOptions {
  readonly mode?: number;
  readonly newMode?: number;
  readonly tempFolder?: string;
  /** Called immediately before the new content takes the place of the old; throws to keep that. */
  readonly beforeRename?: () => void;
}

/**
 * Writes a whole file: temporary file, fsync, rename, fsync of the folder. A reader finds the old or the
 * new content, even after a kill at any moment. Follows a symbolic link, and keeps mode and owner of an
 * existing file unless `mode` is set; `newMode` is for a new file only. Anything but a regular file (a pipe, `/dev/stdout`) is written
 * directly. The temporary file is beside the target, or in `tempFolder` if that is on the same file
 * system. Throws what Node's calls throw.
 */
export async function writeAtomic(file: string, content: FileContent, options: AtomicOptions = {}): Promise<void> {
  const existing = await stat(file).catch(unlessMissing);
  if (existing !== undefined && (!existing.isFile() || isDevice(file))) return await writeThrough(file, content);

  const target = existing === undefined ? file : await realpath(file);
  const beside = dirname(target);
  const replaceFrom = async (folder: string): Promise<void> => {
    const temp = join(folder, `${basename(target).slice(0, 100)}.${randomBytes(6).toString("hex")}.tmp`);
    try {
      await writeTemp(temp, content, existing, options.mode ?? (existing === undefined ? options.newMode : undefined));
      options.beforeRename?.();
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

/** Makes a new or renamed entry of the folder survive a power cut. Ignores file systems that cannot sync a folder. */
export async function syncFolder(folder: string): Promise<void> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(folder, "r");
    await syncFile(handle);
  } catch (error) {
    if (!isErrno(error, "EINVAL", "EPERM", "EACCES", "EISDIR", "ENOTSUP")) throw error;
  } finally {
    await handle?.close();
  }
}

async function writeTemp(temp: string, content: FileContent, existing: Stats | undefined, mode: number | undefined): Promise<void> {
  const finalMode = mode ?? (existing === undefined ? undefined : existing.mode & 0o7777);
  const handle = await open(temp, "wx", finalMode ?? 0o666);
  try {
    await writePieces(handle, content);
    // Only root may change the owner. For other users the file becomes theirs, as with any editor.
    if (existing !== undefined) await handle.chown(existing.uid, existing.gid).catch(() => undefined);
    // The umask restricts the mode of `open`.
    if (finalMode !== undefined) await handle.chmod(finalMode);
    await syncFile(handle);
  } finally {
    await handle.close();
  }
}

const fsyncDescriptor = promisify(fsync);

/** Returns when what was written is on disk. The handles of Yarn Plug'n'Play have no `sync`. */
export const syncFile = ({ fd }: Pick<FileHandle, "fd">): Promise<void> => fsyncDescriptor(fd);

/** One by one: the handles of Yarn Plug'n'Play write no iterables. */
async function writePieces(handle: FileHandle, content: FileContent): Promise<void> {
  if (typeof content === "string" || content instanceof Uint8Array) return await handle.writeFile(content);
  for (const piece of content) await handle.writeFile(piece);
}

async function writeThrough(file: string, content: FileContent): Promise<void> {
  const handle = await open(file, "a");
  try {
    await writePieces(handle, content);
  } finally {
    await handle.close();
  }
}

/** Whether it is a failed system call with one of the codes ("ENOENT"), or with any code. */
export function isErrno(error: unknown, ...codes: readonly string[]): error is NodeJS.ErrnoException {
  return error instanceof Error && "code" in error && typeof error.code === "string" && (codes.length === 0 || codes.includes(error.code));
}

/**
 * The reason of a failed system call for a message: "ENOSPC: no space left on device", without the
 * call and its path.
 */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.replace(/, [a-z]+(?: .*)?$/su, "") : "unknown reason";
}

/** For a rejection: undefined if the file does not exist. Throws any other error. */
export function unlessMissing(error: unknown): undefined {
  if (!isErrno(error, "ENOENT")) throw error;
}

import { randomBytes } from "node:crypto";
import { constants, copyFile, link, lstat, open, readFile, rename, unlink, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { isObject, own } from "../../base/model/json/json.ts";
import { parseJson } from "../../base/model/json/parse.ts";
import { spread } from "../../base/model/runtime/clock.ts";
import { type HolderProcess, hasEnded, isRunning, thisHolder, toHolder } from "../process-identity.ts";
import { isErrno, unlessMissing } from "./atomic.ts";

// A lock is a file that contains a token of its owner. It is created whole (temporary file, then a
// hard link, which fails if the name exists), so a kill leaves no half-written lock.
//
// Taking over a stale lock: "check that it is stale, remove it, create a new one" lets two
// processes succeed, because the second one may remove the lock that the first one has just
// created. So a process that replaces or removes the lock with token T holds `FILE.T.guard`
// meanwhile, and checks under the guard that the lock still has T. The guard is a lock of the same
// form: if a killed process left one behind, it is taken over in the same way, with a guard for its
// token. Tokens are never reused, so this ends.

/** Who holds a lock, as written into its file. */
interface LockOwner extends HolderProcess {
  /** Different for any two acquisitions. */
  readonly token: string;
  /** ISO 8601, refreshed while the lock is held. */
  readonly heartbeat: string;
}

/** This process as the owner of a new lock. */
export const newOwner = (): LockOwner => ({
  token: randomBytes(8).toString("hex"),
  ...thisHolder(),
  heartbeat: new Date().toISOString(),
});

/** The owner in a lock file; undefined if the text is not one. */
function parseOwner(text: string): LockOwner | undefined {
  try {
    const value = parseJson(text);
    const process = toHolder(value);
    const [token, heartbeat] = isObject(value) ? [own(value, "token"), own(value, "heartbeat")] : [];
    if (process === undefined || typeof token !== "string" || typeof heartbeat !== "string") return undefined;
    // The token becomes part of a file name.
    return /^[0-9a-f]+$/u.test(token) && !Number.isNaN(Date.parse(heartbeat)) ? { ...process, token, heartbeat } : undefined;
  } catch {
    return undefined;
  }
}

interface FileLock {
  /** Writes a heartbeat; false if another process has the lock now. */
  readonly beat: () => Promise<boolean>;
  /** Removes the lock, unless another process has it now. */
  readonly release: () => Promise<void>;
}

interface LockWait {
  /** How long to try, in milliseconds; 0 tries once. */
  readonly waitMs: number;
  /** A heartbeat older than this, in milliseconds, makes a lock stale. */
  readonly ttlMs: number;
  /**
   * Whether that also holds for a process of this machine that runs, such as one that was stopped: only if it checks again that it has the lock
   * before it changes anything.
   */
  readonly expiresWhileRunning: boolean;
}

const pollMs = 100;

/**
 * Takes the lock `file`, whose folder must exist, or returns its holder when the time is over.
 * Throws what Node's calls throw.
 */
export async function takeFileLock(file: string, wait: LockWait): Promise<FileLock | { readonly heldBy: LockOwner | undefined }> {
  const deadline = Date.now() + wait.waitMs;
  const owner = newOwner();
  for (;;) {
    if (await create(file, owner)) return holding(file, owner);
    const held = await inspect(file, wait.ttlMs);
    if (held === undefined) continue;
    const isKept = !wait.expiresWhileRunning && held.owner !== undefined && isRunning(held.owner);
    if (held.isStale && !isKept && (await replace(file, held.token, owner, wait.ttlMs))) return holding(file, owner);
    const leftMs = deadline - Date.now();
    if (leftMs <= 0) return { heldBy: held.owner };
    await sleep(Math.min(leftMs, spread(pollMs)));
  }
}

/**
 * Runs `work` while holding `file`: short work of milliseconds that several processes do. Throws an
 * Error if the lock can't be taken.
 */
export async function withFileLock<T>(file: string, work: () => Promise<T>): Promise<T> {
  const lock = await takeFileLock(file, { waitMs: 20_000, ttlMs: 60_000, expiresWhileRunning: true });
  if ("heldBy" in lock)
    throw new Error(
      `${file} is held by ${lock.heldBy === undefined ? "another process" : `process ${lock.heldBy.pid} on ${lock.heldBy.host}`}`,
    );
  try {
    return await work();
  } finally {
    // The work is done. If the lock can't be removed, it is taken over once this process has ended.
    await lock.release().catch(() => undefined);
  }
}

function holding(file: string, owner: LockOwner): FileLock {
  return {
    async beat() {
      // Opened before it is compared: the write goes to the compared file, even if another file
      // gets its name meanwhile.
      const handle = await open(file, "r+").catch(unlessMissing);
      try {
        if (handle === undefined || parseOwner(await handle.readFile("utf8"))?.token !== owner.token) return false;
        // The new text is as long as the old one, so that a reader sees a complete record.
        await handle.write(toText({ ...owner, heartbeat: new Date().toISOString() }), 0);
        return true;
      } finally {
        await handle?.close();
      }
    },
    async release() {
      await guarded(file, owner.token, 60_000, () => unlink(file));
    },
  };
}

/** False if the name exists. */
async function create(file: string, owner: LockOwner): Promise<boolean> {
  const temp = await writeTemp(file, owner);
  try {
    await link(temp, file).catch((error: unknown) => {
      // Not every file system has hard links.
      if (!isErrno(error, "EPERM", "ENOTSUP", "ENOSYS", "EOPNOTSUPP")) throw error;
      return copyFile(temp, file, constants.COPYFILE_EXCL);
    });
    return true;
  } catch (error) {
    if (isErrno(error, "EEXIST")) return false;
    throw error;
  } finally {
    await unlink(temp).catch(() => undefined);
  }
}

/** Replaces the owner with that token by `owner`; false if another process was faster. */
async function replace(file: string, token: string, owner: LockOwner, ttlMs: number): Promise<boolean> {
  return await guarded(file, token, ttlMs, async () => rename(await writeTemp(file, owner), file));
}

/**
 * Runs `work` if the lock still has the token and no other process is replacing or removing it.
 * Returns whether it ran.
 */
async function guarded(file: string, token: string, ttlMs: number, work: () => Promise<void>): Promise<boolean> {
  const guard = `${file}.${token}.guard`;
  const owner = newOwner();
  if (!(await create(guard, owner))) {
    const held = await inspect(guard, ttlMs);
    if (held?.isStale !== true) return false;
    if (!(await guarded(guard, held.token, ttlMs, async () => rename(await writeTemp(file, owner), guard)))) return false;
  }
  try {
    if ((await inspect(file, ttlMs))?.token !== token) return false;
    await work();
    return true;
  } finally {
    await unlink(guard).catch(unlessMissing);
  }
}

async function inspect(
  file: string,
  ttlMs: number,
): Promise<{ readonly token: string; readonly owner: LockOwner | undefined; readonly isStale: boolean } | undefined> {
  const [text, stats] = await Promise.all([readFile(file, "utf8").catch(unlessMissing), lstat(file).catch(unlessMissing)]);
  if (stats === undefined) return undefined;
  const owner = parseOwner(text ?? "");
  if (owner !== undefined)
    return { token: owner.token, owner, isStale: hasEnded(owner) || Date.now() - Date.parse(owner.heartbeat) > ttlMs };
  return { token: `${stats.ino}-${Math.trunc(stats.mtimeMs)}`, owner, isStale: Date.now() - stats.mtimeMs > ttlMs };
}

async function writeTemp(file: string, owner: LockOwner): Promise<string> {
  const temp = `${file}.${owner.token}.tmp`;
  await writeFile(temp, toText(owner));
  return temp;
}

const toText = (owner: LockOwner): string => `${JSON.stringify(owner)}\n`;

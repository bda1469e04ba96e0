import { join } from "node:path";
import { DimsyncError, LeaseLostError } from "../../model/errors.ts";
import { shellWord } from "../../text/shell.ts";
import { breakFileLock, type FileLock, fileLockOwner, takeFileLock } from "../files/file-lock.ts";
import { reasonOf } from "../files/fs-errors.ts";
import { type Instant, instant } from "../lease.ts";
import { movedTo } from "../moved.ts";
import { ensureStateFolder, lockPath } from "../state-folder.ts";
import { recordsMoved } from "../store-errors.ts";
import type { LockOwner } from "./lock-owner.ts";

/** A holder without a heartbeat for this long, in milliseconds, has lost the lock. */
export const lockTtlMs = 60_000;

export interface LockOptions {
  readonly runId: string;
  readonly runUrl?: string;
  /** How long to wait for another run to end, in milliseconds; 0: not at all. */
  readonly waitMs: number;
  /** A holder without a heartbeat for this long, in milliseconds, has lost the lock. */
  readonly ttlMs?: number;
  readonly signal?: AbortSignal;
  /** Called from time to time while another run holds it. */
  readonly onWait?: () => void;
}

export interface Lock {
  /** Absolute or relative, like the folder. */
  readonly file: string;
  /** Present if an abandoned lock was taken over: a sentence for the user. */
  readonly notice: string | undefined;
  /** Aborted when another run has taken the lock over, as after a long sleep of this machine: send nothing more. */
  readonly lost: AbortSignal;
  /** Writes a heartbeat, and aborts `lost` if another run has the lock. Never throws. */
  readonly beat: () => Promise<void>;
  /** When the last heartbeat was written. */
  readonly lastBeat: () => Instant;
  /** Removes the lock if this run still holds it. May be called twice. Never throws. */
  readonly release: () => Promise<void>;
}

/**
 * Takes the lock `.dimsync/lock-TARGET.json`: one apply per target and machine. A lock is taken over if its process is gone, or
 * has not written a heartbeat for `ttlMs`. Throws E_LOCKED (exit 6) if another run still holds it after
 * `waitMs`, E_LOCK_FILE (exit 1) if the file cannot be written, and the reason of an aborted signal.
 */
export async function acquireLock(folder: string, target: string, options: LockOptions): Promise<Lock> {
  const ttlMs = options.ttlMs ?? lockTtlMs;
  const file = await lockFile(folder, target);
  const { runId, runUrl } = options;
  let lastBeat = instant();
  const lock = await takeFileLock(
    file,
    { runId, ...(runUrl === undefined ? {} : { runUrl }) },
    { waitMs: options.waitMs, ttlMs, signal: options.signal, onWait: options.onWait },
  ).catch((error: unknown) => {
    options.signal?.throwIfAborted();
    throw unusable(file, error);
  });
  if ("heldBy" in lock) throw locked(file, target, lock.heldBy, ttlMs);

  lastBeat = instant();
  const lost = new AbortController();
  const beat = async (): Promise<void> => {
    const begun = instant();
    // A failed heartbeat is retried. The lock is only lost if another run has it.
    const mine = await lock.beat().catch(() => undefined);
    if (mine === false) lost.abort(lostTo(file));
    if (mine === true) lastBeat = begun;
  };
  const timer = setInterval(() => void beat(), ttlMs / 4);
  timer.unref();
  return {
    ...{ file, beat },
    lastBeat: () => lastBeat,
    notice: noticeOf(lock, target),
    lost: lost.signal,
    async release() {
      clearInterval(timer);
      await lock.release().catch(() => undefined);
    },
  };
}

/**
 * Who holds the lock of a target; undefined if it is free, or its holder cannot be running any
 * more. Creates nothing. Throws E_LOCK_FILE (exit 1).
 */
export async function lockOwner(folder: string, target: string): Promise<LockOwner | undefined> {
  const file = lockPath(folder, target);
  return await fileLockOwner(file, lockTtlMs).catch((error: unknown) => {
    throw unusable(file, error);
  });
}

/** Locks a target for maintenance: without a process that holds it, until `breakLock` or `until`. Replaces the lock of the same `runId`. Throws E_LOCKED (exit 6) and E_LOCK_FILE (exit 1). */
export async function lockForMaintenance(
  folder: string,
  target: string,
  hold: { readonly runId: string; readonly reason: string; readonly until?: string },
): Promise<void> {
  const file = await lockFile(folder, target);
  const take = () => takeFileLock(file, hold, { waitMs: 0, ttlMs: lockTtlMs });
  try {
    let lock = await take();
    if ("heldBy" in lock && lock.heldBy?.runId === hold.runId) {
      await breakFileLock(file, lockTtlMs);
      lock = await take();
    }
    if ("heldBy" in lock) throw locked(file, target, lock.heldBy, lockTtlMs);
  } catch (error) {
    throw error instanceof DimsyncError ? error : unusable(file, error);
  }
}

/** Removes the lock of a target, whoever holds it, and returns the owner; undefined if there was none. Throws E_LOCK_FILE (exit 1). */
export async function breakLock(folder: string, target: string): Promise<LockOwner | undefined> {
  const file = await lockFile(folder, target);
  return await breakFileLock(file, lockTtlMs).catch((error: unknown) => {
    throw unusable(file, error);
  });
}

async function lockFile(folder: string, target: string): Promise<string> {
  try {
    await ensureStateFolder(folder);
    return lockPath(folder, target);
  } catch (error) {
    throw unusable(join(folder, ".dimsync"), error);
  }
}

function locked(file: string, target: string, owner: LockOwner | undefined, ttlMs: number): DimsyncError {
  const to = movedTo(owner?.reason);
  if (to !== undefined) return recordsMoved({ target, place: file }, to);
  if (owner?.reason !== undefined) return lockedForMaintenance(target, owner.reason, owner.until);
  const who = owner === undefined ? "another run" : describe(owner);
  return new DimsyncError(
    "E_LOCKED",
    `The target ${target} is locked by ${who}. Two runs at once could create the same object twice, and nothing can be deleted. Wait until that run has ended, or use --lock-timeout. dimsync takes over a lock whose process has ended or has written no heartbeat for ${Math.round(ttlMs / 1000)} s (${file}).`,
    { exit: 6 },
  );
}

const lockedForMaintenance = (target: string, reason: string, until: string | undefined): DimsyncError =>
  new DimsyncError(
    "E_LOCKED",
    `The target ${target} is locked by a user${until === undefined ? "" : ` until ${until}`}: ${reason}. To end the lock:`,
    {
      exit: 6,
      command: `dimsync records unlock -t ${shellWord(target)}`,
    },
  );

function noticeOf(lock: FileLock, target: string): string | undefined {
  if (lock.tookOver === undefined) return undefined;
  const { owner, why } = lock.tookOver;
  return `The lock of the target ${target} was taken over from ${owner === undefined ? "an unknown run" : describe(owner)}: ${why}.`;
}

const describe = (owner: LockOwner): string =>
  `${owner.runId === "" ? "a run" : `the run ${owner.runId}`} (process ${owner.pid} on ${owner.host}, since ${owner.startedAt})`;

const lostTo = (file: string): DimsyncError =>
  new LeaseLostError(
    `The lock ${file} was removed by a user, or taken over by another run while this one wrote no heartbeat. This run sends nothing more. Run plan again to see the state of the account.`,
  );

const unusable = (file: string, error: unknown): DimsyncError =>
  new DimsyncError(
    "E_LOCK_FILE",
    `The lock ${file} cannot be used: ${reasonOf(error)}. Without a lock, two runs could create the same object twice, so nothing was sent. Make the folder writable.`,
    { cause: error },
  );

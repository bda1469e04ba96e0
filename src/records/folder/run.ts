import type { SeenColumns } from "../../model/columns.ts";
import { sameJson } from "../../model/json/json.ts";
import type { AppliedCommit } from "../applied-commit.ts";
import { appliedPlans } from "../applied-plans.ts";
import { isNewerRecording, longer } from "../facts.ts";
import type { Intent } from "../journal-line.ts";
import { refuseStale } from "../lease.ts";
import type { ListLengths } from "../list-lengths.ts";
import type { BeginOptions, RecordsRun, RecordsState } from "../records.ts";
import { stateFolder } from "../state-folder.ts";
import { noLease } from "../store-errors.ts";
import { type TargetFile, writeOfTarget } from "../target-file.ts";
import { type FolderStoreOptions, type OpenFiles, openFiles, stateOf } from "./files.ts";
import type { Journal } from "./journal.ts";
import { acquireLock, type Lock, lockTtlMs } from "./lock.ts";

/** Takes the lock at once: it costs nothing here. Throws as `Records.begin` does, and E_LOCK_FILE (exit 1). */
export async function beginInFolder(store: FolderStoreOptions, options: BeginOptions): Promise<RecordsRun> {
  const lock = await acquireLock(store.folder, store.target, options);
  try {
    return runInFolder(store, await openFiles(store), lock, options.runId);
  } catch (error) {
    await lock.release();
    throw error;
  }
}

function runInFolder({ folder, target }: FolderStoreOptions, files: OpenFiles, lock: Lock, runId: string): RecordsRun {
  const { bindings, journal } = files;
  const seen = newObservations(files);
  const place = { target, place: stateFolder(folder) };
  let isReleased = false;
  const holdLock = async (): Promise<void> => lock.lost.throwIfAborted();
  return {
    runId,
    notice: lock.notice,
    waveSize: 1,
    state: (): RecordsState => ({ ...stateOf(files), longestSeen: seen.longest() }),
    lost: lock.lost,
    markApplied: (planId) => appliedPlans(folder).markApplied(planId, runId),
    take: holdLock,
    renew: lock.beat,
    fence() {
      lock.lost.throwIfAborted();
      if (isReleased) throw noLease(place);
      refuseStale(place, lockTtlMs, lock.lastBeat());
    },
    intend: async (intents) => {
      await holdLock();
      return intendAll(journal, intents);
    },
    settle: journal.settle,
    bind: bindings.set,
    unbind: async (address) => {
      if (bindings.get(address) !== undefined) await bindings.remove(address);
    },
    rememberLists: seen.rememberLists,
    rememberColumns: seen.rememberColumns,
    rememberCommit: seen.rememberCommit,
    flush: () => void lock.beat(),
    async release() {
      if (isReleased) return;
      isReleased = true;
      await seen.save(folder, target);
      await lock.release();
    },
  };
}

/** Writes all intents or none: those before one that fails can't be sent either. */
async function intendAll(journal: Journal, intents: readonly Intent[]): Promise<readonly string[]> {
  const ids: string[] = [];
  try {
    for (const intent of intents) ids.push(await journal.intend(intent));
  } catch (error) {
    for (const id of ids) await journal.settle(id, { outcome: "not-created" });
    throw error;
  }
  return ids;
}

interface Observations extends Pick<RecordsRun, "rememberLists" | "rememberColumns" | "rememberCommit"> {
  /** With those of earlier runs. */
  readonly longest: () => ListLengths;
  /** Writes those of this run. Never throws. */
  readonly save: (folder: string, target: string) => Promise<void>;
}

/** What a run has seen of lists and columns, and the commit that it applied. */
function newObservations(files: Pick<OpenFiles, "longestSeen" | "columnsSeen">): Observations {
  let lengths: ListLengths = {};
  let columns: SeenColumns | undefined;
  let commit: AppliedCommit | undefined;
  return {
    longest: () => longer(files.longestSeen, lengths),
    rememberLists(seen) {
      lengths = longer(lengths, seen);
    },
    rememberColumns(seen) {
      if (isNewerRecording(columns ?? files.columnsSeen, seen)) columns = seen;
    },
    rememberCommit(applied) {
      commit = applied;
    },
    async save(folder, target) {
      const write = (name: TargetFile, value: unknown): Promise<void> =>
        writeOfTarget(folder, name, { target, value }).catch(() => undefined);
      const longest = longer(files.longestSeen, lengths);
      // If it is lost, a list is only suspicious again.
      if (!sameJson(longest, files.longestSeen)) await write("lists.json", longest);
      // If they are lost, columns have an older date.
      if (columns !== undefined) await write("columns.json", columns);
      // If it is lost, the next plan is compared with an older commit.
      if (commit !== undefined) await write("commits.json", commit);
    },
  };
}

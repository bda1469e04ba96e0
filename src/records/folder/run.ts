import type { SeenColumns } from "../../model/columns.ts";
import { appliedPlans } from "../applied-plans.ts";
import { recordColumnsSeen } from "../columns-seen.ts";
import { isNewerRecording, longer } from "../facts.ts";
import { refuseStale } from "../lease.ts";
import { type ListLengths, recordListLengths } from "../list-lengths.ts";
import type { BeginOptions, RecordsRun, RecordsState } from "../records.ts";
import { stateFolder } from "../state-folder.ts";
import { noLease } from "../store-errors.ts";
import { type FolderStoreOptions, openFiles, stateOf } from "./files.ts";
import { acquireLock, lockTtlMs } from "./lock.ts";

/** Takes the lock at once: it costs nothing here. Throws as `Records.begin` does, and E_LOCK_FILE (exit 1). */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: short functions over one state
export async function beginInFolder(store: FolderStoreOptions, options: BeginOptions): Promise<RecordsRun> {
  const { folder, target } = store;
  const lock = await acquireLock(folder, target, options);
  try {
    const files = await openFiles(store);
    const { bindings, journal } = files;
    let lengths: ListLengths = {};
    let columns: SeenColumns | undefined;
    let isReleased = false;
    const place = { target, place: stateFolder(folder) };
    const holdLock = async (): Promise<void> => lock.lost.throwIfAborted();
    return {
      runId: options.runId,
      notice: lock.notice,
      waveSize: 1,
      state: (): RecordsState => ({ ...stateOf(files), longestSeen: longer(files.longestSeen, lengths) }),
      lost: lock.lost,
      markApplied: (planId) => appliedPlans(folder).markApplied(planId, options.runId),
      take: holdLock,
      renew: lock.beat,
      fence() {
        lock.lost.throwIfAborted();
        if (isReleased) throw noLease(place);
        refuseStale(place, lockTtlMs, lock.lastBeat());
      },
      async intend(intents) {
        await holdLock();
        const ids: string[] = [];
        try {
          for (const intent of intents) ids.push(await journal.intend(intent));
        } catch (error) {
          // All or none: intents that were written before it can't be sent either.
          for (const id of ids) await journal.settle(id, { outcome: "not-created" });
          throw error;
        }
        return ids;
      },
      settle: journal.settle,
      bind: bindings.set,
      unbind: async (address) => {
        if (bindings.get(address) !== undefined) await bindings.remove(address);
      },
      rememberLists(seen) {
        lengths = longer(lengths, seen);
      },
      rememberColumns(seen) {
        if (isNewerRecording(columns ?? files.columnsSeen, seen)) columns = seen;
      },
      flush: () => void lock.beat(),
      async release() {
        if (isReleased) return;
        isReleased = true;
        // If it is lost, a list is only suspicious again.
        if (Object.keys(lengths).length > 0) await recordListLengths(folder, target, lengths).catch(() => undefined);
        // If they are lost, columns have an older date.
        if (columns !== undefined) await recordColumnsSeen(folder, target, columns).catch(() => undefined);
        await lock.release();
      },
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

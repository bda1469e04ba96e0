import { join } from "node:path";
import { DimsyncError } from "../../model/errors.ts";
import { appliedPlans } from "../applied-plans.ts";
import { readListLengths } from "../list-lengths.ts";
import type { Lease, Records, RecordsState } from "../records.ts";
import { stateFolder } from "../state-folder.ts";
import { openBindings } from "./bindings.ts";
import { openJournal } from "./journal.ts";
import type { LockOwner } from "./lock-owner.ts";
import { noteUnlocked, readUnlocked } from "./unlocked.ts";

export interface FolderStoreOptions {
  /** Absolute path of the project's folder: everything but the bindings is in `.dimsync/` below it. */
  readonly folder: string;
  readonly target: string;
  /** Absolute path. */
  readonly bindingsFile: string;
}

/** The records of one target in files of this machine: the bindings file, and `.dimsync/` beside dimsync.yaml. */
export function openFolderRecords(options: FolderStoreOptions): Records {
  const { folder, target } = options;
  return {
    store: "folder",
    place: stateFolder(folder),
    read: () => readFolder(options),
    wasApplied: (planId) => appliedPlans(folder).wasApplied(planId),
    applied: () => appliedPlans(folder).all(),
    async lease() {
      const { lockOwner, lockTtlMs } = await import("./lock.ts");
      const owner = await lockOwner(folder, target);
      return owner === undefined ? undefined : leaseOf(owner, lockTtlMs);
    },
    begin: async (begin) => (await import("./run.ts")).beginInFolder(options, begin),
    async lock({ runId, reason, until }) {
      const { lockForMaintenance } = await import("./lock.ts");
      await lockForMaintenance(folder, target, { runId, reason, ...(until === undefined ? {} : { until: until.toISOString() }) });
    },
    async unlock() {
      const { breakLock, lockTtlMs } = await import("./lock.ts");
      const owner = await breakLock(folder, target);
      if (owner === undefined) return undefined;
      const { runId, reason } = owner;
      if (reason === undefined) await noteUnlocked(folder, target, { runId, at: new Date().toISOString(), graceMs: lockTtlMs / 2 });
      return leaseOf(owner, lockTtlMs);
    },
    history: () =>
      Promise.reject(
        new DimsyncError(
          "E_RECORDS_HISTORY",
          `The records of the target ${target} are files, which have no history. The journal of creates is ${join(stateFolder(folder), "journal.ndjson")}. Records in git or PostgreSQL have a history.`,
        ),
      ),
    close: async () => undefined,
  };
}

/** Throws E_BINDINGS_FILE, E_DUPLICATE_BINDING and E_JOURNAL (exit 1). */
async function readFolder({ folder, target, bindingsFile }: FolderStoreOptions): Promise<RecordsState> {
  const [bindings, journal, longestSeen, unlocked] = await Promise.all([
    openBindings(bindingsFile, target),
    openJournal(folder, target),
    readListLengths(folder, target),
    readUnlocked(folder, target),
  ]);
  return {
    version: "",
    bindings: bindings.all(),
    open: journal.open(),
    created: new Map(journal.created()),
    forgotten: journal.forgotten(),
    longestSeen,
    unlocked,
  };
}

function leaseOf(owner: LockOwner, ttlMs: number): Lease {
  const { token, runId, runUrl, startedAt, reason, until, pid, host } = owner;
  return {
    ...{ token, runId, runUrl: runUrl === "" ? undefined : runUrl, since: startedAt, ttlMs, epoch: 0 },
    ...{ reason, until, holder: reason === undefined ? `process ${pid} on ${host}` : `on ${host}` },
  };
}

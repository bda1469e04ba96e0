import { existsSync } from "node:fs";
import { join } from "node:path";
import { DimsyncError } from "../../model/errors.ts";
import { appliedPlans } from "../applied-plans.ts";
import { movedTo } from "../moved.ts";
import type { Lease, Records } from "../records.ts";
import { lockPath, stateFolder } from "../state-folder.ts";
import { recordsMoved } from "../store-errors.ts";
import { type FolderStoreOptions, openFiles, stateOf } from "./files.ts";
import type { LockOwner } from "./lock-owner.ts";
import { noteUnlocked } from "./unlocked.ts";

/** The records of one target in files of this machine: the bindings file, and `.dimsync/` beside dimsync.yaml. */
export function openFolderRecords(options: FolderStoreOptions): Records {
  const { folder, target } = options;
  return {
    store: "folder",
    place: stateFolder(folder),
    async read() {
      await refuseMoved(options);
      return stateOf(await openFiles(options));
    },
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

/** Throws E_RECORDS_MOVED. */
async function refuseMoved({ folder, target }: FolderStoreOptions): Promise<void> {
  const file = lockPath(folder, target);
  if (!existsSync(file)) return;
  const { lockOwner } = await import("./lock.ts");
  const to = movedTo((await lockOwner(folder, target))?.reason);
  if (to !== undefined) throw recordsMoved({ target, place: stateFolder(folder) }, to);
}

function leaseOf(owner: LockOwner, ttlMs: number): Lease {
  const { token, runId, runUrl, startedAt, reason, until, pid, host } = owner;
  return {
    ...{ token, runId, runUrl: runUrl === "" ? undefined : runUrl, since: startedAt, ttlMs, epoch: 0 },
    ...{ reason, until, holder: reason === undefined ? `process ${pid} on ${host}` : `on ${host}` },
  };
}

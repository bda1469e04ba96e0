import { utimes } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { openFolderRecords, recordsFile } from "../../../../src/core/records/folder/index.ts";
import { type HolderProcess, thisHolder } from "../../../../src/core/records/process-identity.ts";
import type { BeginOptions, Lease, Records, RecordsRun } from "../../../../src/core/records/records.ts";
import { recordsIn as contentIn, editRecords } from "../../../support/records.ts";
import { tempFolder } from "../child.ts";

/** The records of a target in a folder, as another process would open them. */
export const recordsIn = (folder: string, target = "prod"): Records =>
  openFolderRecords({ folder, target, bindingsFile: join(folder, "dimsync.bindings.yaml") });

interface Begin extends Partial<BeginOptions> {
  readonly target?: string;
}

/** Begins a run, which is released with its test. */
export async function beginIn(folder: string, { target, ...options }: Begin = {}): Promise<RecordsRun> {
  const run = await recordsIn(folder, target).begin({ runId: "r1", waitMs: 0, ...options });
  onTestFinished(() => run.release().catch(() => undefined));
  return run;
}

/** The addresses of the creates that are open. */
export const openAddresses = async (folder: string, target?: string): Promise<readonly string[]> =>
  (await recordsIn(folder, target).read()).open.map((entry) => entry.address);

/** A folder whose records are leased by a process, which has written last so long ago. */
export async function leasedFolder(process: Partial<HolderProcess> = {}, silentMs = 0): Promise<string> {
  const folder = await tempFolder();
  const lease = { token: "t", runId: "r1", runUrl: undefined, since: "2026-11-03T08:00:00.000Z", ttlMs: 60_000, epoch: 1 };
  const open = { reason: undefined, until: undefined, holder: "", process: { ...thisHolder(), ...process } };
  editRecords(folder, "prod", () => ({ epoch: 1, lease: { ...lease, ...open } }));
  const then = (Date.now() - silentMs) / 1000;
  await utimes(recordsFile(folder, "prod"), then, then);
  return folder;
}

/** The lease in the file, whether or not it is held. */
export const leaseIn = (folder: string): Lease | undefined => contentIn(folder, "prod").lease;

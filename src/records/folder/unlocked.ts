import { join } from "node:path";
import { DimsyncError } from "../../model/errors.ts";
import { appendLog, readLog } from "../files/append-log.ts";
import { reasonOf } from "../files/fs-errors.ts";
import type { UnlockedRun } from "../records.ts";
import { ensureStateFolder, stateFolder } from "../state-folder.ts";

const fileOf = (folder: string): string => join(stateFolder(folder), "unlocked.ndjson");

/**
 * Runs whose lock a user removed. If the file is not valid, there is only no warning about them.
 */
export async function readUnlocked(folder: string, target: string): Promise<readonly UnlockedRun[]> {
  const lines = await readLog(fileOf(folder)).catch(() => []);
  if ("broken" in lines) return [];
  return lines.flatMap(({ entry }) => {
    const { runId, at, graceMs } = entry;
    return entry["target"] === target && typeof runId === "string" && typeof at === "string" && typeof graceMs === "number"
      ? [{ runId, at, graceMs }]
      : [];
  });
}

/** Throws E_LOCK_FILE (exit 1). */
export async function noteUnlocked(folder: string, target: string, run: UnlockedRun): Promise<void> {
  try {
    await ensureStateFolder(folder);
    await appendLog(fileOf(folder), { target, ...run });
  } catch (error) {
    throw new DimsyncError("E_LOCK_FILE", `The lock was removed, but ${fileOf(folder)} can't be written: ${reasonOf(error)}.`, {
      cause: error,
    });
  }
}

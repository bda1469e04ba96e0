import { join } from "node:path";
import { onTestFinished } from "vitest";
import { openFolderRecords } from "../../../../src/core/records/folder/index.ts";
import type { BeginOptions, Records, RecordsRun } from "../../../../src/core/records/records.ts";

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

/** A program's beginning: `records(folder, target)` opens the records. */
export const programWithRecords = `
import { join } from "node:path";
import { openFolderRecords } from "./folder/index.ts";
const records = (folder, target) => openFolderRecords({ folder, target, bindingsFile: join(folder, "dimsync.bindings.yaml") });`;

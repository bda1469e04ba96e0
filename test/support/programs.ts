import { beforeEach } from "vitest";
import { type ProgramName, pathOf } from "./programs.mjs";

declare module "vitest" {
  interface TaskMeta {
    /** The programs for which a test is skipped. */
    missing?: readonly ProgramName[];
  }
}

const missingOf = (names: readonly ProgramName[]) => names.filter((name) => pathOf(name) === undefined);

/**
 * Options of a test or a suite, which is skipped if one of the programs is not installed; hooks of the
 * suite do not run then. The end of the run counts the skipped tests: skipped-reporter.ts.
 */
export function needs(...names: readonly ProgramName[]): { readonly skip?: boolean; readonly meta?: { missing: readonly ProgramName[] } } {
  const missing = missingOf(names);
  return missing.length === 0 ? {} : { skip: true, meta: { missing } };
}

/** Like `needs`, for all tests of the file that calls it. Its own hooks run nevertheless. */
export function fileNeeds(...names: readonly ProgramName[]): void {
  const missing = missingOf(names);
  if (missing.length === 0) return;
  beforeEach(({ task, skip }) => {
    task.meta.missing = missing;
    skip();
  });
}

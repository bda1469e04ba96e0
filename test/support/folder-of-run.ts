import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * A folder that all test files of a run read. `make` fills it: for the first file that asks, while others wait.
 * It is removed when the run ends.
 */
export async function folderOfRun(name: string, make: (folder: string) => void | Promise<void>): Promise<string> {
  const folder = join(process.env["DIMSYNC_TESTS_TEMP"] ?? tmpdir(), name);
  const making = `${folder}.making`;
  while (!existsSync(folder)) {
    if (!isMade(making)) {
      await sleep(50);
      continue;
    }
    try {
      await make(making);
      renameSync(making, folder);
    } finally {
      rmSync(making, { recursive: true, force: true });
    }
  }
  return folder;
}

/** Of all the processes of a run, only one makes it. */
function isMade(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

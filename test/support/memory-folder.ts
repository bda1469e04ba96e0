import { accessSync, constants, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const shared = "/dev/shm";

/**
 * The folder for the temporary files of tests, in memory if it has 4 GiB and programs can be started in
 * it. On a disk, all tests took 20 s longer: they create many files, and a hundred databases of 7 MB.
 */
export function memoryFolder(): string {
  try {
    const { bavail, bsize } = statfsSync(shared);
    return bavail * bsize > 4 * 2 ** 30 && startsPrograms(shared) ? shared : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** It may be mounted with noexec. */
function startsPrograms(folder: string): boolean {
  const own = mkdtempSync(join(folder, "dimsync-program-"));
  try {
    writeFileSync(join(own, "program"), "", { mode: 0o755 });
    accessSync(join(own, "program"), constants.X_OK);
    return true;
  } finally {
    rmSync(own, { recursive: true });
  }
}

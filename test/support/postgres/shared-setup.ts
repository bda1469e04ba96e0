import { existsSync, mkdtempSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { removePostgres } from "./server.ts";

/** A run creates more than a hundred databases of 7 MB. On some disks, removing their files takes a minute; in memory, it takes none. */
function hasRoom(memory: string): boolean {
  if (!existsSync(memory)) return false;
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize > 4 * 2 ** 30;
}

/** Vitest runs this before all tests, and the function that it returns after them. */
export default function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(hasRoom("/dev/shm") ? "/dev/shm" : tmpdir(), "dimsync-postgres-"));
  project.provide("postgresFolder", folder);
  // Also if the run is ended early.
  const remove = (): void => removePostgres(folder);
  process.once("exit", remove);
  for (const signal of ["SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(1));
  return remove;
}

import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inject, vi } from "vitest";
import { type Postgres, postgresIn, startPostgresIn } from "./server.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The folder of the server that all tests of a run share; empty until a test needs the server. */
    readonly postgresFolder: string;
  }
}

/**
 * The PostgreSQL server of this run of vitest, started by the first test file that needs it. A test
 * creates its own database on it. The server does not survive a crash of the machine: `startPostgres`
 * starts another one for tests that stop it or need other settings.
 */
export async function sharedPostgres(): Promise<Postgres> {
  const folder = inject("postgresFolder");
  const file = join(folder, "port");
  if (isFirst(folder)) {
    const { port } = await startPostgresIn(folder, [
      "fsync = off",
      "full_page_writes = off",
      "max_connections = 300",
      "max_wal_size = 96MB",
    ]);
    writeFileSync(`${file}.new`, String(port));
    renameSync(`${file}.new`, file);
  }
  const port = await vi.waitFor(() => Number(readFileSync(file, "utf8")), { timeout: 60_000, interval: 100 });
  return postgresIn(folder, port);
}

/** Of all the processes of a run, the first one that asks. */
function isFirst(folder: string): boolean {
  try {
    mkdirSync(join(folder, "starting"));
    return true;
  } catch {
    return false;
  }
}

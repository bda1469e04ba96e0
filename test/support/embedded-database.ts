import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { TransactionalDatabase } from "../../src/core/records/postgres/connection.ts";
import { openEmbeddedDatabase } from "../../src/features/controller/database/embedded.ts";
import { folderOfRun } from "./folder-of-run.ts";

/**
 * An empty embedded database. Closing it also frees its 500 MB, which Node would keep for a while:
 * tests that start many processes would take half as long again after it.
 */
export async function startEmbeddedDatabase(): Promise<TransactionalDatabase> {
  // Removed after all tests if it is not closed: without PostgreSQL, a process keeps one.
  const folder = mkdtempSync(join(tmpdir(), "embedded-"));
  await copyEmptyDatabase(folder);
  const database = await openEmbeddedDatabase(folder);
  return {
    ...database,
    async close() {
      await database.close();
      rmSync(folder, { recursive: true, force: true });
      setFlagsFromString("--expose-gc");
      setImmediate(runInNewContext("gc") as () => void);
    },
  };
}

/** Makes `folder` the state folder of a controller that was started once: creating a database takes four times as long as opening one. */
export async function copyEmptyDatabase(folder: string): Promise<void> {
  const empty = await folderOfRun("embedded-database", async (made) => (await openEmbeddedDatabase(made)).close());
  cpSync(empty, folder, { recursive: true });
}

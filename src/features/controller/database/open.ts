import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DimsyncError } from "../../../core/model/errors.ts";
import { takeFileLock } from "../../../core/records/files/file-lock.ts";
import { type Database, openDatabase, type TransactionalDatabase } from "../../../core/records/postgres/connection.ts";
import { checkFormat, databaseError, migrate } from "./migrate.ts";

export interface ControllerPlace {
  /** A secret; undefined: the embedded database in `stateFolder`. */
  readonly url: string | undefined;
  /** Absolute. */
  readonly stateFolder: string;
}

const lockTtlMs = 60_000;

/** The database of a controller process, with up-to-date tables. `close` ends it. Throws E_CONTROLLER_DATABASE. */
export async function openControllerDatabase(
  { url, stateFolder }: ControllerPlace,
  log: (text: string) => void,
): Promise<TransactionalDatabase> {
  if (url !== undefined) {
    const database = opened(url, 6);
    await migrate(database);
    return database;
  }
  await makeStateFolder(stateFolder);
  const lock = await takeFileLock(join(stateFolder, "lock.json"), { waitMs: 0, ttlMs: lockTtlMs, expiresWhileRunning: false });
  if ("heldBy" in lock)
    throw new DimsyncError(
      "E_CONTROLLER_DATABASE",
      `Another controller already uses the embedded database in ${stateFolder}, which only one process can open. Use it, or set --database to share the work between processes.`,
      { command: "dimsync controller status" },
    );
  const beat = setInterval(() => void lock.beat().catch(() => undefined), lockTtlMs / 4);
  beat.unref();
  const release = async (): Promise<void> => {
    clearInterval(beat);
    await lock.release().catch(() => undefined);
  };
  try {
    const [{ openEmbeddedDatabase }, { serveDatabase }] = await Promise.all([import("./embedded.ts"), import("./remote.ts")]);
    const database = await openEmbeddedDatabase(stateFolder, log);
    await migrate(database);
    const served = await serveDatabase(database, stateFolder);
    return {
      ...database,
      async close() {
        await served.close();
        await database.close();
        await release();
      },
    };
  } catch (error) {
    await release();
    throw error;
  }
}

/** It is usually in a checkout, and must not be committed. */
async function makeStateFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(join(folder, ".gitignore"), "*\n", { flag: "wx" }).catch(() => undefined);
}

/** The database of a running controller, for other commands. Throws E_CONTROLLER_DATABASE and E_CONTROLLER_NOT_RUNNING. */
export async function openExistingDatabase({ url, stateFolder }: ControllerPlace): Promise<Database> {
  const database = url === undefined ? await (await import("./remote.ts")).openRemoteDatabase(stateFolder) : opened(url, 2);
  try {
    await checkFormat(database);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

function opened(url: string, connections: number): TransactionalDatabase {
  try {
    return openDatabase(url, connections);
  } catch (error) {
    throw error instanceof Error
      ? new DimsyncError("E_CONTROLLER_DATABASE", `${error.message}. Check --database or DIMSYNC_DATABASE_URL.`)
      : databaseError(error);
  }
}

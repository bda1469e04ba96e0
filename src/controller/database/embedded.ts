import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { PGlite, Results } from "@electric-sql/pglite";
import pLimit from "p-limit";
import { DatabaseError } from "pg";
import { DimsyncError } from "../../model/errors.ts";
import type { Database, Rows } from "../../records/postgres/connection.ts";

/**
 * PostgreSQL in this process, kept in a folder (in memory without one). It has one connection, and only
 * one process may open the folder. Throws E_CONTROLLER_DATABASE if the package is not installed.
 */
export async function openEmbeddedDatabase(folder: string | undefined): Promise<Database> {
  const { PGlite: Embedded } = await loadPglite();
  if (folder !== undefined) await mkdir(folder, { recursive: true, mode: 0o700 });
  const db = await Embedded.create(folder === undefined ? {} : { dataDir: join(folder, "postgres") });
  // A script that fails must be rolled back before anyone else uses the connection.
  const alone = pLimit(1);
  return {
    query: (text, values) =>
      alone(async () => toRows(await db.query(text, [...values]).catch((error: unknown) => Promise.reject(asDatabaseError(error))))),
    script: (text) => alone(() => runScript(db, text)),
    processIds: async () => ({ given: process.pid, actual: process.pid }),
    close: () => alone(() => db.close()),
  };
}

async function loadPglite(): Promise<typeof import("@electric-sql/pglite")> {
  try {
    return await import("@electric-sql/pglite");
  } catch (error) {
    throw new DimsyncError(
      "E_CONTROLLER_DATABASE",
      "The embedded database is not installed. Set --database or DIMSYNC_DATABASE_URL to use PostgreSQL, or install it next to dimsync:",
      { cause: error, command: "npm install @electric-sql/pglite@0.5.16" },
    );
  }
}

async function runScript(db: PGlite, text: string): Promise<readonly Rows[]> {
  try {
    return (await db.exec(text)).map(toRows);
  } catch (error) {
    await db.exec("rollback").catch(() => undefined);
    throw asDatabaseError(error);
  }
}

const toRows = ({ rows, rowCount }: Pick<Results<unknown>, "rows" | "rowCount">): Rows => ({ rows, rowCount: rowCount ?? rows.length });

/** An error of the server as pg has it, because the records and the migrations look at its SQLSTATE. */
function asDatabaseError(error: unknown): unknown {
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
  if (!(error instanceof Error) || code === undefined || !/^[0-9A-Z]{5}$/u.test(code)) return error;
  const converted = new DatabaseError(error.message, error.message.length, "error");
  converted.code = code;
  return converted;
}

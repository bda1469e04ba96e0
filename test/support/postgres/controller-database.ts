import { afterAll, beforeAll, describe } from "vitest";
import { openDatabase, type TransactionalDatabase } from "../../../src/core/records/postgres/connection.ts";
import { migrate } from "../../../src/features/controller/database/migrate.ts";
import { startEmbeddedDatabase } from "../embedded-database.ts";
import { pathOf } from "../programs.mjs";
import { needs } from "../programs.ts";
import { sharedPostgres } from "./shared.ts";

/**
 * Runs the same tests with PostgreSQL and with the embedded database. `database()` is migrated and empty
 * at the start of the tests, and shared by all of them.
 */
export function describeDatabases(name: string, tests: (database: () => TransactionalDatabase) => void): void {
  describe(`${name}, embedded`, () => {
    let database: TransactionalDatabase | undefined;
    beforeAll(async () => {
      database = await startEmbeddedDatabase();
      await migrate(database);
    });
    afterAll(() => database?.close());
    tests(() => opened(database));
  });
  describe(`${name}, PostgreSQL`, needs("postgresql"), () => {
    let database: TransactionalDatabase | undefined;
    beforeAll(async () => {
      database = openDatabase(await (await sharedPostgres()).database());
      await migrate(database);
    });
    afterAll(() => database?.close());
    tests(() => opened(database));
  });
}

/** An empty database: of PostgreSQL, or the embedded one if PostgreSQL is not installed. One test uses it at a time. */
export async function newDatabase(): Promise<TransactionalDatabase> {
  return pathOf("postgresql") === undefined ? emptiedDatabase() : openDatabase(await (await sharedPostgres()).database(), 6);
}

let embedded: Promise<TransactionalDatabase> | undefined;

/** The embedded database of this process: starting another one takes seconds. */
async function emptiedDatabase(): Promise<TransactionalDatabase> {
  embedded ??= startEmbeddedDatabase();
  const database = await embedded;
  for (const schema of ["dimsync_controller", "dimsync_queue"]) await database.script(`drop schema if exists ${schema} cascade`);
  return { ...database, close: async () => undefined };
}

function opened(database: TransactionalDatabase | undefined): TransactionalDatabase {
  if (database === undefined) throw new Error("The database did not start.");
  return database;
}

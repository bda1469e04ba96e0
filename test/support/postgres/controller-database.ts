import { afterAll, beforeAll, describe } from "vitest";
import { migrate } from "../../../src/controller/database/migrate.ts";
import { type Database, openDatabase } from "../../../src/records/postgres/connection.ts";
import { startEmbeddedDatabase } from "../embedded-database.ts";
import { sharedPostgres } from "./shared.ts";

/**
 * Runs the same tests with PostgreSQL and with the embedded database. `database()` is migrated and empty
 * at the start of the tests, and shared by all of them.
 */
export function describeDatabases(name: string, tests: (database: () => Database) => void): void {
  describe(`${name}, embedded`, () => {
    let database: Database | undefined;
    beforeAll(async () => {
      database = await startEmbeddedDatabase();
      await migrate(database);
    }, 120_000);
    afterAll(() => database?.close());
    tests(() => opened(database));
  });
  describe(`${name}, PostgreSQL`, () => {
    let database: Database | undefined;
    beforeAll(async () => {
      database = openDatabase((await sharedPostgres()).database());
      await migrate(database);
    }, 60_000);
    afterAll(() => database?.close());
    tests(() => opened(database));
  });
}

function opened(database: Database | undefined): Database {
  if (database === undefined) throw new Error("The database did not start.");
  return database;
}

import { afterAll, beforeAll, describe } from "vitest";
import { openEmbeddedDatabase } from "../../../src/controller/database/embedded.ts";
import { migrate } from "../../../src/controller/database/migrate.ts";
import { type Database, openDatabase } from "../../../src/records/postgres/connection.ts";
import { type Postgres, startPostgres } from "./server.ts";

/**
 * Runs the same tests with PostgreSQL and with the embedded database. `database()` is migrated and empty
 * at the start of the tests, and shared by all of them.
 */
export function describeDatabases(name: string, tests: (database: () => Database) => void): void {
  describe(`${name}, embedded`, () => {
    let database: Database | undefined;
    beforeAll(async () => {
      database = await openEmbeddedDatabase(undefined);
      await migrate(database);
    }, 120_000);
    afterAll(() => database?.close());
    tests(() => opened(database));
  });
  describe(`${name}, PostgreSQL`, () => {
    let database: Database | undefined;
    let postgres: Postgres | undefined;
    beforeAll(async () => {
      postgres = await startPostgres(["fsync = off"]);
      database = openDatabase(postgres.database());
      await migrate(database);
    }, 60_000);
    afterAll(async () => {
      await database?.close();
      postgres?.remove();
    }, 60_000);
    tests(() => opened(database));
  });
}

function opened(database: Database | undefined): Database {
  if (database === undefined) throw new Error("The database did not start.");
  return database;
}

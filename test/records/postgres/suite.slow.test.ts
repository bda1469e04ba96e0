import { describe } from "vitest";
import { initPostgresRecords, openPostgresRecords } from "../../../src/records/postgres/index.ts";
import { pgbouncerOfSuite, postgresOfSuite } from "../../support/postgres/shared.ts";
import { needs } from "../../support/programs.ts";
import { writeProject } from "../../support/project-folder.ts";
import { recordsSuite, type StoreUnderTest } from "../suite.ts";

const postgres = postgresOfSuite();
const bouncer = pgbouncerOfSuite(postgres);

const storeAt = async (url: string): Promise<StoreUnderTest> => {
  const options = { target: "prod", url, schema: "dimsync", ttlMs: 60_000 };
  const { id } = await initPostgresRecords(options);
  return { open: async () => openPostgresRecords({ ...options, id, folder: writeProject({}) }) };
};

describe("PostgreSQL", needs("postgresql"), () => {
  recordsSuite("postgres", async () => storeAt(postgres.database()));
  describe("and PgBouncer", needs("pgbouncer"), () => {
    recordsSuite("postgres (through pgbouncer in transaction mode)", async () => storeAt(bouncer.through(postgres.database())));
  });
});

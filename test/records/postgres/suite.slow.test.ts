import { afterAll, beforeAll } from "vitest";
import { initPostgresRecords, openPostgresRecords } from "../../../src/records/postgres/index.ts";
import { startPgbouncer } from "../../support/postgres/server.ts";
import { sharedPostgres } from "../../support/postgres/shared.ts";
import { writeProject } from "../../support/project-folder.ts";
import { recordsSuite, type StoreUnderTest } from "../suite.ts";

const postgres = await sharedPostgres();
let bouncer: Awaited<ReturnType<typeof startPgbouncer>>;
beforeAll(async () => {
  bouncer = await startPgbouncer(postgres);
});
afterAll(() => bouncer.stop());

const storeAt = async (url: string): Promise<StoreUnderTest> => {
  const options = { target: "prod", url, schema: "dimsync", ttlMs: 60_000 };
  const { id } = await initPostgresRecords(options);
  return { open: async () => openPostgresRecords({ ...options, id, folder: writeProject({}) }) };
};

recordsSuite("postgres", async () => storeAt(postgres.database()));
recordsSuite("postgres (through pgbouncer in transaction mode)", async () => storeAt(bouncer.through(postgres.database())));

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { initPostgresRecords, openPostgresRecords } from "../../../src/records/postgres/index.ts";
import { type Postgres, startPgbouncer, startPostgres } from "../../support/postgres.ts";
import { recordsSuite, type StoreUnderTest } from "../suite.ts";

let postgres: Postgres;
let bouncer: Awaited<ReturnType<typeof startPgbouncer>>;
beforeAll(async () => {
  postgres = await startPostgres();
  bouncer = await startPgbouncer(postgres);
}, 60_000);
afterAll(() => {
  bouncer.stop();
  postgres.remove();
}, 60_000);

const storeAt = async (url: string): Promise<StoreUnderTest> => {
  const options = { target: "prod", url, schema: "dimsync", ttlMs: 60_000 };
  const { id } = await initPostgresRecords(options);
  return { open: async () => openPostgresRecords({ ...options, id, folder: mkdtempSync(join(tmpdir(), "dimsync-records-")) }) };
};

recordsSuite("postgres", async () => storeAt(postgres.database()));
recordsSuite("postgres (through pgbouncer in transaction mode)", async () => storeAt(bouncer.through(postgres.database())));

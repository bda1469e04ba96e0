// Records in PostgreSQL keep what every store must keep.
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { initPostgresRecords, openPostgresRecords } from "../../../../src/core/records/postgres/index.ts";
import { pgbouncerOfSuite, postgresOfSuite } from "../../../support/postgres/shared.ts";
import { needs } from "../../../support/programs.ts";
import { writeProject } from "../../../support/project-folder.ts";
import { recordsSuite, type StoreUnderTest } from "../suite.ts";

const postgres = postgresOfSuite();
const bouncer = pgbouncerOfSuite(postgres);

let database: string | undefined;
let stores = 0;

/** A new schema of one database: creating a database takes longer. `through` changes its URL. */
const newStore = async (through = (url: string) => url): Promise<StoreUnderTest> => {
  database ??= await postgres.database();
  stores += 1;
  const options = { target: "prod", url: through(database), schema: `dimsync_${stores}`, ttlMs: 60_000 };
  const { id } = await initPostgresRecords(options);
  return { open: async () => openPostgresRecords({ ...options, id, folder: writeProject({}) }) };
};

describe("PostgreSQL", needs("postgresql"), () => {
  recordsSuite("postgres", () => newStore());

  test("a lock ends by the clock of the database", async () => {
    const { open } = await newStore();
    const records = await open();
    onTestFinished(() => records.close());
    await records.lock({ runId: "person-1", reason: "migration", until: new Date(Date.now() + 86_400_000) });
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 2 * 86_400_000 });
    onTestFinished(() => void vi.useRealTimers());
    expect(await records.lease()).toMatchObject({ reason: "migration" });
    await expect(records.begin({ runId: "run-1", waitMs: 0 })).rejects.toMatchObject({ code: "E_LOCKED" });
  });

  describe("and PgBouncer", needs("pgbouncer"), () => {
    recordsSuite("postgres (through pgbouncer in transaction mode)", () => newStore(bouncer.through));
  });
});

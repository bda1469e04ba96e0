import { describe, expect, it, onTestFinished } from "vitest";
import { initPostgresRecords, openPostgresRecords } from "../../../src/records/postgres/index.ts";
import type { RecordsState } from "../../../src/records/records.ts";
import { pgbouncerOfSuite, postgresOfSuite } from "../../support/postgres/shared.ts";
import { needs } from "../../support/programs.ts";
import { writeProject } from "../../support/project-folder.ts";
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
  it("reads and writes tables of an earlier build, and adds what they lack if it may", async () => {
    const options = { target: "prod", url: await postgres.database(), schema: "dimsync", ttlMs: 60_000 };
    const { id } = await initPostgresRecords(options);
    await postgres.sql(options.url, "alter table dimsync.lease drop column applied_commit");
    const applied = { commit: "a1".repeat(20), manifestDigest: "sha256:1", runId: "run-1", at: "2026-11-03T08:00:00.000Z" };
    const runAgain = async (url: string): Promise<RecordsState> => {
      const records = openPostgresRecords({ ...options, url, id, folder: writeProject({}) });
      onTestFinished(() => records.close());
      const run = await records.begin({ runId: "run-1", waitMs: 0 });
      await run.bind("Integration/a", { id: "1" });
      run.rememberCommit(applied);
      await run.release();
      return await records.read();
    };
    // Another role owns the table.
    await postgres.sql(
      options.url,
      "create role owner_only; grant all on schema dimsync to owner_only; alter table dimsync.lease owner to owner_only; create role applies login; grant usage on schema dimsync to applies; grant all on all tables in schema dimsync to applies",
    );
    const applies = Object.assign(new URL(options.url), { username: "applies" }).href;
    const before = await runAgain(applies);
    expect([before.bindings.size, before.appliedCommit]).toEqual([1, undefined]);
    expect((await runAgain(options.url)).appliedCommit).toEqual(applied);
    await initPostgresRecords(options);
    expect((await runAgain(applies)).appliedCommit).toEqual(applied);
  });
  describe("and PgBouncer", needs("pgbouncer"), () => {
    recordsSuite("postgres (through pgbouncer in transaction mode)", () => newStore(bouncer.through));
  });
});

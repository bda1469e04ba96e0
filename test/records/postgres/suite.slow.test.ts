import { describe, expect, it, onTestFinished } from "vitest";
import { initPostgresRecords, openPostgresRecords } from "../../../src/records/postgres/index.ts";
import type { RecordsState } from "../../../src/records/records.ts";
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
  it("reads and writes tables of an earlier build, which keep no commit until init is run", async () => {
    const options = { target: "prod", url: postgres.database(), schema: "dimsync", ttlMs: 60_000 };
    const { id } = await initPostgresRecords(options);
    await postgres.sql(options.url, "alter table dimsync.lease drop column applied_commit");
    const applied = { commit: "a1".repeat(20), manifestDigest: "sha256:1", runId: "run-1", at: "2026-11-03T08:00:00.000Z" };
    const runAgain = async (): Promise<RecordsState> => {
      const records = openPostgresRecords({ ...options, id, folder: writeProject({}) });
      onTestFinished(() => records.close());
      const run = await records.begin({ runId: "run-1", waitMs: 0 });
      await run.bind("Integration/a", { id: "1" });
      run.rememberCommit(applied);
      await run.release();
      return await records.read();
    };
    const before = await runAgain();
    expect([before.bindings.size, before.appliedCommit]).toEqual([1, undefined]);
    await initPostgresRecords(options);
    expect((await runAgain()).appliedCommit).toEqual(applied);
  });
  describe("and PgBouncer", needs("pgbouncer"), () => {
    recordsSuite("postgres (through pgbouncer in transaction mode)", async () => storeAt(bouncer.through(postgres.database())));
  });
});

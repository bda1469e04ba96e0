import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import type { Database } from "../../../../src/core/records/postgres/connection.ts";
import { readAccount } from "../../../../src/features/controller/views/accounts.ts";
import { readRun } from "../../../../src/features/controller/views/runs.ts";
import { deleteOld } from "../../../../src/features/controller/work/cleanup.ts";
import { accountUnderControl } from "./account-under-control.ts";

/** Everything of the history happened this many days earlier. */
async function age(database: Database, days: number): Promise<void> {
  const columns = {
    run: ["started_at", "finished_at"],
    finding: ["opened_at", "closed_at", "changed_at"],
    finding_event: ["at"],
    protection: ["at"],
    bundle: ["pushed_at"],
    daily: ["day"],
    event: ["at"],
    report: ["seen_at"],
  };
  for (const [table, names] of Object.entries(columns)) {
    const set = names.map((name) => `${name} = (${name} - ${days} * interval '1 day')${name === "day" ? "::date" : ""}`).join(", ");
    await database.query(`update dimsync_controller.${table} set ${set}`, []);
  }
}

const count = async (database: Database, table: string): Promise<number> =>
  Number((await database.query(`select count(*) from dimsync_controller.${table}`, [])).rows[0]?.count);

it("after 400 days runs, closed findings and bundles are deleted, and the sums of each day stay", async () => {
  const { database, push, check, hash } = await accountUnderControl({ every: "1m" });
  await push();
  await check();
  await hash(true);
  await check();
  await push({
    "dimsync.unused.txt": "x",
    "manifests/more.yaml": "apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: gold }\nspec: { name: Gold }\n",
  });
  await database.query(
    "insert into dimsync_controller.protection (account, key, actor, run) select id, 'k', 'dana', $1 from dimsync_controller.account",
    [randomUUID()],
  );
  const tables = ["run", "finding", "finding_event", "bundle", "protection", "daily", "event"] as const;
  const counts = async (): Promise<readonly number[]> => await Promise.all(tables.map((table) => count(database, table)));
  const all = await counts();
  expect(all).toEqual([2, 1, 2, 2, 1, 1, 2]);
  await age(database, 399);
  await deleteOld(database);
  // What protect sent only counts for a day.
  expect(await counts()).toEqual([2, 1, 2, 2, 0, 1, 2]);
  await age(database, 2);
  await deleteOld(database);
  // The account wants the second bundle, and was compared with the first one.
  expect(await counts()).toEqual([0, 0, 0, 2, 0, 1, 0]);
  const { rows } = await database.query("select checks, opened, closed, exposed_columns from dimsync_controller.daily", []);
  expect(rows).toEqual([{ checks: 2, opened: 1, closed: 1, exposed_columns: 1 }]);
  await check();
  await age(database, 0);
  await deleteOld(database);
  expect(await counts()).toEqual([1, 0, 0, 1, 0, 2, 0]);
  expect((await readAccount(database, "test"))?.runs).toHaveLength(1);
});

it("reports that found the same are stored once, and each run shows its own", async () => {
  const { database, push, check, hash } = await accountUnderControl({ every: "1m" });
  await push();
  for (let runs = 0; runs < 3; runs += 1) await check();
  const { rows } = await database.query("select id from dimsync_controller.run order by started_at", []);
  const reports = await Promise.all(rows.map(async ({ id }) => (await readRun(database, id))?.report));
  expect(new Set(reports.map((report) => report?.planId)).size).toBe(3);
  expect(reports).toEqual(
    [1, 2, 3].map(() => expect.objectContaining({ kind: "DriftReport", createdAt: expect.any(String), calls: expect.any(Object) })),
  );
  expect(reports[0]?.items).toEqual(reports[2]?.items);
  expect(await count(database, "report")).toBe(1);
  await hash(true);
  await check();
  expect(await count(database, "report")).toBe(2);
  // A report is as old as the last run that found it.
  await age(database, 399);
  await check();
  await age(database, 2);
  await deleteOld(database);
  expect([await count(database, "run"), await count(database, "report")]).toEqual([1, 1]);
  expect((await readRun(database, (await readAccount(database, "test"))?.runs[0]?.id ?? ""))?.report).toMatchObject({
    kind: "DriftReport",
  });
});

it("an account is kept for as long as its target says", async () => {
  const { database, push, check } = await accountUnderControl({ every: "1m", history: { keep: "30d" } });
  await push();
  await check();
  const kept = async () => [await count(database, "run"), await count(database, "report"), await count(database, "bundle")];
  await age(database, 29);
  await deleteOld(database);
  expect(await kept()).toEqual([1, 1, 1]);
  await age(database, 2);
  await deleteOld(database);
  expect(await kept()).toEqual([0, 0, 1]);
});

it("a finding that is still open is kept, however old it is", async () => {
  const { database, push, check } = await accountUnderControl({ every: "1m" });
  await push();
  await check();
  await age(database, 500);
  await deleteOld(database);
  expect([await count(database, "finding"), await count(database, "run"), await count(database, "event")]).toEqual([1, 0, 1]);
  expect(await check()).toMatchObject({ state: "exposed", findings: [{ address: "Schemas/orders" }] });
});

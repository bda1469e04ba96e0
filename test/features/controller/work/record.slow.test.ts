import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import type { TransactionalDatabase } from "../../../../src/core/records/postgres/connection.ts";
import { leaseHeld, leaseLost } from "../../../../src/core/records/store-errors.ts";
import { registerAccounts } from "../../../../src/features/controller/projects/register.ts";
import { readAccount } from "../../../../src/features/controller/views/accounts.ts";
import { readMetrics } from "../../../../src/features/controller/views/health.ts";
import { asOutcome, type RunOutcome } from "../../../../src/features/controller/work/check.ts";
import { claimAccount } from "../../../../src/features/controller/work/claim.ts";
import { countProtections, stoppedChanges } from "../../../../src/features/controller/work/protections.ts";
import { type FinishedRun, recordRun } from "../../../../src/features/controller/work/record.ts";
import { describeDatabases } from "../../../support/postgres/controller-database.ts";

const failure = (isThrottled: boolean): RunOutcome => ({
  exit: { code: 1, reasons: ["E_SERVICE_STATUS"] },
  error: { code: "E_SERVICE_STATUS", message: "the service failed with status 503" },
  isThrottled,
});

/** A new account, which is due. */
async function account(database: TransactionalDatabase, target: string): Promise<number> {
  const entry = { target, labels: {}, host: "h", mode: "report" as const, everyMs: 60_000, maintenance: [], keepMs: 86_400_000 };
  const [stored] = await registerAccounts(database, { source: target, accounts: [entry] });
  return stored?.id ?? 0;
}

/** Claims the account and records a run. */
async function run(database: TransactionalDatabase, id: number, target: string, outcome: RunOutcome): Promise<FinishedRun> {
  await database.query("update dimsync_controller.account set next_check_at = now() where id = $1", [id]);
  const claim = randomUUID();
  const claimed = await claimAccount(database, { account: id, run: claim, worker: "w", isRetry: false, watched: target });
  expect(claimed).toMatchObject({ id });
  const startedAt = performance.now();
  const finished = {
    id: claim,
    claim,
    account: id,
    reason: "schedule",
    mode: "report",
    worker: "w",
    startedAt,
    endedAt: performance.now(),
    outcome,
    isLast: true,
  } as const;
  const all = { ...finished, generation: claimed?.generation ?? 0 };
  await recordRun(database, all);
  return all;
}

describeDatabases("runs", (database) => {
  it("doubles the interval from the third overloaded run on, and one other run resets it", async () => {
    const id = await account(database(), "busy");
    const intervals: (number | undefined)[] = [];
    for (const isThrottled of [true, true, true, true, false]) {
      await run(database(), id, "busy", failure(isThrottled));
      intervals.push((await readAccount(database(), "busy"))?.intervalMs);
    }
    expect(intervals).toEqual([60_000, 60_000, 120_000, 240_000, 60_000]);
  });

  it("records a run once, and nothing about the account if another run has taken it over", async () => {
    const id = await account(database(), "once");
    const first = await run(database(), id, "once", failure(false));
    expect(await recordRun(database(), first)).toMatchObject({ isCurrent: false });
    const late = { ...first, id: randomUUID() };
    expect(await recordRun(database(), late)).toMatchObject({ isCurrent: false });
    const detail = await readAccount(database(), "once");
    expect([detail?.runs.length, detail?.timeline[0]?.checks, detail?.state]).toEqual([2, 1, "failing"]);
  });

  it("counts runs that lost their lease, even before they sent anything, but not those that never had it", async () => {
    const id = await account(database(), "leases");
    const place = { target: "leases", place: "the records" };
    const holder = {
      ...{ token: "t", runId: "other", runUrl: undefined, since: "2026-06-01T12:00:00Z", ttlMs: 60_000, epoch: 2 },
      ...{ reason: undefined, until: undefined, holder: "" },
    };
    const lossesAfter = async (error: Error): Promise<number> => {
      const { signal } = new AbortController();
      await run(database(), id, "leases", await asOutcome(signal, () => Promise.reject(error)));
      return (await readMetrics(database())).counters.find(({ name }) => name === "lease_losses")?.value ?? 0;
    };
    expect(await lossesAfter(leaseHeld(place, holder))).toBe(0);
    expect(await lossesAfter(leaseLost(place, holder))).toBe(1);
    expect((await readAccount(database(), "leases"))?.runs[0]?.exit).toEqual({ code: 6, reasons: ["lock-lost"] });
  });

  it("leaves a run that was interrupted to the next check that can compare the account", async () => {
    const id = await account(database(), "cut");
    await database().query(
      `insert into dimsync_controller.run (id, account, reason, mode, worker, claim, is_sending, started_at, finished_at, exit_code)
        values ('cut', $1, 'schedule', 'protect', 'gone', 'old', true, now(), now(), 4)`,
      [id],
    );
    await run(database(), id, "cut", failure(false));
    await database().query("update dimsync_controller.account set next_check_at = now() where id = $1", [id]);
    const claim = () => claimAccount(database(), { account: id, run: randomUUID(), worker: "w", isRetry: false, watched: "cut" });
    expect(await claim()).toMatchObject({ interrupted: "cut" });
  });

  it("continues with a claim if the response to a run of it was lost", async () => {
    const id = await account(database(), "again");
    const claim = randomUUID();
    const claimed = await claimAccount(database(), { account: id, run: claim, worker: "w", isRetry: false, watched: "again" });
    const first: FinishedRun = {
      ...{ id: claim, claim, account: id, reason: "schedule", mode: "report", worker: "w", startedAt: 0, endedAt: 1 },
      ...{ generation: claimed?.generation ?? 0, outcome: failure(false), isLast: false },
    };
    expect(await recordRun(database(), first)).toMatchObject({ isCurrent: true });
    expect(await recordRun(database(), first)).toMatchObject({ isCurrent: true });
    expect((await readAccount(database(), "again"))?.timeline[0]?.checks).toBe(1);
    const last = { ...first, id: randomUUID(), isLast: true };
    expect(await recordRun(database(), last)).toMatchObject({ isCurrent: true });
    expect(await recordRun(database(), last)).toMatchObject({ isCurrent: false });
  });

  it("lets one run at a time check an account, and only if it is due", async () => {
    const id = await account(database(), "one");
    const claim = (worker: string) => claimAccount(database(), { account: id, run: randomUUID(), worker, isRetry: false, watched: "one" });
    const claims = await Promise.all(["a", "b", "c", "d"].map(claim));
    expect(claims.filter((claimed) => claimed !== undefined)).toHaveLength(1);
    await database().query(
      "update dimsync_controller.account set running_until = null, next_check_at = now() + interval '1 minute' where id = $1",
      [id],
    );
    expect(await claim("e")).toBeUndefined();
    await database().query("update dimsync_controller.account set next_check_at = now() where id = $1", [id]);
    // Another worker cannot load a project that it does not watch.
    expect(await claimAccount(database(), { account: id, run: randomUUID(), worker: "f", isRetry: false })).toBeUndefined();
    expect(await claim("g")).toMatchObject({ id });
  });

  it("reverts the same change of the same user three times in a day", async () => {
    const id = await account(database(), "fight");
    const change = { key: "SchemaConfig/a /x", address: "SchemaConfig/a", path: "/x", actor: "eve@example.com" };
    const other = { ...change, actor: "dana@example.com" };
    for (const times of [1, 2, 3]) {
      expect(await stoppedChanges(database(), id, [change, other]), `before ${times}`).toEqual([]);
      await countProtections(database(), { account: id, run: randomUUID(), changes: [change] });
    }
    expect(await stoppedChanges(database(), id, [change, other])).toEqual([change]);
    await database().query("update dimsync_controller.protection set at = now() - interval '25 hours' where account = $1", [id]);
    expect(await stoppedChanges(database(), id, [change, other])).toEqual([]);
  });
});

import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { listAccounts, readAccount } from "../../../../src/features/controller/views/accounts.ts";
import { closedByCause, findingsByCause } from "../../../../src/features/controller/views/causes.ts";
import { readMetrics } from "../../../../src/features/controller/views/health.ts";
import { readBundle, readRun } from "../../../../src/features/controller/views/runs.ts";
import { describeDatabases } from "../../../support/postgres/controller-database.ts";

const gzipped = (value: unknown): Buffer => gzipSync(JSON.stringify(value));

describeDatabases("views", (database) => {
  it("shows accounts worst first, with findings, runs, days and the bundle", async () => {
    const bundle = {
      format: 1,
      source: "data",
      toolVersion: "0.1.0",
      configFile: "dimsync.yaml",
      files: { "dimsync.yaml": "kind: Config\n" },
    };
    await database().query(
      "insert into dimsync_controller.bundle (digest, source, git_commit, tool_version, content, bytes, dirty) values ('sha256:1', 'data', 'abc', '0.1.0', $1, 10, true)",
      [gzipped(bundle)],
    );
    await database().script(`
insert into dimsync_controller.account (source, target, mode, every_ms, outcome, exposed_columns, differences, last_checked_at, error_code, message, digest, created_at) values
  ('data', 'new', 'report', 60000, null, 0, 0, null, null, null, null, now()),
  ('data', 'same', 'report', 60000, 'in-sync', 0, 0, now(), null, null, null, now()),
  ('data', 'old', 'report', 60000, 'in-sync', 0, 0, now() - interval '181 seconds', null, null, null, now()),
  ('data', 'weekly', 'report', 604800000, 'in-sync', 0, 0, now() - interval '8 days', null, null, null, now()),
  ('data', 'prod', 'protect', 60000, 'exposed', 2, 3, now(), 'E_HTTP', 'the last run failed', 'sha256:1', now()),
  ('other', 'prod', 'report', 60000, 'drifted', 0, 1, now(), null, null, null, now()),
  ('data', 'broken', 'report', 60000, 'drifted', 0, 1, now(), 'E_HTTP', 'failed', null, now()),
  ('data', 'gone', 'report', 60000, 'drifted', 0, 1, now(), null, null, null, now()),
  ('data', 'quiet', 'report', 60000, 'exposed', 1, 1, now(), null, null, null, now());
update dimsync_controller.account set removed_at = now(), removed_by = 'ci', removed_commit = 'def', created_at = now() - interval '1 day' where target = 'gone';
insert into dimsync_controller.suspension (account, reason, until, suspended_by)
  select id, 'migration', now() + interval '1 hour', 'ann' from dimsync_controller.account where target = 'quiet';
insert into dimsync_controller.suspension (account, reason, until, suspended_by)
  select id, 'over', now() - interval '1 hour', 'ann' from dimsync_controller.account where target = 'same';
insert into dimsync_controller.run (id, account, reason, mode, worker, started_at, finished_at, exit_code, exit_reasons)
  select 'run-1', id, 'schedule', 'protect', 'w1', now() - interval '1 second', now(), 2, '["drift"]' from dimsync_controller.account where digest = 'sha256:1';
insert into dimsync_controller.finding (account, key, kind, address, path, risk, cause, opened_at, opened_run)
  select id, 'k', 'change', 'Schemas/a', '/x', case when digest is null then 'neutral' else 'exposed' end, 'rule pii', now(), 'run-1'
  from dimsync_controller.account where target = 'prod';
update dimsync_controller.finding set since = '2026-03-01T08:00:00Z', actor = 'eve' where risk = 'exposed';
insert into dimsync_controller.finding (account, key, kind, address, path, risk, cause, opened_at, opened_run, since, closed_at, closed_run, closed_by)
  select a.id, 'closed', 'change', 'Schemas/a', '/x', 'exposed', 'rule pii', '2026-03-01T09:00:00Z', 'run-1', c.since, now() - c.ago, c.run, c.by
  from dimsync_controller.account a join (values ('same', interval '2 hours', 'run-2', 'dimsync', '2026-03-01T07:00:00Z'::timestamptz),
    ('old', interval '1 hour', 'run-3', 'dimsync', null), ('new', interval '3 hours', 'run-4', null, null), ('weekly', interval '25 hours', 'run-5', 'dimsync', null)
  ) as c (target, ago, run, by, since) on c.target = a.target;
insert into dimsync_controller.run (id, account, reason, mode, worker, started_at, finished_at, exit_code, error_code)
  select 'failed-' || year, id, 'schedule', 'protect', 'w1', now(), (year || '-01-01')::timestamptz, 1, 'E_HTTP' from dimsync_controller.account,
    (values (2020), (2099), (2100)) as years (year) where digest = 'sha256:1';
insert into dimsync_controller.finding_event (finding, account, run, event, at, actor)
  select id, account, 'run-1', 'opened', now(), 'eve' from dimsync_controller.finding;
insert into dimsync_controller.daily (account, day, checks, duration_ms)
  select id, (now() at time zone 'UTC')::date - days, 3, 1500 from dimsync_controller.account, generate_series(88, 91) days where digest = 'sha256:1';`);
    await database().query("insert into dimsync_controller.report select account, 'd', $1 from dimsync_controller.run where id = 'run-1'", [
      gzipped({ kind: "DriftReport" }),
    ]);
    await database().query("update dimsync_controller.run set report_digest = 'd' where id = 'run-1'", []);

    const accounts = await listAccounts(database());
    expect(accounts.map(({ name, state }) => [name, state])).toEqual([
      ["data/prod", "exposed"],
      ["quiet", "suspended"],
      ["other/prod", "drifted"],
      ["broken", "failing"],
      ["old", "stale"],
      ["same", "in-sync"],
      ["weekly", "in-sync"],
      ["new", "pending"],
    ]);
    expect(accounts[0]).toMatchObject({
      exposedColumns: 2,
      error: { code: "E_HTTP" },
      digest: "sha256:1",
      dirty: true,
      mode: "protect",
      isCurrent: true,
    });
    expect(accounts.find(({ name }) => name === "quiet")?.suspension).toMatchObject({ reason: "migration", by: "ann" });

    const detail = await readAccount(database(), "data/prod");
    expect(detail?.findings).toMatchObject([
      { address: "Schemas/a", risk: "exposed", openedRun: "run-1", since: "2026-03-01T08:00:00.000Z" },
    ]);
    expect(detail?.error).toEqual({ code: "E_HTTP", message: "the last run failed", since: "2099-01-01T00:00:00.000Z" });
    expect(accounts.find(({ name }) => name === "broken")?.error).toEqual({ code: "E_HTTP", message: "failed" });
    expect(detail?.timeline).toHaveLength(2);
    expect(detail?.timeline[0]).toMatchObject({ checks: 3, durationMs: 1500, day: expect.stringMatching(/^\d{4}-\d\d-\d\d$/u) });
    expect(detail?.runs.slice(2, 3)).toMatchObject([{ id: "run-1", account: "data/prod", exit: { code: 2, reasons: ["drift"] } }]);
    expect(detail?.events).toMatchObject([{ event: "opened", actor: "eve" }]);
    expect(detail?.lastCheckedAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/u);
    expect(await readAccount(database(), "gone")).toMatchObject({ state: "drifted", isStale: false, removed: { by: "ci", commit: "def" } });
    expect(await readAccount(database(), "never")).toBeUndefined();
    await expect(readAccount(database(), "prod")).rejects.toThrow(
      'Several accounts have the target "prod". Use one of data/prod, other/prod.',
    );

    expect(await readRun(database(), "run-1")).toMatchObject({ worker: "w1", report: { kind: "DriftReport" } });
    expect(await readRun(database(), "run-2")).toBeUndefined();
    expect(await readBundle(database(), "sha256:1")).toMatchObject({
      accounts: ["data/prod"],
      commit: "abc",
      dirty: true,
      files: [{ path: "dimsync.yaml", text: "kind: Config\n" }],
    });
    const all = { offset: 0, limit: 200 };
    expect((await findingsByCause(database(), all)).items).toMatchObject([
      {
        cause: "rule pii",
        risk: "exposed",
        findings: 2,
        accounts: ["data/prod", "other/prod"],
        example: { address: "Schemas/a" },
        since: "2026-03-01T08:00:00.000Z",
        actors: ["eve"],
      },
    ]);
    expect(await findingsByCause(database(), { offset: 0, limit: 0 }, "rule pii")).toEqual({ items: [], total: 1 });
    expect(await findingsByCause(database(), all, "another")).toEqual({ items: [], total: 0 });
    expect(await closedByCause(database(), { offset: 1, limit: 5 })).toMatchObject({ items: [{ isRepaired: false }], total: 2 });
    expect((await closedByCause(database(), all)).items).toMatchObject([
      { cause: "rule pii", accounts: ["old", "same"], isRepaired: true, closedRun: "run-3", since: "2026-03-01T07:00:00.000Z" },
      { cause: "rule pii", accounts: ["new"], isRepaired: false, actors: [] },
    ]);
    await database().query("update dimsync_controller.finding set since = closed_at - interval '4 minutes' where closed_run = 'run-2'", []);
    await database().query(
      "update dimsync_controller.finding set since = closed_at - interval '253 seconds' where closed_run = 'run-3'",
      [],
    );
    expect((await closedByCause(database(), all)).items[0]).toMatchObject({ openMs: 493_000, longestOpenMs: 253_000 });
    expect(await readMetrics(database())).toMatchObject({ queue: { running: 0 }, workers: [], counters: [] });
  });
});

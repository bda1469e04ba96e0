import { gzipSync } from "node:zlib";
import { expect, it, onTestFinished } from "vitest";
import { migrate, migrations } from "../../../../src/features/controller/database/migrate.ts";
import { readsOf } from "../../../../src/features/controller/page/reads.ts";
import { listAccounts } from "../../../../src/features/controller/views/accounts.ts";
import { dueAccounts } from "../../../../src/features/controller/work/claim.ts";
import { tracedReport } from "../../../core/render/html-report.ts";
import { describeDatabases, newDatabase } from "../../../support/postgres/controller-database.ts";
import { sampleOf } from "../../../support/sample.ts";
import { ask, started } from "./ask.ts";
import { violations } from "./openapi.ts";

const gzipped = (value: unknown): Buffer => gzipSync(JSON.stringify(value));
const bundle = { format: 1, source: "data", toolVersion: "0.1.0", configFile: "dimsync.yaml", files: { "dimsync.yaml": "kind: Config\n" } };

describeDatabases("the page of a database", (database) => {
  it("responds with the rows, as schema/controller-api.json describes them", async () => {
    await database().query(
      "insert into dimsync_controller.bundle (digest, source, git_commit, tool_version, content, bytes, pushed_by) values ('sha256:1', 'data', 'abc', '0.1.0', $1, 10, 'ci')",
      [gzipped(bundle)],
    );
    await database().script(`
insert into dimsync_controller.account (source, target, labels, mode, every_ms, outcome, exposed_columns, differences, last_checked_at, error_code, message, last_run, digest, running_run, running_worker, running_since) values
  ('data', 'prod', '{"team":"sales"}', 'protect', 60000, 'exposed', 2, 3, now(), 'E_HTTP', 'the last run failed', 'run-1', 'sha256:1', 'run-9', 'w1', now()),
  ('data', 'new', '{}', 'report', 60000, null, 0, 0, null, null, null, null, null, null, null, null);
insert into dimsync_controller.suspension (account, reason, until, suspended_by, resumed_by, resumed_at)
  select id, 'migration', now() + interval '1 hour', 'ann', resumer, case when resumer is null then null else now() end
  from dimsync_controller.account, (values (null), ('bob')) as resumers (resumer);
insert into dimsync_controller.run (id, account, reason, mode, worker, started_at, finished_at, exit_code, exit_reasons, digest, git_commit, calls, error_code, message)
  select 'run-' || n, id, 'schedule', 'protect', 'w1', now() - n * interval '1 minute', now() - n * interval '1 minute', 2, '["drift"]', 'sha256:1', 'abc', '{"GET":3}', 'E_HTTP', 'failed'
  from dimsync_controller.account, generate_series(1, 3) n where target = 'prod';
insert into dimsync_controller.finding (account, key, kind, address, path, risk, cause, detail, opened_at, opened_run, changed_at, actor)
  select id, 'k', 'change', 'Schemas/a', '/x', 'exposed', 'rule pii', '{"actual":"false","desired":"true","cause":{"rule":"pii","file":"a.yaml","line":3}}', now(), 'run-1', now(), 'eve'
  from dimsync_controller.account where target = 'prod';
insert into dimsync_controller.finding_event (finding, account, run, event, at, actor)
  select id, account, 'run-1', 'opened', now(), 'eve' from dimsync_controller.finding;
insert into dimsync_controller.finding (account, key, kind, address, path, risk, cause, opened_at, opened_run, closed_at, closed_run, closed_by)
  select id, 'closed', 'change', 'Schemas/a', '/y', 'exposed', 'rule new', now(), 'run-1', now(), 'run-2', 'dimsync'
  from dimsync_controller.account where target = 'prod';
insert into dimsync_controller.daily (account, day, checks) select id, (now() at time zone 'UTC')::date, 3 from dimsync_controller.account;
insert into dimsync_controller.counter (name, label, value) values ('lease_losses', '', 2), ('runs', '2', 3);`);
    await database().query("insert into dimsync_controller.report select account, 'd', $1 from dimsync_controller.run where id = 'run-1'", [
      gzipped(tracedReport),
    ]);
    await database().query("update dimsync_controller.run set report_digest = 'd' where id = 'run-1'", []);

    const page = await started({ reads: readsOf(database()), now: () => new Date() });
    const json = async (path: string): Promise<{ readonly items?: readonly { readonly id?: string }[] }> => {
      const { status, type, text } = await ask(page, path);
      expect([path, status, violations(path.split("?")[0] ?? "", status, type, text)]).toEqual([path, 200, []]);
      return JSON.parse(text);
    };
    expect(await json("/api/v1/accounts")).toMatchObject({ totals: { accounts: 2, byState: { suspended: 2 }, exposedAccounts: 1 } });
    expect(await json("/api/v1/accounts/prod")).toMatchObject({
      source: "data",
      findings: [{ actor: "eve" }],
      events: [{ event: "opened" }],
    });
    expect(await json("/api/v1/findings")).toMatchObject({ items: [{ cause: "rule pii", accounts: ["prod"] }] });
    expect(await json("/api/v1/runs/run-1")).toMatchObject({ report: { planId: tracedReport.planId } });
    expect(await json("/api/v1/bundles/sha256:1")).toMatchObject({ files: [{ path: "dimsync.yaml" }] });
    expect(await json("/api/v1/closed")).toMatchObject({ items: [{ cause: "rule new", isRepaired: true, closedRun: "run-2" }] });
    const runs = await json("/api/v1/runs?account=data/prod&limit=2&offset=1");
    expect(runs.items?.map(({ id }) => id)).toEqual(["run-2", "run-3"]);

    for (const path of ["/", "/accounts/prod", "/accounts/new", "/runs/run-1", "/runs/run-2", "/bundles/sha256:1", "/readyz"])
      expect([path, (await ask(page, path)).status]).toEqual([path, 200]);
    const metrics = (await ask(page, "/metrics")).text;
    expect(metrics).toContain('dimsync_controller_exposed_columns{account="prod"} 2\n');
    expect(metrics).toContain("dimsync_controller_lease_losses_total 2\n");
  });

  it("refuses rows that no controller writes", async () => {
    for (const sql of [
      `insert into dimsync_controller.notify values ('s', '{"receivers":"x","remindMs":"y"}')`,
      `update dimsync_controller.account set labels = '{"a":["b"]}'`,
      "update dimsync_controller.account set every_ms = 0, next_check_at = now()",
      "update dimsync_controller.finding set kind = 'x'",
    ])
      await expect(database().query(sql, []), sql).rejects.toThrow(/check constraint/u);
  });

  it("shows everything else if one value is odd and was written before such values were refused", async () => {
    await database().script(`
insert into dimsync_controller.notify (source, settings) values ('data', '{"receivers":[{"name":"r","type":"http"}],"remindMs":1,"groupMs":1}');
insert into dimsync_controller.worker (id, version, accounts_at_once) values ('w1', '0.1.0', 1);
insert into dimsync_controller.silence (account, reason, silenced_by, until) select id, 'x', 'ann', now() + interval '1 hour' from dimsync_controller.account where target = 'prod';
insert into dimsync_controller.event (source, account, name, acknowledged, queued_at, message, deliveries)
  select source, id, 'exposed', '{"by":"ann","reason":"known","at":"2026-01-01T00:00:00.000Z"}', now(), gen_random_uuid(), '{"r":{"at":"2026-01-01T00:00:00.000Z","error":{"message":"refused"}}}'
  from dimsync_controller.account where target = 'prod';
update dimsync_controller.account set running_worker = 'w1', running_until = now() + interval '1 hour', alerts = '{exposed}' where target = 'prod';`);
    const { rows: columns } = await database().query(
      `select table_name as "table", column_name as "column", udt_name as type from information_schema.columns
        where table_schema = 'dimsync_controller' and is_generated = 'NEVER' and is_identity = 'NO' and table_name <> 'format' order by 1, 2`,
      [],
    );
    const all = columns.flatMap(({ table, column, type }) =>
      (oddValues[String(type)] ?? []).map((value) => ({ table, column, type, value })),
    );
    const found: string[] = [];
    await database().transaction(async ({ query }) => {
      let last: Promise<unknown> = Promise.resolve();
      const inTurn: typeof query = (...call) => {
        const next = last.then(() => query(...call));
        last = next.catch(() => undefined);
        return next;
      };
      const page = await started({ reads: readsOf({ ...database(), query: inTurn }), now: () => new Date() });
      for (const table of ["account", "notify", "finding"])
        await inTurn(`alter table dimsync_controller.${table} drop constraint ${table}_odd`, []);
      for (const { table, column, value } of sampleOf(all, { name: "odd rows", kindOf: ({ table, type }) => `${table} ${type}` })) {
        await inTurn("savepoint before", []);
        const write = inTurn(`update dimsync_controller.${table} set ${column} = $1`, [value]);
        const replies = await write.then(
          () => Promise.all(["/", "/accounts/prod", "/metrics", "/api/v1/accounts"].map((path) => ask(page, path))),
          () => [],
        );
        if (replies.some(({ status }) => status !== 200)) found.push(`${table}.${column} = ${value}`);
        await inTurn("rollback to savepoint before", []);
      }
    });
    expect(found).toEqual([]);
  });
});

it("migrates a database with an odd row, shows its account as failing, and takes it no more", async () => {
  const database = await newDatabase();
  onTestFinished(database.close);
  await migrate(database, migrations.slice(0, 1));
  await database.script(`insert into dimsync_controller.account (source, target, mode, labels, every_ms) values
    ('data', 'odd', 'report', '{"a":{"b":[1]}}', 0), ('data', 'other', 'report', '{}', 60000)`);
  await migrate(database);
  expect(await dueAccounts(database, { seconds: -1, limit: 9 })).toHaveLength(1);
  const [odd] = await listAccounts(database);
  expect(odd).toMatchObject({ name: "odd", state: "failing", labels: {}, everyMs: 3_600_000, error: { code: "E_CONTROLLER_DATABASE" } });
  expect(odd?.error?.message).toContain("in labels, every_ms");
});

/** Of each type, values that a role with UPDATE can write, and no controller does. */
const oddValues: Readonly<Record<string, readonly string[]>> = {
  bool: ["true", "false"],
  bytea: ["x"],
  date: ["infinity", "4000-01-01"],
  float8: ["NaN", "-Infinity"],
  int4: ["-1", "2147483647"],
  int8: ["-1", "0", "9223372036854775807"],
  jsonb: ["null", "1", '"x"', "[]", "[1]", "{}", '{"a":{"b":[1]}}', '{"receivers":[{}]}', '{"r":"x"}'],
  text: ["", "x", "\u001b[31m<b>"],
  _text: ["{}", "{x,NULL}"],
  timestamptz: ["infinity", "-infinity", "20000-01-01"],
};

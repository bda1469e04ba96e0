import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { readsOf } from "../../../../src/features/controller/page/reads.ts";
import { tracedReport } from "../../../core/render/html-report.ts";
import { describeDatabases } from "../../../support/postgres/controller-database.ts";
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

  it.each([
    ["settings of a source without a list", `insert into dimsync_controller.notify values ('s', '{"receivers":"x","remindMs":"y"}')`],
    ["a receiver without a name", `insert into dimsync_controller.notify values ('s', '{"receivers":[{}],"remindMs":1,"groupMs":1}')`],
    ["labels other than strings", `update dimsync_controller.account set labels = '{"a":{"b":[1]}}'`],
    ["labels in a list", `update dimsync_controller.account set labels = '{"a":["b"]}'`],
    ["a check without pause", "update dimsync_controller.account set every_ms = 0, next_check_at = now()"],
    ["an unknown state", "update dimsync_controller.account set outcome = 'x'"],
    ["a time that never comes", "update dimsync_controller.account set next_check_at = 'infinity'"],
    ["a finding of an unknown kind", "update dimsync_controller.finding set kind = 'x'"],
    ["a finding whose cause is a list", `update dimsync_controller.finding set detail = '{"cause":[1]}'`],
  ])("a row written by hand cannot end the page and the metrics: %s", async (_, sql) => {
    await expect(database().query(sql, [])).rejects.toThrow(/check constraint/u);
  });
});

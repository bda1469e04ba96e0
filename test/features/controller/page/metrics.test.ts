import { expect, test } from "vitest";
import { controllerMetrics } from "../../../../src/features/controller/page/metrics.ts";
import type { ControllerMetrics } from "../../../../src/features/controller/views/health.ts";
import { ask, started } from "./ask.ts";
import { account, accountsOf, before, now, suspension, worldOf } from "./world.ts";

const empty: ControllerMetrics = { accounts: [], queue: { due: 0, running: 0, overdue: 0 }, workers: [], receivers: [], counters: [] };
const text = (members: Partial<ControllerMetrics>): string => controllerMetrics({ ...empty, ...members }, now);

test("each state has a sample, also without accounts", () => {
  expect(text({}).match(/^dimsync_controller_accounts\{.*$/gmu)).toEqual([
    'dimsync_controller_accounts{state="exposed"} 0',
    'dimsync_controller_accounts{state="drifted"} 0',
    'dimsync_controller_accounts{state="failing"} 0',
    'dimsync_controller_accounts{state="stale"} 0',
    'dimsync_controller_accounts{state="suspended"} 0',
    'dimsync_controller_accounts{state="in-sync"} 0',
    'dimsync_controller_accounts{state="pending"} 0',
  ]);
});

test("each account has its columns, the age of its check and its flags", () => {
  const { lastCheckedAt: _, ...unchecked } = account({ target: "new", state: "pending" });
  const accounts = [
    account({ target: "b", exposedColumns: 3, isStale: true, lastCheckedAt: before(90_000) }),
    account({ target: "a", suspension }),
    unchecked,
  ];
  const lines = text({ accounts }).split("\n");
  for (const line of [
    'dimsync_controller_exposed_columns{account="b"} 3',
    'dimsync_controller_check_age_seconds{account="b"} 90',
    'dimsync_controller_check_interval_seconds{account="b"} 900',
    'dimsync_controller_stale{account="b"} 1',
    'dimsync_controller_suspended{account="a"} 1',
    'dimsync_controller_suspended{account="b"} 0',
  ])
    expect(lines).toContain(line);
  expect(lines.filter((line) => line.startsWith("dimsync_controller_check_age_seconds{"))).toHaveLength(2);
});

test("queue, workers, runs, their duration and lost leases", () => {
  const lines = text({
    queue: { due: 4, running: 8, overdue: 2 },
    workers: [{ id: "w", isStuck: true, checks: [{ account: "prod", since: now.toISOString(), seconds: 240 }] }],
    counters: [
      { name: "runs", label: "2", value: 61 },
      { name: "run_bucket", label: "10", value: 60 },
      { name: "run_seconds", label: "", value: 1204.5 },
      { name: "lease_losses", label: "", value: 1 },
      { name: "notifications", label: "failed", value: 2 },
    ],
  }).split("\n");
  for (const line of [
    "dimsync_controller_queue_depth 4",
    "dimsync_controller_running 8",
    "dimsync_controller_workers 1",
    "dimsync_controller_accounts_overdue 2",
    'dimsync_controller_worker_stuck{worker="w"} 1',
    'dimsync_controller_check_running_seconds{worker="w",account="prod"} 240',
    'dimsync_controller_runs_total{exit_code="2"} 61',
    'dimsync_controller_run_duration_seconds_bucket{le="10"} 60',
    'dimsync_controller_run_duration_seconds_bucket{le="+Inf"} 61',
    "dimsync_controller_run_duration_seconds_sum 1204.5",
    "dimsync_controller_run_duration_seconds_count 61",
    "# TYPE dimsync_controller_run_duration_seconds histogram",
    "dimsync_controller_lease_losses_total 1",
    'dimsync_controller_notifications_total{outcome="failed"} 2',
    "# TYPE dimsync_controller_lease_losses_total counter",
    "# TYPE dimsync_controller_queue_depth gauge",
  ])
    expect(lines).toContain(line);
});

test("every counter begins at 0, so that a rate sees the first loss", () => {
  expect(text({}).match(/^dimsync_controller_(?:run|lease|notif)\w+(?:\{.*\})? /gmu)?.length).toBeGreaterThan(18);
  for (const line of [
    "lease_losses_total",
    'runs_total{exit_code="1"}',
    'notifications_total{outcome="failed"}',
    "run_duration_seconds_count",
  ])
    expect(text({})).toContain(`\ndimsync_controller_${line} 0\n`);
});

test("accounts have their source, mode and labels, and the process its version and memory", () => {
  const lines = text({ accounts: [account({ target: "a", source: "s", mode: "protect", labels: { "team/name": 'd"x' } })] });
  expect(lines).toContain('\ndimsync_controller_account_info{account="a",source="s",mode="protect",label_team_name="d\\"x"} 1\n');
  expect(lines).toMatch(/^dimsync_controller_build_info\{version="\d+\.\d+\.\d+[^"]*",node="\d+\.\d+\.\d+"\} 1$/mu);
  expect(lines).toMatch(/^dimsync_controller_process_resident_memory_bytes [1-9]\d{6,}$/mu);
  expect(lines).toMatch(/^dimsync_controller_process_cpu_seconds_total [\d.]+$/mu);
});

test("every line has the form of the text format, whatever a name contains", async () => {
  const hostile = 'a"b\\c\nd} 1\ndimsync_fake 1';
  const page = await started({ reads: worldOf([account({ target: hostile }), ...accountsOf(20)]) });
  const { text: all, type } = await ask(page, "/metrics");
  expect(type).toBe("text/plain; version=0.0.4; charset=utf-8");
  const label = '[a-z_]+="(?:[^"\\\\\\n]|\\\\[\\\\"n])*"';
  const line = new RegExp(
    `^(?:# HELP dimsync_controller_[a-z_]+ [A-Z1].*\\.|# TYPE dimsync_controller_[a-z_]+ (?:gauge|counter|histogram)|dimsync_controller_[a-z_]+(?:\\{${label}(?:,${label})*\\})? -?[0-9.]+)$`,
    "u",
  );
  expect(all.split("\n").filter((one) => one !== "" && !line.test(one))).toEqual([]);
  expect(all.endsWith("\n")).toBe(true);
});

test("receivers of notifications that fail, on the page too", async () => {
  const receivers = ["chat", "oncall"].map((name) => ({
    source: "data",
    name,
    type: "json",
    lastTriedAt: null,
    failure: name === "chat" ? "<no> secret" : null,
  }));
  expect(text({ receivers }).match(/^dimsync_controller_receiver_failing\{.*$/gmu)).toEqual([
    'dimsync_controller_receiver_failing{source="data",receiver="chat"} 1',
    'dimsync_controller_receiver_failing{source="data",receiver="oncall"} 0',
  ]);
  const page = await started({ reads: worldOf(accountsOf(1), { receivers: async () => receivers }) });
  expect((await ask(page, "/")).text).toContain(
    "Receiver <code>chat</code> of data does not get notifications.</strong> &lt;no&gt; secret.",
  );
});

import { byText } from "../../../core/model/address.ts";
import { version } from "../../../core/model/runtime/version.ts";
import { type Family, familyText, type Sample } from "../../../core/render/machine/prometheus.ts";
import { type ControllerMetrics, runBuckets } from "../views/health.ts";
import { type AccountSummary, accountStates } from "../views/status.ts";
import { totalsOf } from "./accounts.ts";
import type { PageReads } from "./reads.ts";
import { type Reply, textReply } from "./reply.ts";
import type { PageRequest } from "./routes.ts";

/** `GET /metrics`: Prometheus text format 0.0.4. */
export async function metricsReply(reads: PageReads, { now }: PageRequest): Promise<Reply> {
  return textReply(controllerMetrics(await reads.metrics(), now), { version: "0.0.4" });
}

/** Prometheus text. */
export function controllerMetrics(metrics: ControllerMetrics, now: Date): string {
  const accounts = metrics.accounts.toSorted((a, b) => byText(a.name, b.name));
  const families = [
    ...processFamilies(),
    ...accountFamilies(accounts, now),
    ...queueFamilies(metrics),
    durationFamily(metrics),
    ...counterFamilies(metrics),
  ];
  return families.map((family) => familyText({ ...family, name: `controller_${family.name}` })).join("");
}

const gauge = (name: string, help: string, samples: readonly Sample[]): Family => ({ name, help, type: "gauge", samples });

type Measure = (account: AccountSummary, now: Date) => number | undefined;

/** One sample for each account; none if the value is undefined. */
const accountMetrics: readonly (readonly [name: string, help: string, measure: Measure])[] = [
  ["exposed_columns", "Columns that are less protected than the manifests declare.", ({ exposedColumns }) => exposedColumns],
  ["policy_violations", "Violations of policies of severity error.", ({ policyViolations }) => policyViolations],
  ["differences", "Differences that requests could fix.", ({ differences }) => differences],
  ["manual_steps", "Differences that can only be fixed by hand.", ({ manual }) => manual],
  [
    "check_age_seconds",
    "Time since the last finished comparison. Absent before the first one.",
    ({ lastCheckedAt }, now) => (lastCheckedAt === undefined ? undefined : Math.max(0, (now.getTime() - Date.parse(lastCheckedAt)) / 1000)),
  ],
  ["check_interval_seconds", "Interval of the checks that is used now.", ({ intervalMs }) => intervalMs / 1000],
  ["stale", "1 if the account was not checked within three intervals.", ({ isStale }) => (isStale ? 1 : 0)],
  ["failing", "1 if the last run failed.", ({ error }) => (error === undefined ? 0 : 1)],
  ["suspended", "1 if checks are suspended.", ({ suspension }) => (suspension === undefined ? 0 : 1)],
];

function accountFamilies(accounts: readonly AccountSummary[], now: Date): readonly Family[] {
  const { byState } = totalsOf(accounts);
  // Every state is a sample, so that an alert rule finds zeros too.
  const states = accountStates.map((state): Sample => [{ state }, byState[state]]);
  const labelled = accounts.map(({ name, source, mode, labels }): Sample => [{ account: name, source, mode, ...labelNames(labels) }, 1]);
  return [
    gauge("accounts", "Accounts under control by state.", states),
    gauge("account_info", "1 for each account, with its source, mode and labels.", labelled),
    ...accountMetrics.map(([name, help, measure]) => {
      const samples = accounts.flatMap((account): readonly Sample[] => {
        const value = measure(account, now);
        return value === undefined ? [] : [[{ account: account.name }, value]];
      });
      return gauge(name, help, samples);
    }),
  ];
}

/** Labels have their name after "label_". */
const labelNames = (labels: AccountSummary["labels"]): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(labels).map(([name, value]) => [`label_${name.replaceAll(/[^A-Za-z0-9_]/gu, "_")}`, value]));

const queueFamilies = ({ queue, workers, receivers }: ControllerMetrics): readonly Family[] => [
  gauge("queue_depth", "Accounts that are due and not running.", [[{}, queue.due]]),
  gauge("accounts_overdue", "Accounts that have been due for two intervals.", [[{}, queue.overdue]]),
  gauge("running", "Accounts that are checked now.", [[{}, queue.running]]),
  gauge("workers", "Worker processes seen in the last two minutes.", [[{}, workers.length]]),
  gauge(
    "worker_stuck",
    "1 if accounts have been due for two intervals, in which this worker took none and checked none.",
    workers.map(({ id, isStuck }) => [{ worker: id }, isStuck ? 1 : 0]),
  ),
  gauge(
    "check_running_seconds",
    "How long the check of the account has been running.",
    workers.flatMap(({ id, checks }) => checks.map(({ account, seconds }): Sample => [{ worker: id, account }, seconds])),
  ),
  gauge(
    "receiver_failing",
    "1 if the receiver of notifications did not accept the last message.",
    receivers.map(({ source, name, failure }) => [{ source, receiver: name }, failure === null ? 0 : 1]),
  ),
];

interface Counter {
  /** In the database. It counts from the first run of the controller. */
  readonly name: string;
  readonly metric: string;
  readonly help: string;
  readonly label?: string;
  /** Of the label: they begin at 0, so that a rate sees the first one. */
  readonly values?: readonly string[];
}

const counters: readonly Counter[] = [
  { name: "runs", metric: "runs_total", help: "Runs by exit code.", label: "exit_code", values: ["0", "1", "2", "3", "4", "6"] },
  {
    name: "lease_losses",
    metric: "lease_losses_total",
    help: "Runs that lost the lease of the records, or could not renew it in time, and stopped sending.",
  },
  {
    name: "notifications",
    metric: "notifications_total",
    help: "Attempts to send a notification by outcome.",
    label: "outcome",
    values: ["sent", "failed"],
  },
];

const counterFamilies = ({ counters: stored }: ControllerMetrics): readonly Family[] =>
  counters.map(({ name, metric, help, label, values = [] }) => {
    const found = new Map(stored.filter((each) => each.name === name).map((each) => [each.label, each.value]));
    const labels = label === undefined ? [""] : [...new Set([...values, ...found.keys()])].sort(byText);
    const samples = labels.map((value): Sample => [label === undefined ? {} : { [label]: value }, found.get(value) ?? 0]);
    return { name: metric, help, type: "counter", samples };
  });

function durationFamily({ counters: stored }: ControllerMetrics): Family {
  const sum = (name: string, label?: string): number =>
    stored.reduce((total, each) => total + (each.name === name && (label === undefined || each.label === label) ? each.value : 0), 0);
  const count = sum("runs");
  const samples: readonly Sample[] = [
    ...runBuckets.map((le): Sample => [{ le: String(le) }, sum("run_bucket", String(le)), "_bucket"]),
    [{ le: "+Inf" }, count, "_bucket"],
    [{}, sum("run_seconds"), "_sum"],
    [{}, count, "_count"],
  ];
  return { name: "run_duration_seconds", help: "How long runs took.", type: "histogram", samples };
}

function processFamilies(): readonly Family[] {
  const { user, system } = process.cpuUsage();
  return [
    gauge("build_info", "1, with the version of this process.", [[{ version, node: process.versions.node }, 1]]),
    gauge("process_start_time_seconds", "When this process started, in seconds since 1970.", [
      [{}, Math.round(performance.timeOrigin / 1000)],
    ]),
    gauge("process_resident_memory_bytes", "Memory of this process.", [[{}, process.memoryUsage.rss()]]),
    {
      name: "process_cpu_seconds_total",
      help: "Processor time of this process.",
      type: "counter",
      samples: [[{}, (user + system) / 1e6]],
    },
  ];
}

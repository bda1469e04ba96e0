import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { changeCount } from "../../../core/model/changes.ts";
import type { Plan } from "../../../core/model/plan.ts";
import type { ControllerMode } from "../../../core/model/settings/config.ts";
import type { AlertEvent } from "../../../core/model/settings/notifications.ts";
import { masked } from "../../../core/model/settings/secret.ts";
import type { Database } from "../../../core/records/postgres/connection.ts";
import { jsonParameter } from "../../../core/records/postgres/stored-text.ts";
import { andMore } from "../../../core/text/lists.ts";
import { rowsOf } from "../database/rows.ts";
import { runBuckets } from "../views/health.ts";
import { intervalSql } from "../views/sql.ts";
import type { RunSummary } from "../views/status.ts";
import type { RunOutcome } from "./check.ts";
import { findingsOf, maxFindings } from "./findings.ts";
import { eventSteps } from "./record-events.ts";

/** A run to record. */
export interface FinishedRun {
  readonly id: string;
  /** The claim under which it ran; several runs can follow each other under one claim. */
  readonly claim: string;
  readonly account: number;
  readonly reason: RunSummary["reason"];
  readonly mode: ControllerMode;
  readonly worker: string;
  readonly generation: number;
  readonly digest?: string | undefined;
  readonly commit?: string | undefined;
  /** By `performance.now()`: the database dates the run by its own clock. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly outcome: RunOutcome;
  /** Whether the claim ends with it. */
  readonly isLast: boolean;
  /** What a run that was interrupted has repaired. */
  readonly repairedBefore?: RepairedBefore | undefined;
  /** The bundle could not be loaded. */
  readonly isRefused?: boolean;
}

/** Changes that a run has sent before it was interrupted, according to the audit log. */
export interface RepairedBefore {
  readonly run: string;
  readonly places: readonly { readonly address: string; readonly path: string }[];
}

export interface Recorded {
  /** Whether the claim was held. If not, another run has taken the account over, and only the run itself is kept; or this one is the last of its claim and was recorded before. */
  readonly is_current: boolean;
  readonly opened: number;
  /** In how many seconds the account is due, if the claim has ended. */
  readonly next_in_seconds: number | null;
}

/**
 * Stores that a run is about to send changes. `recordRun` completes it; if the worker is killed, this is what the history has.
 * Rejects if it could not be stored: then nothing may be sent.
 */
export async function recordSending(database: Database, run: Omit<FinishedRun, "endedAt" | "outcome">, report: Plan): Promise<void> {
  const requests = report.items.flatMap((item) => item.requests.map(({ method, path }) => `${method} ${path}`));
  const what = run.mode === "protect" ? "protects" : "differs";
  const message = `The worker ended before it stored what it had sent. It was about to send what ${what} of: ${andMore(requests, { shown: 20 })}. The next check compares the account again.`;
  const outcome: RunOutcome = {
    exit: { code: 4, reasons: ["interrupted"] },
    report,
    isThrottled: false,
    error: { code: "E_RUN_INTERRUPTED", message },
  };
  const values = await parametersOf({ ...run, endedAt: run.startedAt, outcome }, true);
  await rowsOf(database, "select id from run", values, statementOf(storingSteps));
}

/** Stores a run with its report, and what it says about the account and its findings, in one statement: all or nothing, and once. */
export async function recordRun(database: Database, run: FinishedRun): Promise<Recorded> {
  const [recorded] = await rowsOf<Recorded>(
    database,
    `select exists (select 1 from this_run) or exists (select 1 from repeated) as is_current, (select count(*) from opened) as opened,
      (select extract(epoch from next_check_at - now())::double precision from account where running_run is null) as next_in_seconds`,
    await parametersOf(run, false),
    statement,
  );
  return recorded ?? { is_current: false, opened: 0, next_in_seconds: null };
}

/** Of the steps: the run, its report and result, and the digest and the head of the report. */
async function parametersOf(run: FinishedRun, isSending: boolean): Promise<readonly unknown[]> {
  const { report, result } = run.outcome;
  const stored = report === undefined ? undefined : await storedReport(report);
  const zipped = result === undefined ? null : await compress(masked(JSON.stringify(result)));
  const all: Input = { ...inputOf(run), isSending };
  const input = masked(jsonParameter(all));
  return [input, stored?.content ?? null, zipped, stored?.digest ?? null, stored?.head ?? null];
}

// A report can be long, and other checks go on meanwhile.
const compress = promisify(gzip);

/**
 * Splits a report into `head`, which differs in every run, and `content`, which runs with equal findings share. `digest` identifies the content.
 */
async function storedReport({ planId, createdAt, calls, ...report }: Plan) {
  const text = masked(JSON.stringify(report));
  return {
    digest: createHash("sha256").update(text).digest("hex"),
    head: JSON.stringify({ planId, createdAt, calls }),
    content: await compress(text),
  };
}

/** The state of the account that a report shows; undefined if it was not read completely and nothing is known to be exposed. */
function stateOf({ complete, summary, policy, exit }: Plan): "exposed" | "drifted" | "in-sync" | undefined {
  if ((summary.exposed ?? 0) > 0 || violations({ policy }) > 0) return "exposed";
  if (!complete || exit.code === 1) return undefined;
  return exit.code === 2 ? "drifted" : "in-sync";
}

const violations = ({ policy }: Pick<Plan, "policy">): number =>
  policy.filter(({ severity, state }) => severity === "error" && state !== "fixed").length;

function differencesIn({ items }: Plan): number {
  return items.reduce((sum, item) => sum + (item.action === "bind" ? 0 : item.action === "create" ? 1 : Math.max(1, changeCount(item))), 0);
}

/** Whether a run that had the lease stopped, because another run took it or it could not be renewed in time. */
const hasLostLease = ({ exit, result }: RunOutcome): boolean =>
  [exit, result?.exit].some((each) => each?.reasons.includes("lock-lost")) ||
  result?.items.some(({ code }) => code === "E_LOCKED" || code === "E_RECORDS_UNCLEAR") === true;

function inputOf(run: FinishedRun) {
  const { outcome, startedAt, endedAt, isRefused: _, ...same } = run;
  const { report, result, error, exit } = outcome;
  const findings = report === undefined ? [] : findingsOf(report);
  const state = report === undefined ? undefined : stateOf(report);
  const isFinished = report?.complete === true && exit.code !== 1;
  return {
    ...same,
    findings,
    state,
    durationMs: endedAt - startedAt,
    endedMsAgo: performance.now() - endedAt,
    exitCode: exit.code,
    exitReasons: exit.reasons,
    errorCode: error?.code,
    message: error?.message,
    isFinished,
    /** Whether findings that are missing in it are gone. */
    isComplete: isFinished && findings.length < maxFindings,
    isThrottled: outcome.isThrottled,
    hasLostLease: hasLostLease(outcome),
    exposedColumns: report?.summary.exposed ?? 0,
    differences: report === undefined ? 0 : differencesIn(report),
    manual: report?.manual.length ?? 0,
    policyViolations: report === undefined ? 0 : violations(report),
    changesSent:
      result?.items.filter(({ outcome: how, action }) => action !== "bind" && (how === "done" || how === "recovered")).length ?? 0,
    calls: result?.calls ?? report?.calls.read ?? {},
    closedBy: result === undefined ? undefined : "dimsync",
    fault: faultOf(run),
  };
}

/** The event of a run that failed. */
function faultOf({ outcome: { error }, isRefused = false }: FinishedRun): AlertEvent | undefined {
  if (error === undefined) return undefined;
  return error.code === "E_PROTECT_STOPPED" ? "protection-stopped" : isRefused ? "bundle-refused" : "failing";
}

type Input = ReturnType<typeof inputOf> & { readonly isSending: boolean };

/** A column of `input` for each member: one that is missing here would be lost. */
const inputTypes: Readonly<Record<keyof Input, "text" | "bigint" | "integer" | "double precision" | "boolean" | "jsonb">> = {
  ...{ id: "text", claim: "text", account: "bigint", reason: "text", mode: "text", worker: "text", generation: "bigint" },
  ...{ digest: "text", commit: "text", isLast: "boolean", isSending: "boolean", repairedBefore: "jsonb" },
  ...{ durationMs: "double precision", endedMsAgo: "double precision", exitCode: "integer", exitReasons: "jsonb" },
  ...{ errorCode: "text", message: "text", fault: "text", state: "text", isFinished: "boolean", isComplete: "boolean" },
  ...{ isThrottled: "boolean", hasLostLease: "boolean", closedBy: "text", calls: "jsonb", findings: "jsonb" },
  ...{ exposedColumns: "integer", differences: "integer", manual: "integer", policyViolations: "integer", changesSent: "integer" },
};

const inputColumns = Object.entries(inputTypes)
  .map(([name, type]) => `"${name}" ${type}`)
  .join(", ");

/** How many runs in a row ended in 429 or 5xx, this one included. */
const throttledSql = 'case when this_run."isThrottled" then a.throttled_runs + 1 else 0 end';

/** What stores the run itself. Each step sees the tables as they were before the statement, and the rows that earlier steps return. */
const storingSteps: Readonly<Record<string, string>> = {
  input: `select *, now() - "endedMsAgo" * interval '1 ms' as "finishedAt",
      now() - ("endedMsAgo" + "durationMs") * interval '1 ms' as "startedAt"
    from jsonb_to_record($1::jsonb) as x(${inputColumns})`,

  report: `insert into dimsync_controller.report (account, digest, content) select account, $4::text, $2::bytea from input where $4::text is not null
    on conflict (account, digest) do update set seen_at = now()`,

  run: `insert into dimsync_controller.run as r (id, claim, is_sending, account, reason, mode, worker, digest, generation, git_commit, started_at, finished_at,
      exit_code, exit_reasons, exposed_columns, differences, manual, policy_violations, changes_sent, error_code, message, calls, report_digest, report_head, result)
    select id, claim, "isSending", account, reason, mode, worker, digest, generation, commit, "startedAt", "finishedAt", "exitCode", "exitReasons",
      "exposedColumns", differences, manual, "policyViolations", "changesSent", "errorCode", message, calls, $4::text, $5::jsonb, $3::bytea from input
    on conflict (id) do update set is_sending = false, finished_at = excluded.finished_at, exit_code = excluded.exit_code,
      exit_reasons = excluded.exit_reasons, exposed_columns = excluded.exposed_columns, differences = excluded.differences, manual = excluded.manual,
      policy_violations = excluded.policy_violations, changes_sent = excluded.changes_sent, error_code = excluded.error_code, message = excluded.message,
      calls = excluded.calls, report_digest = coalesce(excluded.report_digest, r.report_digest),
      report_head = coalesce(excluded.report_head, r.report_head), result = excluded.result
      where r.is_sending returning id`,
};

const steps: Readonly<Record<string, string>> = {
  ...storingSteps,

  // The run, if it is new and its claim is still held: only then it says something about the account.
  this_run: `select input.*, a.source, a.alerts as before from input join run using (id) join dimsync_controller.account a on a.id = input.account
    where a.running_run = input.claim for update of a`,

  // The claim continues after a run that was recorded before: the response was lost.
  repeated: `select 1 from input join dimsync_controller.account a on a.id = input.account where a.running_run = input.claim and a.last_run = input.id`,

  found: `select this_run.account, this_run.id as run, this_run."finishedAt" as at, f.* from this_run,
    jsonb_to_recordset(this_run.findings) as f(key text, kind text, address text, path text, risk text, cause text, detail jsonb, actor text, since timestamptz)`,

  // Runs of earlier claims that never stored how they ended. Only a comparison shows what they did.
  interrupted: `update dimsync_controller.run r set interrupted_at = now() from this_run
    where r.account = this_run.account and this_run."isFinished" and r.is_sending and r.interrupted_at is null and r.claim <> this_run.claim returning r.id, r.exit_code`,

  repaired: `select x.address, x.path, this_run."repairedBefore" ->> 'run' as run
    from this_run, jsonb_to_recordset(this_run."repairedBefore" -> 'places') as x(address text, path text)`,

  closed: `update dimsync_controller.finding f set closed_at = this_run."finishedAt",
      closed_run = coalesce((select run from repaired r where r.address = f.address and r.path = f.path limit 1), this_run.id),
      closed_by = case when exists (select from repaired r where r.address = f.address and r.path = f.path) then 'dimsync' else this_run."closedBy" end
    from this_run where f.account = this_run.account and f.closed_at is null and this_run."isComplete"
      and not exists (select 1 from found where found.key = f.key) returning f.*`,

  changed: `update dimsync_controller.finding f set risk = found.risk, cause = found.cause, detail = found.detail, changed_at = found.at,
      actor = coalesce(found.actor, f.actor), since = coalesce(found.since, f.since)
    from found, dimsync_controller.finding was where was.id = f.id and f.account = found.account and f.key = found.key and f.closed_at is null
      and (f.risk, f.detail -> 'actual', f.detail -> 'desired', f.detail -> 'text', coalesce(found.actor, f.actor))
        is distinct from (found.risk, found.detail -> 'actual', found.detail -> 'desired', found.detail -> 'text', f.actor)
    returning f.id, f.account, f.key, f.detail, f.actor, was.risk as risk_before`,

  opened: `insert into dimsync_controller.finding (account, key, kind, address, path, risk, cause, detail, opened_at, opened_run, actor, since)
    select account, key, kind, address, path, risk, cause, detail, at, run, actor, coalesce(since, at) from found
    where not exists (select 1 from dimsync_controller.finding f where f.account = found.account and f.key = found.key and f.closed_at is null)
    on conflict do nothing returning id, account, key, detail, actor`,

  history: `insert into dimsync_controller.finding_event (finding, account, run, event, at, actor, detail)
    select e.finding, e.account, coalesce(e.run, this_run.id), e.event, this_run."finishedAt", e.actor, e.detail from this_run, (
      select id as finding, account, null as run, 'opened' as event, actor, detail from opened
      union all select id, account, null, 'changed', actor, detail from changed
      union all select id, account, closed_run, 'closed', closed_by, detail from closed) e`,

  day: `insert into dimsync_controller.daily as d (account, day, checks, failures, exposed_columns, differences, manual, opened, closed, changes_sent, duration_ms)
    select account, ("finishedAt" at time zone 'UTC')::date, 1, case when "errorCode" is null then 0 else 1 end, "exposedColumns", differences, manual,
      (select count(*) from opened), (select count(*) from closed), "changesSent", extract(epoch from "finishedAt" - "startedAt") * 1000 from this_run
    on conflict (account, day) do update set checks = d.checks + 1, failures = d.failures + excluded.failures,
      exposed_columns = greatest(d.exposed_columns, excluded.exposed_columns), differences = greatest(d.differences, excluded.differences),
      manual = greatest(d.manual, excluded.manual), opened = d.opened + excluded.opened, closed = d.closed + excluded.closed,
      changes_sent = d.changes_sent + excluded.changes_sent, duration_ms = d.duration_ms + excluded.duration_ms`,

  // A run that lost its lease has usually lost its claim too.
  counters: `insert into dimsync_controller.counter as c (name, label, value)
    select 'runs', label, count(*) from (select "exitCode"::text as label from this_run union all select exit_code::text from interrupted) ended group by label
    union all
    select 'lease_losses', '', 1 from input join run using (id) where "hasLostLease" union all
    select 'run_seconds', '', "durationMs" / 1000 from this_run union all
    select 'run_bucket', le::text, 1 from this_run, unnest(array[${runBuckets.join(", ")}]) as le where "durationMs" <= le * 1000
    on conflict (name, label) do update set value = c.value + excluded.value`,

  ...eventSteps,

  account: `update dimsync_controller.account a set
      outcome = coalesce(this_run.state, a.outcome),
      exposed_columns = case when this_run.state is null then a.exposed_columns else this_run."exposedColumns" end,
      differences = case when this_run.state is null then a.differences else this_run.differences end,
      manual = case when this_run.state is null then a.manual else this_run.manual end,
      policy_violations = case when this_run.state is null then a.policy_violations else this_run."policyViolations" end,
      error_code = this_run."errorCode", message = this_run.message, last_run = this_run.id,
      last_checked_at = case when this_run."isFinished" then this_run."finishedAt" else a.last_checked_at end,
      observed = case when this_run."isFinished" then this_run.generation else a.observed end,
      observed_digest = case when this_run."isFinished" then this_run.digest else a.observed_digest end,
      observed_commit = case when this_run."isFinished" then this_run.commit else a.observed_commit end,
      throttled_runs = ${throttledSql},
      failed_runs = case when this_run."errorCode" is null then 0 else a.failed_runs + 1 end,
      next_check_at = case when not this_run."isLast" then a.next_check_at when a.wanted > this_run.generation then now()
        else now() + ${intervalSql(throttledSql)}
          * (case when a.last_checked_at is null then random() else 0.9 + random() * 0.2 end) * interval '1 ms' end,
      alerts = alerts.after,
      running_run = case when this_run."isLast" then null else a.running_run end,
      running_worker = case when this_run."isLast" then null else a.running_worker end,
      running_until = case when this_run."isLast" then null else a.running_until end
    from this_run, alerts where a.id = this_run.account returning a.*`,
};

const statementOf = (some: Readonly<Record<string, string>>): string =>
  Object.entries(some)
    .map(([name, sql]) => `${name} as (${sql})`)
    .join(",\n");

const statement = statementOf(steps);

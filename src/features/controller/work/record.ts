import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Plan } from "../../../core/model/plan.ts";
import type { ControllerMode } from "../../../core/model/settings/config.ts";
import type { AlertEvent } from "../../../core/model/settings/notifications.ts";
import { masked } from "../../../core/model/settings/secret.ts";
import type { Queries, TransactionalDatabase } from "../../../core/records/postgres/connection.ts";
import { iso } from "../../../core/records/postgres/connection.ts";
import { jsonParameter } from "../../../core/records/postgres/stored-text.ts";
import { andMore } from "../../../core/text/lists.ts";
import { rowsOf } from "../database/rows.ts";
import { runBuckets } from "../views/health.ts";
import { intervalSql } from "../views/sql.ts";
import type { RunSummary } from "../views/status.ts";
import type { RunOutcome } from "./check.ts";
import { type FoundFinding, findingsOf, maxFindings } from "./findings.ts";
import { changesSent, countsIn, faultOf, hasLostLease, stateOf } from "./outcome.ts";
import { countProtections, type ExposedChange, forgetProtections } from "./protections.ts";
import { type ClosedFinding, exposes, reportedOf } from "./record-events.ts";

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
  /** What protect sends changes for. */
  readonly protects?: readonly ExposedChange[] | undefined;
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
  readonly isCurrent: boolean;
  /** In how many seconds the account is due, if the claim has ended. */
  readonly nextInSeconds: number | null;
}

/**
 * Stores that a run is about to send changes. `recordRun` completes it; if the worker is killed, this is what the history has.
 * Rejects if it could not be stored: then nothing may be sent.
 */
export async function recordSending(
  database: TransactionalDatabase,
  run: Omit<FinishedRun, "endedAt" | "outcome">,
  report: Plan,
): Promise<void> {
  const requests = report.items.flatMap((item) => item.requests.map(({ method, path }) => `${method} ${path}`));
  const what = run.mode === "protect" ? "protects" : "differs";
  const message = `The worker ended before it stored what it had sent. It was about to send what ${what} of: ${andMore(requests, "request", { shown: 20 })}. The next check compares the account again.`;
  const outcome: RunOutcome = {
    exit: { code: 4, reasons: ["interrupted"] },
    report,
    isThrottled: false,
    error: { code: "E_RUN_INTERRUPTED", message },
  };
  await recording(database, { ...run, endedAt: run.startedAt, outcome }, async (now) => {
    await countProtections(now.queries, { ...run, run: run.id, changes: run.protects ?? [] });
    await storeRun(now, true);
  });
}

/** Stores a run with its report, and what it says about the account and its findings: all or nothing, and once. */
export const recordRun = (database: TransactionalDatabase, run: FinishedRun): Promise<Recorded> =>
  recording(database, run, async (now) => {
    const { queries, account } = now;
    const isNew = await storeRun(now, false);
    await forgetProtections(queries, { run: run.id, changes: run.protects ?? [], outcome: run.outcome });
    // A run that lost its lease has usually lost its claim too.
    const losses = isNew && hasLostLease(run.outcome) ? [{ name: "lease_losses", label: "", value: 1 }] : [];
    if (account.isHeld && isNew) return await storeResults(now, losses);
    await count(queries, losses);
    // The claim continues after a run that was recorded before: the response was lost.
    return { isCurrent: account.isHeld && account.lastRun === run.id, nextInSeconds: null };
  });

/** The run that is recorded in a transaction. */
interface Recording {
  readonly queries: Queries;
  readonly run: FinishedRun;
  readonly account: LockedAccount;
  /** Compressed texts, which may be long. */
  readonly report: Awaited<ReturnType<typeof storedReport>> | undefined;
  readonly result: Buffer | null;
}

async function recording<T>(database: TransactionalDatabase, run: FinishedRun, work: (now: Recording) => Promise<T>): Promise<T> {
  const { report: found, result: sent } = run.outcome;
  const report = found === undefined ? undefined : await storedReport(found);
  const result = sent === undefined ? null : await compress(masked(JSON.stringify(sent)));
  return await database.transaction(async (queries) => work({ queries, run, account: await readAccount(queries, run), report, result }));
}

/** An account before a run is recorded. It stays locked until the transaction ends. */
interface LockedAccount {
  readonly source: string;
  readonly alerts: readonly AlertEvent[];
  readonly throttledRuns: number;
  readonly failedRuns: number;
  /** Whether the claim of the run is still held: only then the run says something about the account. */
  readonly isHeld: boolean;
  readonly lastRun: string | null;
  /** Of the run, by the clock of the database: ISO 8601. */
  readonly startedAt: string;
  readonly finishedAt: string;
}

async function readAccount(queries: Queries, { account, claim, startedAt, endedAt }: FinishedRun): Promise<LockedAccount> {
  const [found] = await rowsOf<LockedAccount>(
    queries,
    "select * from locked",
    [account, claim, performance.now() - startedAt, performance.now() - endedAt],
    `locked as (select source, alerts, throttled_runs as "throttledRuns", failed_runs as "failedRuns",
        coalesce(running_run = $2, false) as "isHeld", last_run as "lastRun",
        ${iso("(now() - $3::double precision * interval '1 ms')")} as "startedAt", ${iso("(now() - $4::double precision * interval '1 ms')")} as "finishedAt"
      from dimsync_controller.account where id = $1 for update)`,
  );
  if (found === undefined) throw new Error("The account has disappeared.");
  return found;
}

/** Values as a parameter of type jsonb, without secrets. */
const stored = (value: unknown): string => masked(jsonParameter(value));

/** Stores the run, or completes one that was stored before it sent changes. False if it is stored already. */
async function storeRun({ queries, run, account, report, result }: Recording, isSending: boolean): Promise<boolean> {
  if (report !== undefined)
    await queries.query(
      `insert into dimsync_controller.report (account, digest, content) values ($1, $2, $3)
        on conflict (account, digest) do update set seen_at = now()`,
      [run.account, report.digest, report.content],
    );
  const { exit, error, result: sent } = run.outcome;
  const begun = {
    ...{ id: run.id, claim: run.claim, account: run.account, reason: run.reason, mode: run.mode, worker: run.worker },
    ...{ digest: run.digest, generation: run.generation, git_commit: run.commit, started_at: account.startedAt },
  };
  const ended = {
    ...{
      is_sending: isSending,
      finished_at: account.finishedAt,
      exit_code: exit.code,
      exit_reasons: exit.reasons,
      ...countsIn(run.outcome),
    },
    ...{ changes_sent: changesSent(run.outcome), error_code: error?.code, message: error?.message },
    calls: sent?.calls ?? run.outcome.report?.calls.read ?? {},
    ...(report === undefined ? {} : { report_digest: report.digest, report_head: report.head }),
  };
  const columns = Object.keys({ ...begun, ...ended }).join(", ");
  const { rows } = await queries.query(
    `insert into dimsync_controller.run as r (${columns}, result)
      select ${columns}, $2::bytea from jsonb_populate_record(null::dimsync_controller.run, $1::jsonb)
      on conflict (id) do update set ${Object.keys(ended)
        .map((column) => `${column} = excluded.${column}`)
        .join(", ")}, result = excluded.result
      where r.is_sending returning id`,
    [stored({ ...begun, ...ended }), result],
  );
  return rows.length > 0;
}

/** Stores what a run says about its account: it is new, and its claim is held. */
async function storeResults(now: Recording, losses: readonly Counted[]): Promise<Recorded> {
  const { queries, run, account } = now;
  const { report, error, exit } = run.outcome;
  const found: readonly FoundFinding[] = report === undefined ? [] : JSON.parse(masked(JSON.stringify(findingsOf(report))));
  const isFinished = report?.complete === true && exit.code !== 1;
  const interrupted = isFinished ? await noteInterrupted(now) : [];
  // Whether findings that are missing in it are gone.
  const isComplete = isFinished && found.length < maxFindings;
  const closed = isComplete ? await closeFindings(now, found) : [];
  const changed = found.length === 0 ? [] : await changeFindings(now, found);
  const opened = found.length === 0 ? [] : await openFindings(now, found);
  await noteHistory(now, { opened, changed, closed });
  await addDay(now, opened.length, closed.length);
  const riskBefore = new Map(changed.map(({ key, risk_before }) => [key, risk_before]));
  const reported = reportedOf({
    before: account.alerts,
    state: report === undefined ? undefined : stateOf(report),
    isFinished,
    fault: faultOf(run),
    error,
    counts: countsIn(run.outcome),
    found: found.map((finding) => ({ ...finding, since: finding.since ?? account.finishedAt, actor: finding.actor ?? null })),
    news: new Set([
      ...opened.map(({ key }) => key),
      ...found.filter(({ key, risk }) => exposes(risk) && !exposes(riskBefore.get(key) ?? risk)).map(({ key }) => key),
    ]),
    closed,
  });
  if (reported.events.length > 0)
    await queries.query(
      `insert into dimsync_controller.event (source, account, run, git_commit, name, since, cause, actor, detail, resolves)
        select $1, $2, $3, $4, name, since, cause, actor, detail, resolves
        from jsonb_to_recordset($5::jsonb) as x(name text, since timestamptz, cause text, actor text, detail jsonb, resolves text[])`,
      [account.source, run.account, run.id, run.commit ?? null, stored(reported.events)],
    );
  const nextInSeconds = await storeAccount(now, isFinished, reported.alerts);
  const seconds = (run.endedAt - run.startedAt) / 1000;
  await count(queries, [
    ...losses,
    ...[exit.code, ...interrupted].map((code) => ({ name: "runs", label: String(code), value: 1 })),
    { name: "run_seconds", label: "", value: seconds },
    ...runBuckets.filter((le) => seconds <= le).map((le) => ({ name: "run_bucket", label: String(le), value: 1 })),
  ]);
  return { isCurrent: true, nextInSeconds };
}

/** Runs of earlier claims that never stored how they ended: only a comparison shows what they did. Returns their exit codes. */
async function noteInterrupted({ queries, run }: Recording): Promise<readonly number[]> {
  const { rows } = await queries.query(
    `update dimsync_controller.run set interrupted_at = now()
      where account = $1 and is_sending and interrupted_at is null and claim <> $2 returning exit_code`,
    [run.account, run.claim],
  );
  return rows.map(({ exit_code }) => Number(exit_code));
}

/** What is no longer found. What a run had repaired before it was interrupted was closed by that run. */
async function closeFindings({ queries, run, account }: Recording, found: readonly FoundFinding[]): Promise<readonly ClosedFinding[]> {
  const by = run.outcome.result === undefined ? null : "dimsync";
  return await rowsOf<ClosedFinding>(
    queries,
    `select id, key, address, path, risk, cause, actor, detail, closed_by, closed_run, ${iso("coalesce(since, opened_at)")} as since from closed`,
    [
      ...[run.account, account.finishedAt, found.map(({ key }) => key), run.id, by],
      ...[run.repairedBefore?.run ?? null, stored(run.repairedBefore?.places ?? [])],
    ],
    `repaired as (select distinct address, path from jsonb_to_recordset($7::jsonb) as x(address text, path text)),
      closed as (update dimsync_controller.finding f set closed_at = $2::timestamptz,
        closed_run = case when exists (select from repaired r where r.address = f.address and r.path = f.path) then $6 else $4 end,
        closed_by = case when exists (select from repaired r where r.address = f.address and r.path = f.path) then 'dimsync' else $5 end
        where f.account = $1 and f.closed_at is null and f.key not in (select unnest($3::text[])) returning f.*)`,
  );
}

/** A finding that was opened or changed. */
interface NotedFinding extends Pick<FoundFinding, "key" | "detail" | "actor"> {
  readonly id: number;
}

const findingColumns = `x(key text, kind text, address text, path text, risk text, cause text, detail jsonb, actor text, since timestamptz)`;

/** Open findings with another risk, value or user than before. */
const changeFindings = (
  { queries, run, account }: Recording,
  found: readonly FoundFinding[],
): Promise<readonly (NotedFinding & { readonly risk_before: FoundFinding["risk"] })[]> =>
  rowsOf(
    queries,
    "select * from changed",
    [run.account, account.finishedAt, stored(found)],
    `changed as (update dimsync_controller.finding f set risk = x.risk, cause = x.cause, detail = x.detail, changed_at = $2::timestamptz,
        actor = coalesce(x.actor, f.actor), since = coalesce(x.since, f.since)
      from jsonb_to_recordset($3::jsonb) as ${findingColumns}, dimsync_controller.finding was
      where was.id = f.id and f.account = $1 and f.key = x.key and f.closed_at is null
        and (f.risk, f.detail -> 'actual', f.detail -> 'desired', f.detail -> 'text', coalesce(x.actor, f.actor))
          is distinct from (x.risk, x.detail -> 'actual', x.detail -> 'desired', x.detail -> 'text', f.actor)
      returning f.id, f.key, f.detail, f.actor, was.risk as risk_before)`,
  );

/** Findings that are not open yet. */
const openFindings = ({ queries, run, account }: Recording, found: readonly FoundFinding[]): Promise<readonly NotedFinding[]> =>
  rowsOf(
    queries,
    "select * from opened",
    [run.account, account.finishedAt, stored(found), run.id],
    `opened as (insert into dimsync_controller.finding (account, key, kind, address, path, risk, cause, detail, opened_at, opened_run, actor, since)
      select $1, key, kind, address, path, risk, cause, detail, $2::timestamptz, $4, actor, coalesce(since, $2::timestamptz)
      from jsonb_to_recordset($3::jsonb) as ${findingColumns}
      where not exists (select from dimsync_controller.finding f where f.account = $1 and f.key = x.key and f.closed_at is null)
      on conflict do nothing returning id, key, detail, actor)`,
  );

interface Noted {
  readonly opened: readonly NotedFinding[];
  readonly changed: readonly NotedFinding[];
  readonly closed: readonly ClosedFinding[];
}

async function noteHistory({ queries, run: { account: of, id }, account }: Recording, { opened, changed, closed }: Noted): Promise<void> {
  const events = [
    ...opened.map(({ id: finding, actor, detail }) => ({ finding, event: "opened", run: id, actor, detail })),
    ...changed.map(({ id: finding, actor, detail }) => ({ finding, event: "changed", run: id, actor, detail })),
    ...closed.map(({ id: finding, closed_by: actor, closed_run: run, detail }) => ({ finding, event: "closed", run, actor, detail })),
  ];
  if (events.length > 0)
    await queries.query(
      `insert into dimsync_controller.finding_event (account, at, finding, event, run, actor, detail)
        select $1, $2::timestamptz, finding, event, run, actor, detail
        from jsonb_to_recordset($3::jsonb) as x(finding bigint, event text, run text, actor text, detail jsonb)`,
      [of, account.finishedAt, stored(events)],
    );
}

async function addDay({ queries, run, account }: Recording, opened: number, closed: number): Promise<void> {
  const { exposed_columns, differences, manual } = countsIn(run.outcome);
  const failures = run.outcome.error === undefined ? 0 : 1;
  const durationMs = Math.round(run.endedAt - run.startedAt);
  await queries.query(
    `insert into dimsync_controller.daily as d
      (account, day, checks, failures, exposed_columns, differences, manual, opened, closed, changes_sent, duration_ms)
      values ($1, ($2::timestamptz at time zone 'UTC')::date, 1, $3, $4, $5, $6, $7, $8, $9, $10)
      on conflict (account, day) do update set checks = d.checks + 1, failures = d.failures + excluded.failures,
        exposed_columns = greatest(d.exposed_columns, excluded.exposed_columns), differences = greatest(d.differences, excluded.differences),
        manual = greatest(d.manual, excluded.manual), opened = d.opened + excluded.opened, closed = d.closed + excluded.closed,
        changes_sent = d.changes_sent + excluded.changes_sent, duration_ms = d.duration_ms + excluded.duration_ms`,
    [
      ...[run.account, account.finishedAt, failures, exposed_columns, differences, manual],
      ...[opened, closed, changesSent(run.outcome), durationMs],
    ],
  );
}

/** Stores the state of the account, and ends the claim with the last run of it. Returns in how many seconds the account is due then. */
async function storeAccount(
  { queries, run, account }: Recording,
  isFinished: boolean,
  alerts: readonly AlertEvent[],
): Promise<number | null> {
  const { report, error, isThrottled } = run.outcome;
  const outcome = report === undefined ? undefined : stateOf(report);
  const members = {
    ...(outcome === undefined ? {} : { outcome, ...countsIn(run.outcome) }),
    ...{ error_code: error?.code ?? null, message: error?.message ?? null, last_run: run.id, alerts },
    throttled_runs: isThrottled ? account.throttledRuns + 1 : 0,
    failed_runs: error === undefined ? 0 : account.failedRuns + 1,
    ...(isFinished ? { last_checked_at: account.finishedAt, observed: run.generation } : {}),
    ...(isFinished ? { observed_digest: run.digest ?? null, observed_commit: run.commit ?? null } : {}),
    ...(run.isLast ? { running_run: null, running_worker: null, running_until: null } : {}),
  };
  const next = `, next_check_at = case when a.wanted > $3 then now() else now() + ${intervalSql("x.throttled_runs")}
      * (case when a.last_checked_at is null then random() else 0.9 + random() * 0.2 end) * interval '1 ms' end`;
  const { rows } = await queries.query(
    `update dimsync_controller.account a set ${Object.keys(members)
      .map((column) => `${column} = x.${column}`)
      .join(", ")}${run.isLast ? next : ""}
      from jsonb_populate_record(null::dimsync_controller.account, $2::jsonb) x where a.id = $1
      returning extract(epoch from a.next_check_at - now())::double precision as seconds${run.isLast ? "" : ", $3::bigint"}`,
    [run.account, stored(members), run.generation],
  );
  return run.isLast ? Number(rows[0]?.seconds) : null;
}

interface Counted {
  readonly name: string;
  readonly label: string;
  readonly value: number;
}

/** The last statement of a transaction, because all runs change these rows. */
async function count(queries: Queries, counted: readonly Counted[]): Promise<void> {
  if (counted.length > 0)
    await queries.query(
      `insert into dimsync_controller.counter as c (name, label, value)
        select name, label, sum(value) from jsonb_to_recordset($1::jsonb) as x(name text, label text, value double precision)
        group by name, label order by name, label
        on conflict (name, label) do update set value = c.value + excluded.value`,
      [stored(counted)],
    );
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
    head: { planId, createdAt, calls },
    content: await compress(text),
  };
}

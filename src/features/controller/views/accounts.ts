import { byText } from "../../../core/model/address.ts";
import { DimsyncError } from "../../../core/model/errors.ts";
import type { Database } from "../../../core/records/postgres/connection.ts";
import { iso } from "../../../core/records/postgres/connection.ts";
import { membersOf, rowsOf } from "../database/rows.ts";
import { readRuns } from "./runs.ts";
import {
  acknowledgedOf,
  dirtyOf,
  everyAccount,
  everyFinding,
  intervalSql,
  isAcknowledged,
  isLate,
  namedAccounts,
  riskOrder,
  silenceOf,
  suspensionOf,
  untilText,
} from "./sql.ts";
import {
  type AccountDetail,
  type AccountSummary,
  type Acknowledgement,
  accountStates,
  type Day,
  type Finding,
  type FindingEvent,
  isExposed,
  type Suspension,
} from "./status.ts";

const silenceColumns = `json_build_object('reason', s.reason, 'until', ${untilText("s.until")}, 'by', s.silenced_by)`;

const failingSince = `select ${iso("r.finished_at")} from dimsync_controller.run r where r.account = a.id and r.error_code is not null
  and r.finished_at > coalesce(a.last_checked_at, a.created_at) order by r.finished_at limit 1`;

// Exposed data stays the state until a comparison finds that it is protected: a failed run proves nothing.
const stateSql = `case when a.removed_at is not null then coalesce(a.outcome, 'pending') when suspended.suspension is not null then 'suspended' when a.outcome = 'exposed' then 'exposed'
  when a.error_code is not null then 'failing' when ${isLate} then 'stale' else coalesce(a.outcome, 'pending') end`;

const accountSql = (
  accounts: string,
  where = "",
): string => `select a.id, a.name, a.source, a.target, a.labels, ${stateSql} as state, a.mode,
  a.every_ms as "everyMs", ${intervalSql("a.throttled_runs")} as "intervalMs", a.exposed_columns as "exposedColumns", a.differences, a.manual,
  a.policy_violations as "policyViolations", ${iso("a.next_check_at")} as "nextCheckAt", a.removed_at is null and ${isLate} as "isStale", a.observed >= a.wanted as "isCurrent",
  ${iso("a.last_checked_at")} as "lastCheckedAt",
  case when a.error_code is not null then json_strip_nulls(json_build_object('code', a.error_code, 'message', coalesce(a.message, ''), 'since', (${failingSince}))) end as error,
  suspended.suspension, (${silenceOf(silenceColumns)}) as silence, (${acknowledgedOf}) as acknowledged,
  case when a.removed_at is not null then json_strip_nulls(json_build_object('at', ${iso("a.removed_at")}, 'by', a.removed_by, 'commit', a.removed_commit)) end as removed,
  a.last_run as "lastRun",
  case when a.running_until >= now() and a.running_run is not null then json_build_object(
    'run', a.running_run, 'worker', coalesce(a.running_worker, ''), 'since', coalesce(${iso("a.running_since")}, '')) end as running,
  a.digest, a.git_commit as commit, ${dirtyOf("a.digest")} as dirty
  from ${accounts} a cross join lateral (select (${suspensionOf}) as suspension) suspended ${where}`;

type AccountRow = AccountSummary & { readonly id: number };

/** All accounts, worst first. */
export async function listAccounts(database: Database): Promise<readonly AccountSummary[]> {
  const accounts = await membersOf<AccountRow>(database, accountSql(namedAccounts));
  return worstFirst(accounts.map(({ id: _, ...summary }) => summary));
}

/** What is exposed first, whatever its state, then the worst state; within these, most exposed columns, then most differences, then by name. */
export const worstFirst = (accounts: readonly AccountSummary[]): readonly AccountSummary[] =>
  accounts.toSorted(
    (a, b) =>
      Number(isExposed(b)) - Number(isExposed(a)) ||
      accountStates.indexOf(a.state) - accountStates.indexOf(b.state) ||
      b.exposedColumns - a.exposedColumns ||
      b.differences - a.differences ||
      byText(a.name, b.name),
  );

/**
 * The account with this name, which can be the target or SOURCE/TARGET; also one that was removed, if none under control has the name.
 * Undefined if there is none; throws E_USAGE if several have the target.
 */
export async function readAccount(database: Database, name: string): Promise<AccountDetail | undefined> {
  const found = await membersOf<AccountRow>(database, accountSql(everyAccount, "where a.target = $1 or a.source || '/' || a.target = $1"), [
    name,
  ]);
  const current = found.filter(({ removed }) => removed === undefined);
  const rows = current.length > 0 ? current : found;
  const [row, second] = rows;
  if (row === undefined) return undefined;
  if (second !== undefined)
    throw new DimsyncError(
      "E_USAGE",
      `Several accounts have the target ${JSON.stringify(name)}. Use one of ${rows.map((each) => each.name).join(", ")}.`,
    );
  const { id, ...summary } = row;
  const [findings, timeline, runs, suspensions, acknowledgements, events] = await Promise.all([
    membersOf<Finding>(database, openFindings, [id]),
    rowsOf<Day>(database, days, [id]),
    readRuns(database, "where a.id = $1 order by r.finished_at desc limit 50", [id]),
    membersOf<Suspension>(database, suspensions20, [id]),
    membersOf<Acknowledgement>(database, acknowledgements20, [id]),
    membersOf<FindingEvent>(database, events100, [id]),
  ]);
  return { ...summary, findings: withAcknowledgements(findings, acknowledgements), timeline, runs, suspensions, acknowledgements, events };
}

/** A finding that is new or worse since then is not acknowledged. */
const withAcknowledgements = (findings: readonly Finding[], acknowledgements: readonly Acknowledgement[]): readonly Finding[] =>
  findings.map((finding) => {
    const event = finding.risk === "exposed" || finding.risk === "error" ? "exposed" : "drifted";
    const acknowledged = acknowledgements.find(
      ({ events, at, endedAt }) => endedAt === undefined && events.includes(event) && (finding.changedAt ?? finding.openedAt) <= at,
    );
    return acknowledged === undefined ? finding : { ...finding, acknowledged };
  });

/** Exposed first, at most 1,000. */
const openFindings = `select id, kind, address, path, risk, cause, detail, ${iso("opened_at")} as "openedAt", opened_run as "openedRun",
  ${iso("coalesce(since, opened_at)")} as since, ${iso("changed_at")} as "changedAt", actor
  from ${everyFinding} f where account = $1 and closed_at is null order by ${riskOrder("risk")}, address, path limit 1000`;

/** What happened to findings, newest first. */
const events100 = `select e.finding, e.event, ${iso("e.at")} as at, e.run, e.actor, f.kind, f.address, f.path, f.risk, e.detail
  from dimsync_controller.finding_event e join ${everyFinding} f on f.id = e.finding
  where e.account = $1 order by e.at desc, e.id desc limit 100`;

/** The days with a check of the last 90, oldest first. */
const days = `select day, checks, failures, exposed_columns as "exposedColumns", differences, manual, opened, closed,
  changes_sent as "changesSent", duration_ms as "durationMs"
  from dimsync_controller.daily where account = $1 and day > (now() at time zone 'UTC')::date - 90 order by day`;

/** Newest first. */
const suspensions20 = `select reason, ${untilText("until")} as until, suspended_by as by, ${iso("suspended_at")} as at, ${iso("resumed_at")} as "resumedAt",
  resumed_by as "resumedBy" from dimsync_controller.suspension where account = $1 order by id desc limit 20`;

/** Newest first. */
const acknowledgements20 = `select json_agg(distinct e.name) as events, e.acknowledged ->> 'by' as by, e.acknowledged ->> 'reason' as reason,
  e.acknowledged ->> 'at' as at,
  case when bool_and(e.ended_by is not null or not e.name = any(a.alerts)) then ${iso("max(coalesce(ending.at, now()))")} end as "endedAt"
  from dimsync_controller.event e join dimsync_controller.account a on a.id = e.account left join dimsync_controller.event ending on ending.id = e.ended_by
  where e.account = $1 and ${isAcknowledged} and e.reminds is null group by e.acknowledged order by at desc limit 20`;

import { DimsyncError } from "../../model/errors.ts";
import type { Database } from "../../records/postgres/connection.ts";
import { iso } from "../../records/postgres/iso.ts";
import { rowsOf } from "../database/rows.ts";
import { openFindings, readEvents, readSuspensions, readTimeline, type SuspensionRow, toSuspension } from "./account-history.ts";
import { commitOf, isDirty } from "./commit.ts";
import { namedAccounts } from "./named-accounts.ts";
import { readRuns } from "./runs.ts";
import { type AccountDetail, type AccountError, type AccountState, type AccountSummary, accountStates, type Mode } from "./status.ts";

interface AccountRow {
  readonly id: number;
  readonly name: string;
  readonly source: string;
  readonly target: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly mode: Mode;
  readonly every_ms: number;
  readonly interval_ms: number;
  readonly outcome: "exposed" | "drifted" | "in-sync" | null;
  readonly exposed_columns: number;
  readonly differences: number;
  readonly manual: number;
  readonly policy_violations: number;
  readonly error_code: string | null;
  readonly message: string | null;
  readonly failing_since: string | null;
  readonly last_run: string | null;
  readonly last_checked_at: string | null;
  readonly next_check_at: string;
  readonly is_stale: boolean;
  readonly running_run: string | null;
  readonly running_worker: string | null;
  readonly running_since: string | null;
  readonly digest: string | null;
  readonly git_commit: string | null;
  readonly dirty: boolean | null;
  readonly is_current: boolean;
  readonly suspension: SuspensionRow | null;
  readonly silence: AccountSummary["silence"] | null;
}

/** Longest interval of an account whose service is overloaded. */
export const longestIntervalMs = 86_400_000;

/** The interval of an account in milliseconds: doubled from the third run in a row that ended in 429 or 5xx. `runs`: SQL, how many there were. */
export const intervalSql = (runs: string): string =>
  `greatest(a.every_ms, least(${longestIntervalMs}::bigint, a.every_ms * (2 ^ greatest(0, least(${runs}, 16) - 2))::bigint))`;

const suspensionSql = `select json_build_object('reason', s.reason, 'until', ${iso("s.until")}, 'by', s.suspended_by, 'at', ${iso("s.suspended_at")})
  from dimsync_controller.suspension s where s.account = a.id and s.resumed_at is null and s.until > now() order by s.id desc limit 1`;

/** SQL: the silence of the account `a`; of events about no account, if `a` is null. */
export const silenceOf = (column: string): string => `select ${column} from dimsync_controller.silence s
  where s.ended_at is null and s.until > now()
    and case when s.account is not null then s.account = a.id when s.label is not null then a.labels ->> s.label = s.value else true end
  order by s.until desc limit 1`;

const silenceColumns = `json_build_object('reason', s.reason, 'until', ${iso("s.until")}, 'by', s.silenced_by)`;

const failingSince = `select ${iso("r.finished_at")} from dimsync_controller.run r where r.account = a.id and r.error_code is not null
  and r.finished_at > coalesce(a.last_checked_at, a.created_at) order by r.finished_at limit 1`;

const accountSql = (
  where: string,
): string => `select a.id, a.name, a.source, a.target, a.labels, a.mode, a.every_ms, ${intervalSql("a.throttled_runs")} as interval_ms,
  a.outcome, a.exposed_columns, a.differences, a.manual, a.policy_violations, a.error_code, a.message, a.last_run,
  case when a.error_code is not null then (${failingSince}) end as failing_since,
  ${iso("a.last_checked_at")} as last_checked_at, ${iso("a.next_check_at")} as next_check_at,
  now() - coalesce(a.last_checked_at, a.created_at) > 3 * ${intervalSql("a.throttled_runs")} * interval '1 ms' as is_stale,
  case when a.running_until >= now() then a.running_run end as running_run, a.running_worker, ${iso("a.running_since")} as running_since, a.digest, a.git_commit, ${isDirty("a.digest")} as dirty, a.observed >= a.wanted as is_current,
  (${suspensionSql}) as suspension, (${silenceOf(silenceColumns)}) as silence
  from ${namedAccounts} a ${where}`;

/** All accounts, worst first, then by name. */
export async function listAccounts(database: Database): Promise<readonly AccountSummary[]> {
  const rows = await rowsOf<AccountRow>(database, accountSql(""));
  const rank = ({ state }: AccountSummary): number => accountStates.indexOf(state);
  return rows.map(toSummary).sort((a, b) => rank(a) - rank(b) || b.exposedColumns - a.exposedColumns || (a.name < b.name ? -1 : 1));
}

/** The account with this name, which can be the target or SOURCE/TARGET. Undefined if there is none; throws E_USAGE if several have the target. */
export async function readAccount(database: Database, name: string): Promise<AccountDetail | undefined> {
  const rows = await rowsOf<AccountRow>(database, accountSql("where a.target = $1 or a.source || '/' || a.target = $1"), [name]);
  const [row, second] = rows;
  if (row === undefined) return undefined;
  if (second !== undefined)
    throw new DimsyncError(
      "E_USAGE",
      `Several accounts have the target ${JSON.stringify(name)}. Use one of ${rows.map((each) => each.name).join(", ")}.`,
    );
  const [findings, timeline, runs, suspensions, events] = await Promise.all([
    openFindings(database, row.id),
    readTimeline(database, row.id),
    readRuns(database, "where a.id = $1 order by r.finished_at desc limit 50", [row.id]),
    readSuspensions(database, row.id),
    readEvents(database, row.id, 100),
  ]);
  return { ...toSummary(row), findings, timeline, runs, suspensions, events };
}

function toSummary(row: AccountRow): AccountSummary {
  return {
    ...{ name: row.name, source: row.source, target: row.target, labels: row.labels, state: stateOf(row), mode: row.mode },
    ...{ everyMs: row.every_ms, intervalMs: row.interval_ms, exposedColumns: row.exposed_columns, differences: row.differences },
    ...{ manual: row.manual, policyViolations: row.policy_violations, nextCheckAt: row.next_check_at, isStale: row.is_stale },
    isCurrent: row.is_current,
    ...(row.last_checked_at === null ? {} : { lastCheckedAt: row.last_checked_at }),
    ...(row.error_code === null ? {} : { error: errorOf(row.error_code, row) }),
    ...(row.suspension === null ? {} : { suspension: toSuspension(row.suspension) }),
    ...(row.silence === null || row.silence === undefined ? {} : { silence: row.silence }),
    ...(row.last_run === null ? {} : { lastRun: row.last_run }),
    ...(row.running_run === null
      ? {}
      : { running: { run: row.running_run, worker: row.running_worker ?? "", since: row.running_since ?? "" } }),
    ...(row.digest === null ? {} : { digest: row.digest }),
    ...commitOf(row),
  };
}

const errorOf = (code: string, { message, failing_since: since }: AccountRow): AccountError => ({
  ...{ code, message: message ?? "" },
  ...(since === null ? {} : { since }),
});

/** Exposed data stays the state until a comparison finds that it is protected: a failed run proves nothing. */
function stateOf({ suspension, outcome, error_code, is_stale }: AccountRow): AccountState {
  if (suspension !== null) return "suspended";
  if (outcome === "exposed") return "exposed";
  if (error_code !== null) return "failing";
  if (is_stale) return "stale";
  return outcome ?? "pending";
}

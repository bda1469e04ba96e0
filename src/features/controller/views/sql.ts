import { iso } from "../../../core/records/postgres/iso.ts";

// Parts of statements that mean the same everywhere: `a` is an account, `w` a worker, `f` a finding and `s` a suspension or silence.

/** A subquery of the accounts under control, with their names as the column `name`. */
export const namedAccounts = `(select account.*,
  case when count(*) over (partition by target) = 1 then target else source || '/' || target end as name
  from dimsync_controller.account where removed_at is null)`;

/** Longest interval of an account whose service is overloaded. */
const longestIntervalMs = 86_400_000;

/** The interval of an account in milliseconds: doubled from the third run in a row that ended in 429 or 5xx. `runs`: how many there were. */
export const intervalSql = (runs: string): string =>
  `greatest(a.every_ms, least(${longestIntervalMs}::bigint, a.every_ms * (2 ^ greatest(0, least(${runs}, 16) - 2))::bigint))`;

/** So many current intervals of the account. */
export const intervals = (count: number): string => `${count} * ${intervalSql("a.throttled_runs")} * interval '1 ms'`;

/** Whether the account was not checked within three intervals. */
export const isLate = `now() - coalesce(a.last_checked_at, a.created_at) > ${intervals(3)}`;

/** Whether no run holds the account. */
export const isFree = "(a.running_until is null or a.running_until < now())";

const activeSuspension = "from dimsync_controller.suspension s where s.account = a.id and s.resumed_at is null and s.until > now()";

export const isSuspended = `exists (select 1 ${activeSuspension})`;

export const suspensionOf = `select json_build_object('reason', s.reason, 'until', ${iso("s.until")}, 'by', s.suspended_by, 'at', ${iso("s.suspended_at")})
  ${activeSuspension} order by s.id desc limit 1`;

/** Whether the account has been due for two intervals, and nobody checks it. */
export const isOverdue = `a.removed_at is null and a.next_check_at < now() - ${intervals(2)} and ${isFree} and not ${isSuspended}`;

/** The silence of the account; of events about no account, if `a` is null. */
export const silenceOf = (column: string): string => `select ${column} from dimsync_controller.silence s
  where s.ended_at is null and s.until > now()
    and case when s.account is not null then s.account = a.id when s.label is not null then a.labels ->> s.label = s.value else true end
  order by s.until desc limit 1`;

/** Whether the worker was seen in the last two minutes. */
export const isAlive = "w.stopped_at is null and w.seen_at > now() - interval '2 minutes'";

export const hasWorker = `exists (select 1 from dimsync_controller.worker w where ${isAlive})`;

/** True if the bundle with this digest had uncommitted changes, else null. */
export const dirtyOf = (digest: string): string =>
  `(select nullif(b.dirty, false) from dimsync_controller.bundle b where b.digest = ${digest})`;

/** Orders findings: what is exposed first. */
export const riskOrder = (column: string): string =>
  `array_position(array['exposed', 'error', 'stricter', 'warning', 'neutral', 'info'], ${column})`;

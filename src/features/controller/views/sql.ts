import { iso } from "../../../core/records/postgres/connection.ts";

// Parts of statements that mean the same everywhere: `a` is an account, `w` a worker, `f` a finding and `s` a suspension or silence.

/** A subquery of a table in which the odd values of a row are replaced. `instead`: SQL of a JSON object by column; `says`: what is set as well. */
const readable = (table: string, instead: string, says: string): string =>
  `(select * from dimsync_controller.${table} where odd is null union all select fixed.* from dimsync_controller.${table} r
    cross join lateral jsonb_populate_record(r, (select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(${instead})
      where key = any(string_to_array(r.odd, ', '))) || jsonb_build_object(${says})) fixed where r.odd is not null)`;

/** SQL: why a row `r` is not shown as it is. */
const whyOdd = (table: string, fix: string): string =>
  `'A row of dimsync_controller.${table} has values that no controller writes, in ' || r.odd || '. ${fix}'`;

const accounts = readable(
  "account",
  `'{"labels":{},"every_ms":3600000,"keep_ms":0,"mode":"report","maintenance":[],"outcome":null,"exposed_columns":0,"differences":0,"manual":0,"policy_violations":0,
    "throttled_runs":0,"failed_runs":0,"last_checked_at":null,"running_since":null,"running_until":null,"removed_at":null}'
    || jsonb_build_object('next_check_at', now(), 'created_at', now())`,
  `'error_code', 'E_CONTROLLER_DATABASE', 'message', ${whyOdd("account", "It is not checked until they are corrected in the database. A push writes labels, mode, every_ms, maintenance and keep_ms again.")}`,
);

/** A subquery of all findings. */
export const everyFinding = readable(
  "finding",
  `'{"kind":"blocked","risk":"error","since":null,"changed_at":null,"closed_at":null}' || jsonb_build_object('opened_at', now())`,
  `'cause', 'a row of dimsync_controller.finding', 'detail', jsonb_build_object('text', ${whyOdd("finding", "Correct or delete it.")})`,
);

/** A subquery of where the events of each source are sent. */
export const everyNotify = readable("notify", "'{}'", `'settings', '{"receivers":[],"remindMs":86400000,"groupMs":0}'::jsonb`);

/** SQL: why no receiver of the source of a row `r` gets anything. */
export const whyNoReceivers = whyOdd("notify", "No receiver of the source gets anything until the project is pushed again.");

/** A subquery of all accounts, with their names as the column `name`. One that was removed has its target as name only if no other account has it. */
export const everyAccount = `(select account.*, case when (case when removed_at is null
    then count(*) filter (where removed_at is null) over (partition by target) else count(*) over (partition by target) end) = 1
    then target else source || '/' || target end as name
  from ${accounts} account)`;

/** The accounts under control. */
export const namedAccounts = `(select every.* from ${everyAccount} every where removed_at is null)`;

/** Longest interval of an account whose service is overloaded. */
const longestIntervalMs = 86_400_000;

/** The interval of an account in milliseconds: doubled from the third run in a row that ended in 429 or 5xx. `runs`: how many there were. */
export const intervalSql = (runs: string): string =>
  `greatest(a.every_ms, least(${longestIntervalMs}::bigint, a.every_ms * (2 ^ greatest(0, least(${runs}, 16) - 2))::bigint))`;

/** So many current intervals of the account. */
export const intervals = (count: number): string => `${count} * ${intervalSql("a.throttled_runs")} * interval '1 ms'`;

/** Whether the account was not checked within three intervals. */
export const isLate = `coalesce(a.last_checked_at, a.created_at) < now() - ${intervals(3)}`;

/** Whether no run holds the account. */
export const isFree = "(a.running_until is null or a.running_until < now())";

/** SQL: a time as `iso` writes it, or "infinity". */
export const untilText = (column: string): string => `coalesce(${iso(column)}, ${column}::text)`;

const activeSuspension = "from dimsync_controller.suspension s where s.account = a.id and s.resumed_at is null and s.until > now()";

export const isSuspended = `exists (select 1 ${activeSuspension})`;

export const suspensionOf = `select json_build_object('reason', s.reason, 'until', ${untilText("s.until")}, 'by', s.suspended_by, 'at', ${iso("s.suspended_at")})
  ${activeSuspension} order by s.id desc limit 1`;

/** Whether the account has been due for two intervals, and nobody checks it. */
export const isOverdue = `a.removed_at is null and a.next_check_at < now() - ${intervals(2)} and ${isFree} and not ${isSuspended}`;

/** The silence of the account; of events about no account, if `a` is null. */
export const silenceOf = (column: string): string => `select ${column} from dimsync_controller.silence s
  where s.ended_at is null and s.until > now()
    and case when s.account is not null then s.account = a.id when s.label is not null then a.labels ->> s.label = s.value else true end
  order by s.until desc limit 1`;

/** What an event `e` says of its account still holds, and no newer event says it. */
const isReported = `e.ended_by is null and e.reminds is null and e.resolves = '{}' and e.name = any(a.alerts) and not exists (
  select 1 from dimsync_controller.event newer where newer.source = e.source and newer.account = e.account and newer.name = e.name
    and newer.ended_by is null and newer.reminds is null and newer.at > e.at)`;

const acknowledgement = `'events', json_agg(distinct e.name), 'by', e.acknowledged ->> 'by', 'reason', e.acknowledged ->> 'reason', 'at', e.acknowledged ->> 'at'`;

/** Whether an event `e` was acknowledged, by a row that the controller wrote. */
export const isAcknowledged = `num_nulls(e.acknowledged ->> 'by', e.acknowledged ->> 'reason', e.acknowledged ->> 'at') = 0`;

/** What someone has acknowledged of the account last, if it is still reported. */
export const acknowledgedOf = `select json_build_object(${acknowledgement}) from dimsync_controller.event e
  where e.source = a.source and e.account = a.id and ${isAcknowledged} and ${isReported}
  group by e.acknowledged order by e.acknowledged ->> 'at' desc limit 1`;

/** Whether the worker was seen in the last two minutes. */
export const isAlive = "w.stopped_at is null and w.seen_at > now() - interval '2 minutes'";

export const hasWorker = `exists (select 1 from dimsync_controller.worker w where ${isAlive})`;

/** True if the bundle with this digest had uncommitted changes, else null. */
export const dirtyOf = (digest: string): string =>
  `(select nullif(b.dirty, false) from dimsync_controller.bundle b where b.digest = ${digest})`;

/** Orders findings: what is exposed first. */
export const riskOrder = (column: string): string =>
  `array_position(array['exposed', 'error', 'stricter', 'warning', 'neutral', 'info'], ${column})`;

import type { Database } from "../../../core/records/postgres/connection.ts";
import { iso } from "../../../core/records/postgres/connection.ts";
import { rowsOf } from "../database/rows.ts";
import { listAccounts } from "./accounts.ts";
import { everyNotify, intervals, isAlive, isFree, isOverdue, namedAccounts, whyNoReceivers } from "./sql.ts";
import type { AccountSummary } from "./status.ts";

/** A worker process that was seen in the last two minutes. */
interface WorkerSummary {
  readonly id: string;
  /** Whether an account has been due for two intervals, in which this worker took none and checked none. */
  readonly isStuck: boolean;
  /** What it checks now, the longest check first. */
  readonly checks: readonly { readonly account: string; readonly since: string; readonly seconds: number }[];
}

/** Why a process cannot store what it finds, and since when: ISO 8601. */
export interface StorageFailure {
  readonly since: string;
  readonly why: string;
}

export interface WorkerHealth {
  readonly workers: readonly WorkerSummary[];
  /** Accounts that have been due for two intervals. */
  readonly overdue: number;
}

/** The workers, and whether they take the accounts that are due, by the database's clock. */
export async function readWorkers(database: Database): Promise<WorkerHealth> {
  const [health] = await rowsOf<WorkerHealth>(
    database,
    `select (select count(*) from overdue) as overdue, (select coalesce(json_agg(json_build_object('id', w.id,
      'isStuck', exists (select 1 from overdue o where w.taken_at < o.since),
      'checks', (select coalesce(json_agg(json_build_object('account', a.name, 'since', ${iso("a.running_since")},
        'seconds', extract(epoch from now() - a.running_since)) order by a.running_since), '[]')
        from ${namedAccounts} a where a.running_worker = w.id and a.running_until >= now())) order by w.id), '[]')
      from dimsync_controller.worker w where ${isAlive}) as workers`,
    [],
    `overdue as (select now() - ${intervals(2)} as since from ${namedAccounts} a
      where ${isOverdue})`,
  );
  return health ?? { overdue: 0, workers: [] };
}

/** A receiver of notifications, and how the last attempt to send it a message ended. */
export interface ReceiverStatus {
  readonly source: string;
  readonly name: string;
  readonly type: string;
  /** ISO 8601; null before the first message. */
  readonly lastTriedAt: string | null;
  /** Why it did not accept the last message; null if it did. Contains no secret. */
  readonly failure: string | null;
}

/** All receivers, by source and name. */
export const readReceivers = (database: Database): Promise<readonly ReceiverStatus[]> =>
  rowsOf<ReceiverStatus>(
    database,
    `select n.source, r ->> 'name' as name, r ->> 'type' as type, last.at as "lastTriedAt", last.failure
      from ${everyNotify} n cross join lateral jsonb_array_elements(n.settings -> 'receivers') r
      left join lateral (
        select e.deliveries -> (r ->> 'name') ->> 'at' as at, e.deliveries -> (r ->> 'name') -> 'error' ->> 'message' as failure
        from dimsync_controller.event e where e.source = n.source and e.at > now() - interval '2 days' and e.deliveries ? (r ->> 'name')
        order by 1 desc limit 1) last on true
      where exists (select 1 from dimsync_controller.account a where a.source = n.source and a.removed_at is null)
      union all select r.source, 'all', '', null, ${whyNoReceivers} from dimsync_controller.notify r where r.odd is not null
      order by 1, 2`,
  );

/** Upper bounds of the histogram of durations, in seconds. */
export const runBuckets = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800] as const;

export interface ControllerMetrics {
  readonly accounts: readonly AccountSummary[];
  /** Accounts that are due and not running, those that are running, and those that have been due for two intervals. */
  readonly queue: { readonly due: number; readonly running: number; readonly overdue: number };
  readonly workers: readonly WorkerSummary[];
  readonly receivers: readonly ReceiverStatus[];
  /** Since the database was created; `label` is "" or what the counter is about. Names: runs (label: exit code), run_seconds, run_bucket (label: how many seconds a run took at most), lease_losses, notifications (label: sent or failed). */
  readonly counters: readonly { readonly name: string; readonly label: string; readonly value: number }[];
}

/** What `/metrics` shows. */
export async function readMetrics(database: Database): Promise<ControllerMetrics> {
  const [accounts, [queue = { due: 0, running: 0 }], health, receivers, counters] = await Promise.all([
    listAccounts(database),
    rowsOf<Omit<ControllerMetrics["queue"], "overdue">>(
      database,
      `select count(*) filter (where a.next_check_at <= now() and ${isFree}) as due,
        count(*) filter (where a.running_until >= now()) as running
        from dimsync_controller.account a where a.removed_at is null`,
    ),
    readWorkers(database),
    readReceivers(database),
    rowsOf<ControllerMetrics["counters"][number]>(
      database,
      "select name, label, value from dimsync_controller.counter order by name, label",
    ),
  ]);
  return { accounts, queue: { ...queue, overdue: health.overdue }, workers: health.workers, receivers, counters };
}

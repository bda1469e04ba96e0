import type { ControllerMode } from "../../../core/model/settings/config.ts";
import type { Database } from "../../../core/records/postgres/connection.ts";
import { membersOf, rowsOf } from "../database/rows.ts";
import { isFree, isSuspended } from "../views/sql.ts";

// A claim says which worker compares an account, so that its API is read by one process at a time. It is
// not a lock: a worker that was frozen can lose it without noticing. Who writes to the account is decided
// by the lease of its records alone.

/** How long a claim lasts without being renewed, which happens every ten seconds. */
const claimMs = 30_000;

/** An account that a worker may check now. */
export interface ClaimedAccount {
  readonly id: number;
  readonly target: string;
  readonly host: string;
  readonly mode: ControllerMode;
  /** The bundle to compare with; absent with --watch. */
  readonly digest?: string;
  readonly commit?: string;
  /** The push or request that this run is about; a later one makes the account due again. */
  readonly generation: number;
  /** A run that was sending changes when its worker ended, if no later run has dealt with it. */
  readonly interrupted?: string;
}

interface Claim {
  readonly account: number;
  readonly run: string;
  readonly worker: string;
  /** The job was retried after a failure, so the account need not be due. */
  readonly isRetry: boolean;
  /** The source that this worker watches: only it can load accounts of that source, which have no bundle. */
  readonly watched?: string | undefined;
}

/** Claims the account for the run. Undefined if it is not due, suspended, removed, or claimed by another run. */
export async function claimAccount(
  database: Database,
  { account, run, worker, isRetry, watched }: Claim,
): Promise<ClaimedAccount | undefined> {
  const [claimed] = await membersOf<ClaimedAccount>(
    database,
    `select id, target, host, mode, digest, git_commit as commit, wanted as generation, (select r.id from dimsync_controller.run r
      where r.account = claimed.id and r.is_sending and r.interrupted_at is null order by r.started_at desc limit 1) as interrupted from claimed`,
    [account, run, worker, isRetry, watched ?? null],
    `claimed as (update dimsync_controller.account a set running_run = $2, running_worker = $3, running_since = now(),
      running_until = now() + ${claimMs} * interval '1 ms'
      where a.id = $1 and a.removed_at is null and a.odd is null and ${isFree}
        and (a.next_check_at <= now() + interval '1 second' or ($4::boolean and a.failed_runs > 0))
        and (a.digest is not null or a.source = $5)
        and not ${isSuspended}
      returning a.*)`,
  );
  return claimed;
}

/** Keeps the claims of the runs, and shows that the worker is alive and whether it took an account since the last renewal. */
export async function renewClaims(
  database: Database,
  worker: string,
  { runs, hasTaken }: { readonly runs: readonly string[]; readonly hasTaken: boolean },
): Promise<void> {
  await database.query(
    `with renewed as (update dimsync_controller.account set running_until = now() + ${claimMs} * interval '1 ms'
      where odd is null and running_worker = $1 and running_run = any($2::text[]))
      update dimsync_controller.worker set seen_at = now(), taken_at = case when $3 then now() else taken_at end where id = $1`,
    [worker, runs, hasTaken],
  );
}

/** Gives claims back without a result, because the worker stops. The accounts stay due. */
export async function releaseClaims(database: Database, worker: string): Promise<void> {
  await database.query(
    `with released as (update dimsync_controller.account set running_run = null, running_worker = null, running_until = null where odd is null and running_worker = $1)
      update dimsync_controller.worker set stopped_at = now(), seen_at = now() where id = $1`,
    [worker],
  );
}

export async function registerWorker(
  database: Database,
  worker: { readonly id: string; readonly version: string; readonly accountsAtOnce: number },
) {
  await database.query(
    `insert into dimsync_controller.worker (id, version, accounts_at_once) values ($1, $2, $3)
      on conflict (id) do update set version = $2, accounts_at_once = $3, started_at = now(), taken_at = now(), seen_at = now(), stopped_at = null`,
    [worker.id, worker.version, worker.accountsAtOnce],
  );
}

/** Accounts that have been due for `seconds` and that no worker checks: their job was lost, or there was no queue yet. */
export const dueAccounts = (
  database: Database,
  { seconds, limit }: { readonly seconds: number; readonly limit: number },
): Promise<readonly { readonly id: number; readonly host: string }[]> =>
  rowsOf(
    database,
    `select a.id, a.host from dimsync_controller.account a where a.removed_at is null and a.odd is null and a.next_check_at <= now() - $1 * interval '1 second'
      and ${isFree}
      and not ${isSuspended}
      order by a.next_check_at limit $2`,
    [seconds, limit],
  );

import type { Database } from "../../records/postgres/connection.ts";
import { iso } from "../../records/postgres/iso.ts";
import { rowsOf } from "../database/rows.ts";
import { intervals, isAlive, isOverdue } from "./sql.ts";

/** A worker process that was seen in the last two minutes. */
export interface WorkerSummary {
  readonly id: string;
  readonly version: string;
  /** ISO 8601 */
  readonly startedAt: string;
  readonly seenAt: string;
  readonly takenAt: string;
  /** Whether an account has been due for two intervals, in which this worker took none. */
  readonly isStuck: boolean;
}

export interface WorkerHealth {
  readonly workers: readonly WorkerSummary[];
  /** Accounts that have been due for two intervals. */
  readonly overdue: number;
}

interface HealthRow {
  readonly overdue: number;
  readonly workers: readonly WorkerSummary[] | null;
}

/** The workers, and whether they take the accounts that are due, by the database's clock. */
export async function readWorkers(database: Database): Promise<WorkerHealth> {
  const [row] = await rowsOf<HealthRow>(
    database,
    `select (select count(*) from overdue) as overdue, (select json_agg(json_build_object('id', w.id, 'version', w.version, 'startedAt', ${iso("w.started_at")},
      'seenAt', ${iso("w.seen_at")}, 'takenAt', ${iso("w.taken_at")}, 'isStuck', exists (select 1 from overdue o where w.taken_at < o.since)) order by w.id)
      from dimsync_controller.worker w where ${isAlive}) as workers`,
    [],
    `overdue as (select now() - ${intervals(2)} as since from dimsync_controller.account a
      where ${isOverdue})`,
  );
  return { overdue: row?.overdue ?? 0, workers: row?.workers ?? [] };
}

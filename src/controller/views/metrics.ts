import type { Database } from "../../records/postgres/connection.ts";
import { rowsOf } from "../database/rows.ts";
import { listAccounts } from "./accounts.ts";
import { readReceivers } from "./receivers.ts";
import { isFree } from "./sql.ts";
import type { ControllerMetrics } from "./status.ts";
import { readWorkers } from "./workers.ts";

interface CountsRow {
  readonly due: number;
  readonly running: number;
}

/** What `/metrics` shows. */
export async function readMetrics(database: Database): Promise<ControllerMetrics> {
  const [accounts, [queue = { due: 0, running: 0 }], health, receivers, counters] = await Promise.all([
    listAccounts(database),
    rowsOf<CountsRow>(
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

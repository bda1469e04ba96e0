import type { Database } from "../../records/postgres/connection.ts";
import { iso } from "../../records/postgres/iso.ts";
import { rowsOf } from "../database/rows.ts";
import { riskOrder } from "./account-history.ts";
import { listAccounts } from "./accounts.ts";
import { namedAccounts } from "./named-accounts.ts";
import { readReceivers } from "./receivers.ts";
import type { CauseGroup, ControllerMetrics } from "./status.ts";
import { readWorkers } from "./workers.ts";

interface CauseRow extends Omit<CauseGroup, "openedAt" | "example"> {
  readonly opened_at: string;
  readonly example: CauseGroup["example"];
}

/** Open findings of all accounts grouped by cause: the worst first, then those of the most accounts. At most 200. */
export async function findingsByCause(database: Database): Promise<readonly CauseGroup[]> {
  const rows = await rowsOf<CauseRow>(
    database,
    `select f.cause, f.kind, (array_agg(f.risk order by ${riskOrder("f.risk")}))[1] as risk, count(*) as findings,
      json_agg(distinct a.name) as accounts, ${iso("min(f.opened_at)")} as opened_at,
      (array_agg(json_build_object('address', f.address, 'path', f.path, 'detail', f.detail) order by f.opened_at, f.id))[1] as example
      from dimsync_controller.finding f join ${namedAccounts} a on a.id = f.account
      where f.closed_at is null group by f.cause, f.kind
      order by min(${riskOrder("f.risk")}), count(distinct f.account) desc, f.cause limit 200`,
  );
  return rows.map(({ opened_at, ...rest }) => ({ ...rest, openedAt: opened_at }));
}

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
      `select count(*) filter (where next_check_at <= now() and (running_until is null or running_until < now())) as due,
        count(*) filter (where running_until >= now()) as running
        from dimsync_controller.account where removed_at is null`,
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

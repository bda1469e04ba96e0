import { defaultKeepMs } from "../../../core/model/settings/config.ts";
import type { Database } from "../../../core/records/postgres/connection.ts";

/**
 * Deletes old runs, reports, findings, events and bundles. The sums per day were added by each run. Accounts have `controller.history.keep`;
 * events about no account, and bundles of a source without accounts, are kept for the default.
 */
export async function deleteOld(database: Database): Promise<void> {
  const keptBy = (condition: string): string =>
    `coalesce((select max(a.keep_ms) from dimsync_controller.account a where a.odd is null and ${condition}), ${defaultKeepMs}) * interval '1 ms'`;
  const isOld = (time: string): string => `${time} < now() - ${keptBy("a.id = x.account")}`;
  for (const statement of [
    `delete from dimsync_controller.finding x where ${isOld("closed_at")}`,
    `delete from dimsync_controller.finding_event x where ${isOld("at")}`,
    `delete from dimsync_controller.event x where ${isOld("at")}
      and not exists (select 1 from dimsync_controller.account a where a.id = x.account and x.name = any(a.alerts) and x.ended_by is null)`,
    `delete from dimsync_controller.silence x where ${isOld("until")}`,
    `delete from dimsync_controller.run x where ${isOld("finished_at")}`,
    `delete from dimsync_controller.report x where ${isOld("seen_at")}`,
    "delete from dimsync_controller.protection where at < now() - interval '2 days'",
    "delete from dimsync_controller.worker where seen_at < now() - interval '1 day'",
    `delete from dimsync_controller.bundle b where pushed_at < now() - ${keptBy("a.source = b.source")}
      and not exists (select 1 from dimsync_controller.account a where a.digest = b.digest or a.observed_digest = b.digest)`,
  ])
    await database.query(statement, []);
}

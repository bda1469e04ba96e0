import type { Database } from "../../records/postgres/connection.ts";

/** How long runs, closed findings and events are kept. Sums per day stay. */
const keptDays = 400;

/** Deletes old runs, findings, events and bundles. The sums per day were added by each run. */
export async function deleteOld(database: Database): Promise<void> {
  const old = `now() - interval '${keptDays} days'`;
  for (const statement of [
    `delete from dimsync_controller.finding where closed_at < ${old}`,
    `delete from dimsync_controller.finding_event where at < ${old}`,
    `delete from dimsync_controller.event e where at < ${old}
      and not exists (select 1 from dimsync_controller.account a where a.id = e.account and e.name = any(a.alerts) and e.ended_by is null)`,
    `delete from dimsync_controller.silence where until < ${old}`,
    `delete from dimsync_controller.run where finished_at < ${old}`,
    "delete from dimsync_controller.protection where at < now() - interval '2 days'",
    "delete from dimsync_controller.worker where seen_at < now() - interval '1 day'",
    `delete from dimsync_controller.bundle b where pushed_at < ${old}
      and not exists (select 1 from dimsync_controller.account a where a.digest = b.digest or a.observed_digest = b.digest)`,
  ])
    await database.query(statement, []);
}

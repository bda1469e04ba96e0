import type { Database } from "../../records/postgres/connection.ts";
import { iso } from "../../records/postgres/iso.ts";
import { rowsOf } from "../database/rows.ts";
import type { Day, Finding, FindingEvent, Suspension } from "./status.ts";

interface FindingRow {
  readonly id: number;
  readonly kind: Finding["kind"];
  readonly address: string;
  readonly path: string;
  readonly risk: Finding["risk"];
  readonly cause: string;
  readonly detail: Finding["detail"];
  readonly opened_at: string;
  readonly opened_run: string;
  readonly since: string;
  readonly changed_at: string | null;
  readonly actor: string | null;
}

/** Orders findings: what is exposed first. */
export const riskOrder = (column: string): string =>
  `array_position(array['exposed', 'error', 'stricter', 'warning', 'neutral', 'info'], ${column})`;

/** The open findings of an account, exposed first, at most 1,000. */
export async function openFindings(database: Database, account: number): Promise<readonly Finding[]> {
  const rows = await rowsOf<FindingRow>(
    database,
    `select id, kind, address, path, risk, cause, detail, ${iso("opened_at")} as opened_at, opened_run, ${iso("coalesce(since, opened_at)")} as since, ${iso("changed_at")} as changed_at, actor
      from dimsync_controller.finding where account = $1 and closed_at is null order by ${riskOrder("risk")}, address, path limit 1000`,
    [account],
  );
  return rows.map(({ opened_at, opened_run, changed_at, actor, ...rest }) => ({
    ...rest,
    openedAt: opened_at,
    openedRun: opened_run,
    ...(changed_at === null ? {} : { changedAt: changed_at }),
    ...(actor === null ? {} : { actor }),
  }));
}

interface EventRow extends Omit<FindingEvent, "actor"> {
  readonly actor: string | null;
}

/** What happened to the findings of an account, newest first. */
export async function readEvents(database: Database, account: number, limit: number): Promise<readonly FindingEvent[]> {
  const rows = await rowsOf<EventRow>(
    database,
    `select e.finding, e.event, ${iso("e.at")} as at, e.run, e.actor, f.kind, f.address, f.path, f.risk, e.detail
      from dimsync_controller.finding_event e join dimsync_controller.finding f on f.id = e.finding
      where e.account = $1 order by e.at desc, e.id desc limit $2`,
    [account, limit],
  );
  return rows.map(({ actor, ...rest }) => ({ ...rest, ...(actor === null ? {} : { actor }) }));
}

/** The days with a check of the last 90, oldest first. */
export const readTimeline = (database: Database, account: number): Promise<readonly Day[]> =>
  rowsOf<Day>(
    database,
    `select day, checks, failures, exposed_columns as "exposedColumns", differences, manual, opened, closed,
      changes_sent as "changesSent", duration_ms as "durationMs"
      from dimsync_controller.daily where account = $1 and day > (now() at time zone 'UTC')::date - 90 order by day`,
    [account],
  );

export interface SuspensionRow {
  readonly reason: string;
  readonly until: string;
  readonly by: string;
  readonly at: string;
  readonly resumed_at?: string | null;
  readonly resumed_by?: string | null;
}

/** The newest 20 suspensions, newest first. */
export async function readSuspensions(database: Database, account: number): Promise<readonly Suspension[]> {
  const rows = await rowsOf<SuspensionRow>(
    database,
    `select reason, ${iso("until")} as until, suspended_by as by, ${iso("suspended_at")} as at, ${iso("resumed_at")} as resumed_at, resumed_by
      from dimsync_controller.suspension where account = $1 order by id desc limit 20`,
    [account],
  );
  return rows.map(toSuspension);
}

export const toSuspension = ({ reason, until, by, at, resumed_at, resumed_by }: SuspensionRow): Suspension => ({
  ...{ reason, until, by, at },
  ...(resumed_at === null || resumed_at === undefined ? {} : { resumedAt: resumed_at }),
  ...(resumed_by === null || resumed_by === undefined ? {} : { resumedBy: resumed_by }),
});

import { type MaintenanceWindow, weekdays } from "../../../core/model/settings/notifications.ts";
import type { Database } from "../../../core/records/postgres/connection.ts";
import { iso } from "../../../core/records/postgres/connection.ts";
import { rowsOf } from "../database/rows.ts";
import { type Pause, untilSql } from "../operate.ts";
import type { AccountSummary } from "../views/status.ts";

// While an account is silenced, its events wait. What is over before the silence ends is never sent.

/** Whose events wait: those of one account, of accounts with a label, or all. */
export type SilenceScope =
  | { readonly source: string; readonly target: string }
  | { readonly label: string; readonly value: string }
  | { readonly all: true };

/** Silences the scope instead of an earlier silence of the same scope. Returns when it ends. */
export async function silence(database: Database, scope: SilenceScope, { at, ms, reason, by }: Pause): Promise<string> {
  const none = { source: null, target: null, label: null, value: null };
  const { source, target, label, value } = { ...none, ...scope };
  const [stored] = await rowsOf<{ readonly until: string }>(
    database,
    `select ${iso("until")} as until from stored`,
    [source, target, label, value, reason, by, at?.toISOString() ?? null, ms ?? null],
    `scope as (select a.id as account, $3::text as label, $4::text as value from (select 1) one
        left join dimsync_controller.account a on a.source = $1 and a.target = $2 where $1::text is null or a.id is not null),
      ended as (update dimsync_controller.silence s set ended_at = now() from scope where s.ended_at is null and s.until > now()
        and s.account is not distinct from scope.account and s.label is not distinct from scope.label and s.value is not distinct from scope.value),
      stored as (insert into dimsync_controller.silence (account, label, value, reason, silenced_by, until)
        select account, label, value, $5, $6, ${untilSql("$7", "$8")} from scope returning *)`,
  );
  return stored?.until ?? "";
}

/** Acknowledges what is reported of the account: it is not sent again until it is over. Returns what that is. */
export async function acknowledge(
  database: Database,
  { source, target }: Pick<AccountSummary, "source" | "target">,
  { reason, by }: Pick<Pause, "reason" | "by">,
): Promise<readonly string[]> {
  const rows = await rowsOf<{ readonly name: string }>(
    database,
    "select distinct name from noted order by name",
    [source, target, reason, by],
    `noted as (update dimsync_controller.event e set acknowledged = jsonb_build_object('by', $4::text, 'reason', $3::text, 'at', ${iso("now()")})
      from dimsync_controller.account a where a.source = $1 and a.target = $2 and e.account = a.id and e.ended_by is null and e.resolves = '{}' and e.name = any(a.alerts)
      returning e.name)`,
  );
  return rows.map(({ name }) => name);
}

/** Whether the time is in one of the windows. One that ends before it begins ends on the next day. */
export function isInMaintenance(windows: readonly MaintenanceWindow[], now: Date): boolean {
  return windows.some(({ days = weekdays, from, to, timezone = "UTC" }) => {
    const parts = new Intl.DateTimeFormat("en-GB", {
      timeZone: timezone,
      weekday: "short",
      hour: "2-digit",
      minute: "2-digit",
      hourCycle: "h23",
    });
    const values = Object.fromEntries(parts.formatToParts(now).map(({ type, value }) => [type, value]));
    const day = weekdays.map(String).indexOf(values["weekday"]?.toLowerCase() ?? "");
    const time = `${values["hour"]}:${values["minute"]}`;
    const began = (offset: number): boolean => days.some((each) => each === weekdays[(day + offset + 7) % 7]);
    if (from <= to) return began(0) && time >= from && time < to;
    return (began(0) && time >= from) || (began(-1) && time < to);
  });
}

import type { Plan } from "../../core/model/plan.ts";
import type { ControllerMode } from "../../core/model/settings/config.ts";
import { jsonParameter } from "../../core/records/postgres/stored-text.ts";
import type { Database } from "./database.ts";

// One row for each target under control: what the last check found. What is due, and what is late, is decided by the row in the database's
// time, so a job that is lost or comes twice costs nothing, and the clocks of the workers do not matter.

export interface AccountRow {
  readonly target: string;
  readonly host: string;
  readonly mode: ControllerMode;
  readonly labels: Readonly<Record<string, string>>;
  readonly everyMs: number;
  /** Incremented by each write of a check, which writes nothing if another worker has written since it read the row. */
  readonly version: number;
  /** Now, by the clock of the database. */
  readonly readAt: string;
  readonly isDue: boolean;
  /** Not checked within three intervals. */
  readonly isStale: boolean;
  /** Of the last check that read everything; null before. */
  readonly checkedAt: string | null;
  readonly durationMs: number | null;
  /** The newest commit that was checked, and its time. */
  readonly commit: string | null;
  readonly commitAt: string | null;
  readonly exposed: number;
  readonly differences: number;
  readonly manual: number;
  readonly policy: number;
  /** When a check first found something exposed. */
  readonly exposedSince: string | null;
  readonly findings: readonly FoundDifference[];
  /** Of the last seven days, oldest first. */
  readonly repairs: readonly Repair[];
  /** Why the last check failed. */
  readonly error: string | null;
  readonly failures: number;
  /** Why the account is paused, and by whom. */
  readonly locked: string | null;
  /** Set while a repair is sent: what it sends. */
  readonly sending: string | null;
  /** The fingerprint of what the webhook accepted last. */
  readonly notified: string | null;
}

/** A difference as the page groups it: equal ones of several accounts are one cause. */
export interface FoundDifference {
  /** "Schemas/shop" */
  readonly address: string;
  /** "" for a whole object. */
  readonly path: string;
  /** "public.users.email is not hashed" */
  readonly what: string;
  readonly isExposed: boolean;
  /** Who changed it, and when: only if an event names it. */
  readonly actor?: string;
  readonly at?: string;
  /** An event about the object, if none names the node: "Orders was changed by dana@example.com, 2026-03-03 07:55 UTC". */
  readonly event?: string;
}

/** A change that a repair reverts. */
export interface Repair extends Omit<FoundDifference, "isExposed"> {
  /** When a check found it protected again; absent while it is sent. */
  readonly doneAt?: string;
  /** Whether the webhook has accepted a message about it. */
  readonly isTold?: boolean;
}

export type Registration = Pick<AccountRow, "target" | "host" | "mode" | "labels" | "everyMs">;

/** Stores the targets of the checkout that could be loaded. Accounts that no worker has seen for an hour are forgotten. Those of `names` that are due. */
export async function registerAccounts(
  { rows }: Database,
  all: readonly Registration[],
  names: readonly string[],
): Promise<readonly Pick<Registration, "target" | "host">[]> {
  await rows(
    `insert into dimsync_controller.account as a (target, host, mode, labels, every_ms)
      select target, host, mode, labels, "everyMs" from jsonb_to_recordset($1::jsonb) as x(target text, host text, mode text, labels jsonb, "everyMs" integer)
      on conflict (target) do update set host = excluded.host, mode = excluded.mode, labels = excluded.labels, every_ms = excluded.every_ms,
        next_at = case when excluded.every_ms < a.every_ms then now() else a.next_at end`,
    [jsonParameter(all)],
  );
  const seen = await rows<Pick<AccountRow, "target" | "host" | "isDue">>(
    `update dimsync_controller.account set seen_at = now() where target = any($1::text[]) returning target, host, next_at <= now() as "isDue"`,
    [names],
  );
  await rows("delete from dimsync_controller.account where seen_at < now() - interval '1 hour'");
  return seen.filter(({ isDue }) => isDue);
}

/** All, or one: worst first. */
export function listAccounts({ rows }: Database, target?: string): Promise<readonly AccountRow[]> {
  const isStale = "now() - coalesce(checked_at, added_at) > 3 * every_ms * interval '1 ms'";
  return rows(
    `select target, host, mode, labels, every_ms as "everyMs", version, now() as "readAt", next_at <= now() as "isDue", ${isStale} as "isStale",
      checked_at as "checkedAt", duration_ms as "durationMs", commit, commit_at as "commitAt", exposed, differences, manual, policy,
      exposed_since as "exposedSince", findings::json as findings, repairs::json as repairs, error, failures, locked, sending, notified
      from dimsync_controller.account where $1::text is null or target = $1
      order by exposed > 0 desc, error is not null desc, ${isStale} desc, exposed desc, differences + manual + policy desc, target`,
    [target ?? null],
  );
}

/** The repairs that were done in so many days. */
export const repairsOf = ({ repairs, readAt }: AccountRow, days: number): readonly (Repair & { readonly doneAt: string })[] =>
  repairs.flatMap(({ doneAt, ...repair }) =>
    doneAt !== undefined && Date.parse(readAt) - Date.parse(doneAt) < days * 86_400_000 ? [{ ...repair, doneAt }] : [],
  );

export const readAccount = async (database: Database, target: string): Promise<AccountRow | undefined> =>
  (await listAccounts(database, target))[0];

/** The last DriftReport of the account. */
export async function readReport({ rows }: Database, target: string): Promise<Plan | undefined> {
  const sql = "select report::json from dimsync_controller.account where target = $1 and report is not null";
  return (await rows<{ readonly report: Plan }>(sql, [target]))[0]?.report;
}

export interface Commit {
  readonly id: string;
  /** ISO 8601: when it was committed. */
  readonly at: string;
}

/** What a check found. */
export interface CheckFound {
  /** Absent if the account could not be read, and nothing worse is known than before. */
  readonly known?: (Pick<AccountRow, "exposed" | "differences" | "manual" | "policy" | "findings"> & { readonly report: Plan }) | undefined;
  /** All that is exposed; absent if the account could not be read completely. */
  readonly exposed?: readonly FoundDifference[] | undefined;
  readonly error?: string | undefined;
  readonly locked?: string | undefined;
}

const mostFindings = 200;

/**
 * Stores what a check found; `before` is the row as it was. The next one comes after the interval, which doubles with each failure in a row,
 * up to a day. False if another worker has written meanwhile: then nothing is stored.
 */
export async function storeFound(
  { rows }: Database,
  before: AccountRow,
  { known, exposed: open, error, locked, commit, ms }: CheckFound & { readonly commit: Commit | undefined; readonly ms: number },
): Promise<boolean> {
  const isOpen = ({ address, path }: Repair): boolean => open?.some((one) => one.address === address && one.path === path) ?? true;
  // Also those that a worker sent that was killed.
  const doneAt = new Date(Date.parse(before.readAt) + ms).toISOString();
  const repairs = before.repairs.map((repair) => (repair.doneAt !== undefined || isOpen(repair) ? repair : { ...repair, doneAt }));
  // Of a check that could not read the account, what was known stays.
  const { findings, ...counts } = { ...before, ...known, report: undefined };
  const texts = { findings: JSON.stringify(findings.slice(0, mostFindings)), repairs: JSON.stringify(repairs) };
  const of = { ms: Math.round(ms), commit: commit?.id, commit_at: commit?.at };
  const stored = await rows(
    `update dimsync_controller.account a set version = version + 1, error = f.error, locked = f.locked, duration_ms = f.ms, findings = f.findings,
      repairs = f.repairs, sending = null, exposed = f.exposed, differences = f.differences, manual = f.manual, policy = f.policy, report = coalesce($4, report),
      exposed_since = case when f.exposed > 0 then coalesce(exposed_since, now()) end, failures = case when f.error is null then 0 else failures + 1 end,
      next_at = now() + least(86400000, every_ms * case when f.error is null then 1 else 2 ^ least(failures + 1, 20) end) * (0.9 + random() * 0.2) * interval '1 ms',
      checked_at = case when f.error is null then now() else checked_at end, commit = coalesce(f.commit, a.commit), commit_at = coalesce(f.commit_at, a.commit_at)
      from jsonb_to_record($3::jsonb) as f(error text, locked text, ms integer, findings text, repairs text, exposed integer, differences integer,
        manual integer, policy integer, commit text, commit_at timestamptz)
      where target = $1 and version = $2 returning 1`,
    [
      before.target,
      before.version,
      jsonParameter({ ...counts, ...texts, ...of, error, locked }),
      known === undefined ? null : JSON.stringify(known.report),
    ],
  );
  return stored.length > 0;
}

/** Stores the repairs of the account, what is being sent, and what the webhook accepted. False if another worker has written meanwhile. */
export async function storeRepairs({ rows }: Database, { target, version, repairs, sending, notified }: AccountRow): Promise<boolean> {
  const set = "version = version + 1, repairs = $3, sending = $4, notified = $5";
  const sql = `update dimsync_controller.account set ${set} where target = $1 and version = $2 returning 1`;
  return (await rows(sql, [target, version, JSON.stringify(repairs), sending, notified])).length > 0;
}

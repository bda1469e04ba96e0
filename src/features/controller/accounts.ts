import type { Plan } from "../../core/base/model/plan.ts";
import type { ControllerMode } from "../../core/base/model/settings/config.ts";
import { isSameNode, type NamedDifference } from "../../core/drift/index.ts";
import { jsonParameter } from "../../core/records/postgres/index.ts";
import type { Database } from "./database.ts";

// One row for each target under control: what the last check found. What is due, and what is late, is decided by the row in the database's
// time, so a job that is lost or comes twice costs nothing, and the clocks of the workers do not matter.

export interface AccountRow {
  readonly target: string;
  readonly mode: ControllerMode;
  readonly labels: Readonly<Record<string, string>>;
  readonly everyMs: number;
  /** Incremented by each write of a check, which writes nothing if another worker has written since it read the row. */
  readonly version: number;
  /** Now, by the clock of the database. */
  readonly readAt: string;
  readonly isDue: boolean;
  readonly nextAt: string;
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
  readonly byHand: number;
  readonly policy: number;
  /** When a check first found something exposed. */
  readonly exposedSince: string | null;
  readonly findings: readonly FoundDifference[];
  /** Of the last seven days, oldest first; also those that are sent, before they are sent. */
  readonly repairs: readonly Repair[];
  /** Why the last check failed. */
  readonly error: string | null;
  readonly failures: number;
  /** Why the account is paused, and by whom. */
  readonly locked: string | null;
  /** The fingerprint of what the webhook accepted last. */
  readonly notified: string | null;
}

/** A difference as the page groups it: equal ones of several accounts are one cause. */
export interface FoundDifference extends NamedDifference {
  /** If no event says when: the last check that did not find it, by the same commit. */
  readonly after?: string;
}

/** A change that a repair reverts. */
export interface Repair extends Omit<FoundDifference, "isExposed" | "isByHand"> {
  /** When a check found it protected again; absent before. */
  readonly doneAt?: string;
  /** Whether the webhook has accepted a message about it. */
  readonly isTold?: boolean;
}

/** Stores the targets of the checkout that could be loaded. Accounts that no worker has seen for an hour are forgotten. Those of `names` that are due. */
export async function registerAccounts(
  { rows }: Database,
  all: readonly Pick<AccountRow, "target" | "mode" | "labels" | "everyMs">[],
  names: readonly string[],
): Promise<readonly string[]> {
  await rows(
    `insert into dimsync_controller.account as a (target, mode, labels, every_ms)
      select target, mode, labels, "everyMs" from jsonb_to_recordset($1::jsonb) as x(target text, mode text, labels jsonb, "everyMs" integer)
      on conflict (target) do update set mode = excluded.mode, labels = excluded.labels, every_ms = excluded.every_ms,
        next_at = case when excluded.every_ms < a.every_ms then now() else a.next_at end`,
    [jsonParameter(all)],
  );
  await rows("update dimsync_controller.account set seen_at = now() where target = any($1::text[])", [names]);
  await rows("delete from dimsync_controller.account where seen_at < now() - interval '1 hour'");
  const sql = "select target from dimsync_controller.account where target = any($1::text[]) and next_at <= now()";
  return (await rows<Pick<AccountRow, "target">>(sql, [names])).map(({ target }) => target);
}

/** All, or one: worst first. */
export function listAccounts({ rows }: Database, target?: string): Promise<readonly AccountRow[]> {
  const isStale = "now() - coalesce(checked_at, added_at) > 3 * every_ms * interval '1 ms'";
  return rows(
    `select target, mode, labels, every_ms as "everyMs", version, now() as "readAt", next_at <= now() as "isDue", next_at as "nextAt", ${isStale} as "isStale",
      checked_at as "checkedAt", duration_ms as "durationMs", commit, commit_at as "commitAt", exposed, differences, by_hand as "byHand", policy,
      exposed_since as "exposedSince", findings::json as findings, repairs::json as repairs, error, failures, locked, notified
      from dimsync_controller.account where $1::text is null or target = $1
      order by exposed > 0 desc, error is not null desc, ${isStale} desc, exposed desc, differences + by_hand + policy desc, target`,
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
  /** The row as the check stored it last. Default: as it was before the check. */
  readonly row?: AccountRow;
  /** Absent if the account could not be read, and nothing worse is known than before. */
  readonly known?: (Pick<AccountRow, "exposed" | "differences" | "byHand" | "policy" | "findings"> & { readonly report: Plan }) | undefined;
  /** All that is exposed; absent if the account could not be read completely. */
  readonly exposed?: readonly FoundDifference[] | undefined;
  readonly error?: string | undefined;
  readonly locked?: string | undefined;
}

export const mostFindings = 200;

/**
 * Stores what a check of the account found. The next one comes after the interval, which doubles with each failure in a row,
 * up to a day. False if another worker has written meanwhile: then nothing is stored.
 */
export async function storeFound(
  { rows }: Database,
  account: AccountRow,
  found: CheckFound & { readonly commit: Commit | undefined; readonly ms: number },
): Promise<boolean> {
  const { row: before = account, known, exposed: open, error, locked, commit, ms } = found;
  const isOpen = (repair: Repair): boolean => open?.some((one) => isSameNode(one, repair)) ?? true;
  // Also those that a worker sent that was killed.
  const doneAt = new Date(Date.parse(before.readAt) + ms).toISOString();
  const repairs = before.repairs.map((repair) => (repair.doneAt !== undefined || isOpen(repair) ? repair : { ...repair, doneAt }));
  // Of a check that could not read the account, what was known stays.
  const { findings, report, ...counts } = { ...before, report: undefined, ...known };
  const failures = error === undefined ? 0 : before.failures + 1;
  const texts = {
    findings: JSON.stringify(findings.slice(0, mostFindings)),
    repairs: JSON.stringify(repairs),
    report: JSON.stringify(report),
  };
  const of = { by_hand: counts.byHand, error, locked, failures, duration_ms: Math.round(ms), commit: commit?.id, commit_at: commit?.at };
  const stored = await rows(
    `update dimsync_controller.account a set version = a.version + 1, error = f.error, locked = f.locked, duration_ms = f.duration_ms, findings = f.findings,
      repairs = f.repairs, exposed = f.exposed, differences = f.differences, by_hand = f.by_hand, policy = f.policy, failures = f.failures,
      report = coalesce(f.report, a.report), commit = coalesce(f.commit, a.commit), commit_at = coalesce(f.commit_at, a.commit_at),
      exposed_since = case when f.exposed > 0 then coalesce(a.exposed_since, now()) end, checked_at = case when f.error is null then now() else a.checked_at end,
      next_at = now() + least(86400000, a.every_ms * 2 ^ least(f.failures, 20)) * (0.9 + random() * 0.2) * interval '1 ms'
      from jsonb_populate_record(null::dimsync_controller.account, $3::jsonb) as f where a.target = $1 and a.version = $2 returning 1`,
    [before.target, before.version, jsonParameter({ ...counts, ...texts, ...of })],
  );
  return stored.length > 0;
}

/** Stores the repairs of the account, and what the webhook accepted. Returns the row as it is then; undefined if another worker has written meanwhile. */
export async function storeRepairs({ rows }: Database, account: AccountRow): Promise<AccountRow | undefined> {
  const { target, version, repairs, notified } = account;
  const set = "version = version + 1, repairs = $3, notified = $4";
  const sql = `update dimsync_controller.account set ${set} where target = $1 and version = $2 returning version`;
  const [stored] = await rows<Pick<AccountRow, "version">>(sql, [target, version, JSON.stringify(repairs), notified]);
  return stored && { ...account, ...stored };
}

import type { Plan } from "../../core/model/plan.ts";
import type { ControllerMode } from "../../core/model/settings/config.ts";
import { jsonParameter } from "../../core/records/postgres/stored-text.ts";
import type { Database } from "./database.ts";

// One row for each target under control: what the last check found. What is due, and what is late, is decided by the row in the database's
// time, so a job that is lost or comes twice costs nothing, and the clocks of the workers do not matter.

export interface Account {
  readonly target: string;
  readonly host: string;
  readonly mode: ControllerMode;
  readonly labels: Readonly<Record<string, string>>;
  readonly everyMs: number;
  readonly isDue: boolean;
  /** Not checked within three intervals. */
  readonly isStale: boolean;
  /** Now, by the clock of the database. */
  readonly readAt: string;
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
  readonly findings: readonly Finding[];
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
export interface Finding {
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

export type Registration = Pick<Account, "target" | "host" | "mode" | "labels" | "everyMs">;

/** Stores the targets of the checkout. `unknown`: those that cannot be loaded. Accounts that no worker has seen for an hour are forgotten. */
export async function registerAccounts({ rows }: Database, all: readonly Registration[], unknown: readonly string[]): Promise<void> {
  await rows(
    `insert into dimsync_controller.account as a (target, host, mode, labels, every_ms)
      select target, host, mode, labels, "everyMs" from jsonb_to_recordset($1::jsonb) as x(target text, host text, mode text, labels jsonb, "everyMs" bigint)
      on conflict (target) do update set host = excluded.host, mode = excluded.mode, labels = excluded.labels, every_ms = excluded.every_ms, seen_at = now(),
        next_at = case when excluded.every_ms < a.every_ms then now() else a.next_at end
      returning 1 as one`,
    [jsonParameter(all)],
  );
  await rows("update dimsync_controller.account set seen_at = now() where target = any($1::text[]) returning 1 as one", [unknown]);
  await rows("delete from dimsync_controller.account where seen_at < now() - interval '1 hour' returning 1 as one");
  await rows("delete from dimsync_controller.repair where at < now() - interval '7 days' returning 1 as one");
}

export const dueAccounts = ({ rows }: Database): Promise<readonly Pick<Account, "target" | "host">[]> =>
  rows("select target, host from dimsync_controller.account where next_at <= now() order by next_at");

/** All, or one: worst first. */
export function listAccounts({ rows }: Database, target?: string): Promise<readonly Account[]> {
  const isStale = "now() - coalesce(checked_at, added_at) > 3 * every_ms * interval '1 ms'";
  return rows(
    `select target, host, mode, labels, every_ms as "everyMs", next_at <= now() as "isDue", ${isStale} as "isStale", now() as "readAt",
      checked_at as "checkedAt", duration_ms as "durationMs", commit, commit_at as "commitAt", exposed, differences, manual,
      policy, exposed_since as "exposedSince", findings::json as findings, error, failures, locked, sending, notified
      from dimsync_controller.account where $1::text is null or target = $1
      order by exposed > 0 desc, error is not null desc, ${isStale} desc, exposed desc, differences + manual + policy desc, target`,
    [target ?? null],
  );
}

export const readAccount = async (database: Database, target: string): Promise<Account | undefined> =>
  (await listAccounts(database, target))[0];

/** The last DriftReport of the account. */
export async function readReport({ rows }: Database, target: string): Promise<Plan | undefined> {
  const [row] = await rows<{ readonly report: Plan | null }>("select report::json from dimsync_controller.account where target = $1", [
    target,
  ]);
  return row?.report ?? undefined;
}

export interface Commit {
  readonly id: string;
  /** ISO 8601: when it was committed. */
  readonly at: string;
}

/** What a check found. */
export interface Found {
  /** Absent if the account could not be read, and nothing worse is known than before. */
  readonly known?: (Pick<Account, "exposed" | "differences" | "manual" | "policy" | "findings"> & { readonly report: Plan }) | undefined;
  readonly error?: string | undefined;
  readonly locked?: string | undefined;
}

/** The account as it was when the check began, and the commit of the checkout. */
export interface Checked {
  readonly before: Account;
  readonly commit: Commit | undefined;
}

/** The row is as the check found it, or another worker has checked the same commit. */
const isCurrent = "(a.commit is not distinct from f.seen or a.commit is not distinct from f.commit)";
const mostFindings = 200;

/**
 * Stores what a check found. The next one comes after the interval, which doubles with each failure in a row, up to a day. False if another
 * worker has stored a newer commit meanwhile: then nothing is stored.
 */
export async function storeFound(
  { rows }: Database,
  { known, error, locked }: Found,
  { before, commit, ms }: Checked & { readonly ms: number },
): Promise<boolean> {
  // Of a check that could not read the account, what was known stays.
  const { exposed, differences, manual, policy, findings: all } = known ?? before;
  const findings = JSON.stringify(all.slice(0, mostFindings));
  const of = { seen: before.commit, commit: commit?.id, commit_at: commit?.at, ms: Math.round(ms) };
  const stored = await rows(
    `update dimsync_controller.account a set error = f.error, locked = f.locked, duration_ms = f.ms, findings = f.findings, sending = null,
      exposed = f.exposed, differences = f.differences, manual = f.manual, policy = f.policy, report = coalesce($3, report),
      exposed_since = case when f.exposed > 0 then coalesce(exposed_since, now()) end, failures = case when f.error is null then 0 else failures + 1 end,
      next_at = now() + least(86400000, every_ms * case when f.error is null then 1 else 2 ^ least(failures + 1, 20) end) * (0.9 + random() * 0.2) * interval '1 ms',
      checked_at = case when f.error is null then now() else checked_at end, commit = coalesce(f.commit, a.commit), commit_at = coalesce(f.commit_at, a.commit_at)
      from jsonb_to_record($2::jsonb) as f(error text, locked text, ms integer, findings text, exposed integer, differences integer, manual integer,
        policy integer, seen text, commit text, commit_at timestamptz)
      where target = $1 and ${isCurrent} returning 1 as one`,
    [
      before.target,
      jsonParameter({ ...of, error, locked, exposed, differences, manual, policy, findings }),
      known === undefined ? null : JSON.stringify(known.report),
    ],
  );
  return stored.length > 0;
}

export async function noteNotified({ rows }: Database, target: string, fingerprint: string): Promise<void> {
  await rows("update dimsync_controller.account set notified = $2 where target = $1 returning 1 as one", [target, fingerprint]);
  await rows("update dimsync_controller.repair set told = true where target = $1 and done_at is not null returning 1 as one", [target]);
}

/** A change that a repair has reverted. */
export interface DoneRepair {
  readonly target: string;
  readonly address: string;
  readonly path: string;
  /** Who had made it and when, if an event names it. */
  readonly actor: string | null;
  readonly changedAt: string | null;
  /** An event about the object, if none names the node. */
  readonly event: string | null;
  readonly doneAt: string;
  /** Now, by the clock of the database. */
  readonly readAt: string;
  /** Whether the webhook has accepted a message about it. */
  readonly told: boolean;
}

/** The changes that were reverted three times in a day: protect does not fight people. */
export const stoppedRepairs = ({ rows }: Database, target: string): Promise<readonly Pick<DoneRepair, "address" | "path">[]> =>
  rows(
    `select address, path from dimsync_controller.repair where target = $1 and done_at > now() - interval '1 day'
      group by address, path having count(*) >= 3`,
    [target],
  );

/** Stores what is about to be sent. False if another worker has checked a newer commit meanwhile: then nothing may be sent. */
export async function beginRepairs(
  { rows }: Database,
  repairs: readonly Pick<DoneRepair, "address" | "path" | "actor" | "changedAt" | "event">[],
  { before, commit, what }: Checked & { readonly what: string },
): Promise<boolean> {
  const begun = await rows(
    `update dimsync_controller.account a set sending = f.what from jsonb_to_record($2::jsonb) as f(what text, seen text, commit text)
      where target = $1 and ${isCurrent} returning 1 as one`,
    [before.target, jsonParameter({ what, seen: before.commit, commit: commit?.id })],
  );
  if (begun.length === 0) return false;
  await rows("delete from dimsync_controller.repair where target = $1 and done_at is null returning 1 as one", [before.target]);
  await rows(
    `insert into dimsync_controller.repair (target, address, path, actor, changed_at, event) select $1, address, path, actor, "changedAt", event
      from jsonb_to_recordset($2::jsonb) as x(address text, path text, actor text, "changedAt" timestamptz, event text) returning 1 as one`,
    [before.target, jsonParameter(repairs)],
  );
  return true;
}

/** Of the repairs that were sent, also by a worker that was killed: those that are not exposed any more are done. */
export async function endRepairs({ rows }: Database, target: string, exposed: readonly Finding[]): Promise<void> {
  await rows(
    `update dimsync_controller.repair r set done_at = now() where target = $1 and done_at is null and not exists
      (select from jsonb_to_recordset($2::jsonb) as x(address text, path text) where x.address = r.address and x.path = r.path) returning 1 as one`,
    [target, jsonParameter(exposed)],
  );
}

/** What was repaired in the last day, or is not told yet. Newest first. */
export const doneRepairs = ({ rows }: Database, target?: string): Promise<readonly DoneRepair[]> =>
  rows(
    `select target, address, path, actor, changed_at as "changedAt", event, done_at as "doneAt", now() as "readAt", told from dimsync_controller.repair
      where done_at is not null and (not told or done_at > now() - interval '1 day') and ($1::text is null or target = $1) order by done_at desc, address, path`,
    [target ?? null],
  );

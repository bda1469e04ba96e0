import { DimsyncError } from "../../core/model/errors.ts";
import type { Database } from "../../core/records/postgres/connection.ts";
import { iso } from "../../core/records/postgres/connection.ts";
import { shellWord } from "../../core/text/shell.ts";
import { didYouMean } from "../../core/text/suggest.ts";
import { rowsOf } from "./database/rows.ts";
import { listAccounts, readAccount } from "./views/accounts.ts";
import { readRun } from "./views/runs.ts";
import type { AccountDetail, AccountSummary, Removal, RunDetail } from "./views/status.ts";

// What commands change: rows of accounts and suspensions. Workers find out by themselves.

/** The account with this name, under control or removed. Throws E_UNKNOWN_ACCOUNT. */
export async function anyAccount(database: Database, name: string): Promise<AccountDetail> {
  const account = await readAccount(database, name);
  if (account !== undefined) return account;
  const names = (await listAccounts(database)).map((each) => each.name);
  // A listed account was registered a moment ago. If it cannot be read now, it is gone again.
  const registered = names.includes(name) ? await readAccount(database, name) : undefined;
  if (registered !== undefined) return registered;
  const others = names.length === 0 ? "No account is under control." : `The accounts are ${names.slice(0, 20).join(", ")}.`;
  throw new DimsyncError("E_UNKNOWN_ACCOUNT", `There is no account ${JSON.stringify(name)}. ${others}${didYouMean(name, names)}`);
}

/** The account under control with this name. Throws E_UNKNOWN_ACCOUNT. */
export async function knownAccount(database: Database, name: string): Promise<AccountDetail> {
  const account = await anyAccount(database, name);
  if (account.removed === undefined) return account;
  throw new DimsyncError(
    "E_UNKNOWN_ACCOUNT",
    `${account.name} was ${removalText(account.removed)}. Nothing checks it. Its history is kept:`,
    {
      command: `dimsync controller history ${shellWord(account.name)}`,
    },
  );
}

/** "removed at 2026-11-27T10:00:00.000Z by ci with commit 4f2c1ab09d3e". */
export const removalText = ({ at, by, commit }: Removal): string =>
  `removed at ${at}${by === undefined ? " by a change of the watched project" : ` by ${by}`}${commit === undefined ? "" : ` with commit ${commit.slice(0, 12)}`}`;

export interface RequestedCheck {
  readonly id: number;
  readonly host: string;
  /** A run with this generation, or a later one, answers the request. */
  readonly generation: number;
}

/** Makes the account due now. Throws E_SUSPENDED if it is suspended. */
export async function requestCheck(database: Database, { source, target, name, suspension }: AccountSummary): Promise<RequestedCheck> {
  if (suspension !== undefined)
    throw new DimsyncError(
      "E_SUSPENDED",
      `${name} is suspended until ${suspension.until} by ${suspension.by}: ${suspension.reason}. Resume it to check it:`,
      { command: `dimsync controller resume ${name}` },
    );
  const [requested] = await rowsOf<RequestedCheck>(
    database,
    "select id, host, wanted as generation from requested",
    [source, target],
    `requested as (update dimsync_controller.account set wanted = wanted + 1, next_check_at = now() where source = $1 and target = $2 returning *)`,
  );
  if (requested === undefined) throw new Error("The account has disappeared.");
  return requested;
}

/** The newest run that answers the request, if there is one yet. */
export async function answerOf(database: Database, { id, generation }: RequestedCheck): Promise<RunDetail | undefined> {
  const [run] = await rowsOf<{ readonly id: string }>(
    database,
    `select r.id from dimsync_controller.run r join dimsync_controller.account a on a.id = r.account
      where r.account = $1 and r.generation >= $2 and a.running_run is null order by r.finished_at desc limit 1`,
    [id, generation],
  );
  return run === undefined ? undefined : await readRun(database, run.id);
}

/** A time, or how long from now by the database's clock. */
export interface Until {
  readonly at?: Date | undefined;
  readonly ms?: number | undefined;
}

/** SQL of the time. The parameters are the time and the milliseconds; null for the other one. */
export const untilSql = (at: string, ms: string): string =>
  `coalesce(${at}::timestamptz, now() + ${ms}::double precision * interval '1 ms')`;

/** Of checks or of notifications. */
export interface Pause extends Until {
  readonly reason: string;
  readonly by: string;
}

/** Suspends the account; an earlier suspension ends. Returns when it ends. */
export async function suspend(database: Database, { source, target }: AccountSummary, { at, ms, reason, by }: Pause): Promise<string> {
  const [stored] = await rowsOf<{ readonly until: string }>(
    database,
    `select ${iso("until")} as until from stored`,
    [source, target, reason, at?.toISOString() ?? null, by, ms ?? null],
    `account as (select id from dimsync_controller.account where source = $1 and target = $2),
      ended as (update dimsync_controller.suspension set resumed_at = now(), resumed_by = $5
        where account in (select id from account) and resumed_at is null and until > now()),
      stored as (insert into dimsync_controller.suspension (account, reason, until, suspended_by)
        select id, $3, ${untilSql("$4", "$6")}, $5 from account returning *)`,
  );
  return stored?.until ?? "";
}

/** Ends the suspension of the account and makes it due. False if it was not suspended. */
export async function resume(database: Database, { source, target }: AccountSummary, by: string): Promise<boolean> {
  const { rows } = await database.query(
    `with ended as (update dimsync_controller.suspension s set resumed_at = now(), resumed_by = $3 from dimsync_controller.account a
        where a.source = $1 and a.target = $2 and s.account = a.id and s.resumed_at is null and s.until > now() returning s.account)
      update dimsync_controller.account set next_check_at = now() where id in (select account from ended) returning id`,
    [source, target, by],
  );
  return rows.length > 0;
}

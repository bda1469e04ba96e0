import type { Settings } from "../../model/settings/config.ts";
import type { Database } from "../../records/postgres/connection.ts";
import { jsonParameter } from "../../records/postgres/stored-text.ts";
import { rowsOf } from "../database/rows.ts";

/** A target under control, as its config describes it. */
export interface AccountEntry {
  readonly target: string;
  readonly labels: Readonly<Record<string, string>>;
  /** What the cap per host counts. */
  readonly host: string;
  readonly mode: string;
  readonly everyMs: number;
}

/** Undefined if the target has no `controller`. */
export function accountEntry({ target, baseUrl, controller }: Settings): AccountEntry | undefined {
  if (controller === undefined) return undefined;
  const { labels, mode, everyMs } = controller;
  const host = URL.canParse(baseUrl) && !baseUrl.startsWith("embedded:") ? new URL(baseUrl).host : baseUrl;
  return { target, labels, host, mode, everyMs };
}

export interface Wanted {
  readonly source: string;
  readonly accounts: readonly AccountEntry[];
  /** Absent with --watch. */
  readonly digest?: string | undefined;
  readonly commit?: string | undefined;
}

export interface RegisteredAccount {
  readonly id: number;
  readonly target: string;
  readonly host: string;
  readonly generation: number;
}

/**
 * Makes these the accounts of the source: each becomes due, and accounts of the source that are missing
 * are no longer checked.
 */
export function registerAccounts(database: Database, { source, accounts, digest, commit }: Wanted): Promise<readonly RegisteredAccount[]> {
  return rowsOf<RegisteredAccount>(
    database,
    "select id, target, host, wanted as generation from stored order by target",
    [source, jsonParameter(accounts), digest ?? null, commit ?? null],
    `entry as (select * from jsonb_to_recordset($2::jsonb) as x(target text, labels jsonb, host text, mode text, "everyMs" bigint)),
stored as (insert into dimsync_controller.account as a (source, target, labels, host, mode, every_ms, digest, git_commit, wanted, next_check_at)
  select $1, target, labels, host, mode, "everyMs", $3, $4, 1, now() from entry
  on conflict (source, target) do update set labels = excluded.labels, host = excluded.host, mode = excluded.mode, every_ms = excluded.every_ms,
    digest = excluded.digest, git_commit = excluded.git_commit, wanted = a.wanted + 1, next_check_at = now(), removed_at = null
  returning a.*),
removed as (update dimsync_controller.account a set removed_at = now()
  where a.source = $1 and a.removed_at is null and not exists (select 1 from entry where entry.target = a.target))`,
  );
}

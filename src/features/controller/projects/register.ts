import type { Project } from "../../../core/manifests/project.ts";
import type { ControllerSettings, Settings } from "../../../core/model/settings/config.ts";
import type { NotificationSettings } from "../../../core/model/settings/notifications.ts";
import type { Database } from "../../../core/records/postgres/connection.ts";
import { jsonParameter } from "../../../core/records/postgres/stored-text.ts";
import { rowsOf } from "../database/rows.ts";

/** A target under control, as its config describes it. */
interface AccountEntry extends ControllerSettings {
  readonly target: string;
  /** What the cap per host counts. */
  readonly host: string;
}

/** Those of the projects that have `controller`. */
export const accountEntries = (projects: readonly Pick<Project, "settings">[]): readonly AccountEntry[] =>
  projects.flatMap(({ settings: { target, baseUrl, controller } }) => {
    if (controller === undefined) return [];
    const host = URL.canParse(baseUrl) && !baseUrl.startsWith("embedded:") ? new URL(baseUrl).host : baseUrl;
    return [{ ...controller, target, host }];
  });

export interface Wanted {
  readonly source: string;
  readonly accounts: readonly AccountEntry[];
  /** Absent with --watch. */
  readonly digest?: string | undefined;
  readonly commit?: string | undefined;
  /** Absent if it does not change where events are sent. */
  readonly notifications?: SourceNotifications | undefined;
}

/** Where the events of a source are sent. */
export interface SourceNotifications extends NotificationSettings {
  /** Files of secrets are relative to it. Absent if the project is not on this machine. */
  readonly folder?: string;
}

const none: NotificationSettings = { receivers: [], remindMs: 86_400_000, groupMs: 60_000 };

/** Of the config, whose targets share it. `isLocal`: the folder of the project is on the machine of the controller. */
export const sourceNotifications = (settings: Settings | undefined, isLocal: boolean): SourceNotifications => ({
  ...(settings?.notifications ?? none),
  ...(isLocal && settings !== undefined ? { folder: settings.folder } : {}),
});

/** Who makes a bundle the wanted one, for the history, and the digest of the one that it replaces; null for none. */
export interface PushRecord {
  readonly kind: "push" | "rollback";
  readonly by: string;
  readonly replaces: string | null;
  /** The page of the CI run that pushes. */
  readonly runUrl?: string | undefined;
  readonly reason?: string | undefined;
}

export interface RegisteredAccount {
  readonly id: number;
  readonly target: string;
  readonly host: string;
}

/**
 * Makes these the accounts of the source: each becomes due, and accounts of the source that are missing
 * are no longer checked. With a push, nothing happens and the result is empty if it does not replace what it has read.
 */
export function registerAccounts(
  database: Database,
  { source, accounts, digest, commit, notifications }: Wanted,
  push?: PushRecord,
): Promise<readonly RegisteredAccount[]> {
  return rowsOf<RegisteredAccount>(
    database,
    "select id, target, host from stored order by target",
    [
      ...[source, jsonParameter(accounts), digest ?? null, commit ?? null, push !== undefined, push?.replaces ?? null],
      ...[push?.kind ?? null, push?.by ?? null, push?.runUrl ?? null, push?.reason ?? null],
      notifications === undefined ? null : jsonParameter(notifications),
    ],
    `pushed as (insert into dimsync_controller.source as s (name, digest, git_commit)
  select $1, $3, $4 where $5::boolean and ($6::text is null or exists (select 1 from dimsync_controller.source where name = $1))
  on conflict (name) do update set digest = excluded.digest, git_commit = excluded.git_commit where s.digest is not distinct from $6
  returning name),
logged as (insert into dimsync_controller.push (source, digest, kind, by, run_url, git_commit, reason, accounts, notify)
  select $1, $3, $7, $8, $9, $4, $10, $2::jsonb, $11::jsonb from pushed),
allowed as (select 1 where not $5::boolean or exists (select 1 from pushed)),
entry as (select x.* from jsonb_to_recordset($2::jsonb) as x(target text, labels jsonb, host text, mode text, "everyMs" bigint, maintenance jsonb, "keepMs" bigint), allowed),
stored as (insert into dimsync_controller.account as a (source, target, labels, host, mode, every_ms, maintenance, keep_ms, digest, git_commit, wanted, next_check_at)
  select $1, target, labels, host, mode, "everyMs", maintenance, "keepMs", $3, $4, 1, now() from entry
  on conflict (source, target) do update set labels = excluded.labels, host = excluded.host, mode = excluded.mode, every_ms = excluded.every_ms, maintenance = excluded.maintenance,
    keep_ms = excluded.keep_ms,
    digest = excluded.digest, git_commit = excluded.git_commit, wanted = a.wanted + 1, next_check_at = now(), removed_at = null, removed_by = null, removed_commit = null,
    alerts = case when a.removed_at is null then a.alerts else '{}' end
  returning a.*),
removed as (update dimsync_controller.account a set removed_at = now(), removed_by = $8, removed_commit = $4
  from allowed where a.source = $1 and a.removed_at is null and not exists (select 1 from entry where entry.target = a.target)
  returning a.*),
reported as (insert into dimsync_controller.event (source, account, name, git_commit, actor, resolves)
  select source, id, 'account-removed', $4, $8, alerts from removed),
notified as (insert into dimsync_controller.notify (source, settings) select $1, $11::jsonb from allowed where $11::jsonb is not null
  on conflict (source) do update set settings = excluded.settings)`,
  );
}

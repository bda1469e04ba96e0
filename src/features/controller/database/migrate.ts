import { randomUUID } from "node:crypto";
import { DimsyncError } from "../../../core/model/errors.ts";
import { version } from "../../../core/model/runtime/version.ts";
import { controllerModes } from "../../../core/model/settings/config.ts";
import { type Database, isUndefinedTable, wordsOf } from "../../../core/records/postgres/connection.ts";

const lockId = 0x64696d74;

/**
 * Creates the tables or brings them up to date. Several processes can do that at once: one does it, the
 * others wait. Tables of a later version stay as they are. Throws E_CONTROLLER_DATABASE.
 */
export async function migrate(database: Database, steps: readonly Migration[] = migrations): Promise<void> {
  const format = (step: Migration, index: number): string =>
    `if current < ${index + 1} then ${step.sql}
    update ${controllerSchema}.format set format = ${index + 1}, works_with = ${step.worksWith};
  end if;`;
  // Session locks do not work behind pgbouncer in transaction mode; this one ends with the transaction.
  const script = `begin;
set local synchronous_commit = on;
select pg_advisory_xact_lock(${lockId});
create schema if not exists ${controllerSchema};
create table if not exists ${controllerSchema}.format (id text not null, format integer not null, works_with integer not null);
insert into ${controllerSchema}.format select '${randomUUID()}', 0, 0 where not exists (select 1 from ${controllerSchema}.format);
do $migrate$
declare current integer;
begin
  select format into current from ${controllerSchema}.format;
  ${steps.map(format).join("\n  ")}
end
$migrate$;
commit;`;
  try {
    await database.script(script);
  } catch (error) {
    throw databaseError(error);
  }
  await checkFormat(database, steps.length);
}

/** Throws E_CONTROLLER_DATABASE if this version cannot work with the tables, or if there are none. */
export async function checkFormat(database: Database, supported: number = migrations.length): Promise<void> {
  const { rows } = await database.query(`select format, works_with from ${controllerSchema}.format`, []).catch((error: unknown) => {
    throw isUndefinedTable(error) ? notMigrated("has no tables of a controller") : databaseError(error);
  });
  const format = Number(rows[0]?.format ?? 0);
  if (format < supported) throw notMigrated("was created by an earlier version of dimsync");
  if (Number(rows[0]?.works_with) > supported)
    throw new DimsyncError(
      "E_CONTROLLER_DATABASE",
      `The controller's database has format ${format}, and dimsync ${version} supports ${supported}. Install the version of dimsync that runs the controller.`,
    );
}

const notMigrated = (what: string): DimsyncError =>
  new DimsyncError(
    "E_CONTROLLER_DATABASE",
    `The controller's database ${what}. Start the controller, which creates and updates the tables:`,
    {
      command: "dimsync controller run",
    },
  );

/** A failed statement as an error whose message never contains the URL. */
export function databaseError(error: unknown): DimsyncError {
  if (error instanceof DimsyncError) return error;
  return new DimsyncError(
    "E_CONTROLLER_DATABASE",
    `The controller's database could not be used: ${wordsOf(error)}. Check --database or DIMSYNC_DATABASE_URL, and the privileges of the role.`,
    { cause: error },
  );
}

// Forward-only. Each migration runs once, in the transaction that holds the advisory lock. A process
// of the previous minor version must be able to work with the tables that a migration leaves: add
// columns with defaults and tables; never rename or remove what that version uses.

/** The schema of the controller's tables. The queue has its own (dimsync_queue), and so have records. */
const controllerSchema = "dimsync_controller";

export interface Migration {
  readonly sql: string;
  /** The oldest format of a process that can work with the tables after this migration. */
  readonly worksWith: number;
}

export const migrations: readonly Migration[] = [
  {
    worksWith: 1,
    sql: `
-- The project as it was pushed; content is the bundle as JSON, compressed with gzip. dirty: with uncommitted changes.
create table dimsync_controller.bundle (
  digest text primary key, source text not null, git_commit text, dirty boolean not null default false, tool_version text not null,
  content bytea not null, bytes integer not null, pushed_by text, pushed_at timestamptz not null default now()
);
-- What a source wants: a push replaces the row only if it is still the one that it has read.
create table dimsync_controller.source (name text primary key, digest text not null, git_commit text);
-- Every push and rollback: who, from which commit and CI run, and the accounts as they were registered.
create table dimsync_controller.push (
  id bigint generated always as identity primary key, source text not null, digest text not null, kind text not null,
  at timestamptz not null default now(), by text not null, run_url text, git_commit text, reason text, accounts jsonb not null, notify jsonb
);
create index push_source on dimsync_controller.push (source, id desc);
-- One row per target under control. wanted and observed are generations: each push that names the
-- account increments wanted. outcome is that of the last finished comparison, error_code and message
-- those of the last run if it failed. running_* are for display; the lease of the records is the lock.
-- alerts: what is wrong and was reported. keep_ms: how long runs, closed findings and events are kept, 400 days by default.
create table dimsync_controller.account (
  id bigint generated always as identity primary key, source text not null, target text not null,
  labels jsonb not null default '{}', host text not null default '', mode text not null, every_ms bigint not null,
  maintenance jsonb not null default '[]', keep_ms bigint not null default 34560000000,
  digest text references dimsync_controller.bundle, wanted bigint not null default 0, observed bigint not null default 0,
  observed_digest text, git_commit text, observed_commit text, removed_at timestamptz, removed_by text, removed_commit text,
  outcome text, exposed_columns integer not null default 0, differences integer not null default 0,
  manual integer not null default 0, policy_violations integer not null default 0,
  error_code text, message text, last_run text, last_checked_at timestamptz, created_at timestamptz not null default now(),
  next_check_at timestamptz not null default now(), throttled_runs integer not null default 0, failed_runs integer not null default 0,
  running_run text, running_worker text, running_since timestamptz, running_until timestamptz,
  alerts text[] not null default '{}', unique (source, target)
);
create index account_due on dimsync_controller.account (next_check_at) where removed_at is null;
-- Runs of an account with equal reports share one row: JSON, compressed with gzip, and without secrets, as plan files are. seen_at: the
-- last of these runs. run.report_head: the members that differ in every run.
create table dimsync_controller.report (
  account bigint not null references dimsync_controller.account, digest text not null, content bytea not null, seen_at timestamptz not null default now(),
  primary key (account, digest)
);
-- is_sending: stored before it sends changes, and still so if its worker is killed. interrupted_at: when a later run found that. result: as
-- the content of a report.
create table dimsync_controller.run (
  id text primary key, account bigint not null references dimsync_controller.account, reason text not null, mode text not null,
  worker text not null, claim text, is_sending boolean not null default false, interrupted_at timestamptz,
  digest text, generation bigint not null default 0, git_commit text,
  started_at timestamptz not null, finished_at timestamptz not null, exit_code integer not null, exit_reasons jsonb not null default '[]',
  exposed_columns integer not null default 0, differences integer not null default 0, manual integer not null default 0,
  policy_violations integer not null default 0, changes_sent integer not null default 0, error_code text, message text,
  calls jsonb not null default '{}', report_digest text, report_head jsonb, result bytea
);
create index run_account on dimsync_controller.run (account, finished_at desc);
create index run_finished on dimsync_controller.run (finished_at);
create index run_sending on dimsync_controller.run (account) where is_sending and interrupted_at is null;
-- A difference, a manual step or a violation of a policy, from the run that saw it first to the run
-- that no longer saw it. key identifies it within the account; cause groups it across accounts. since: when the change was
-- made, by the audit log; else when it was seen.
create table dimsync_controller.finding (
  id bigint generated always as identity primary key, account bigint not null references dimsync_controller.account,
  key text not null, kind text not null, address text not null, path text not null default '', risk text not null,
  cause text not null, detail jsonb not null default '{}', opened_at timestamptz not null, opened_run text not null, since timestamptz,
  changed_at timestamptz, actor text, closed_at timestamptz, closed_run text, closed_by text
);
create unique index finding_open on dimsync_controller.finding (account, key) where closed_at is null;
create index finding_account on dimsync_controller.finding (account, opened_at desc);
create index finding_closed on dimsync_controller.finding (closed_at) where closed_at is not null;
-- What happened to findings: opened, changed (another value or actor) or closed; who, when, and what.
create table dimsync_controller.finding_event (
  id bigint generated always as identity primary key, finding bigint not null references dimsync_controller.finding on delete cascade,
  account bigint not null references dimsync_controller.account, run text not null, event text not null, at timestamptz not null,
  actor text, detail jsonb not null default '{}'
);
create index finding_event_account on dimsync_controller.finding_event (account, at desc);
create index finding_event_finding on dimsync_controller.finding_event (finding);
create table dimsync_controller.suspension (
  id bigint generated always as identity primary key, account bigint not null references dimsync_controller.account,
  reason text not null, until timestamptz not null, suspended_by text not null, suspended_at timestamptz not null default now(),
  resumed_by text, resumed_at timestamptz
);
create index suspension_account on dimsync_controller.suspension (account, suspended_at desc);
-- Events that wait: of an account, of accounts with a label, or all (then account and label are null).
create table dimsync_controller.silence (
  id bigint generated always as identity primary key, account bigint references dimsync_controller.account, label text, value text,
  reason text not null, silenced_by text not null, silenced_at timestamptz not null default now(), until timestamptz not null, ended_at timestamptz
);
create index silence_active on dimsync_controller.silence (until) where ended_at is null;
-- Sums and maxima of one day (UTC), added by each run; they stay when runs and findings are deleted.
create table dimsync_controller.daily (
  account bigint not null references dimsync_controller.account, day date not null, checks integer not null default 0,
  failures integer not null default 0, exposed_columns integer not null default 0, differences integer not null default 0,
  manual integer not null default 0, opened integer not null default 0, closed integer not null default 0,
  changes_sent integer not null default 0, duration_ms bigint not null default 0, primary key (account, day)
);
-- What protect sent, so that it never fights people.
create table dimsync_controller.protection (
  account bigint not null references dimsync_controller.account, key text not null, actor text not null, run text not null,
  at timestamptz not null default now()
);
create index protection_account on dimsync_controller.protection (account, at);
-- taken_at: when the worker last took an account: one that takes none although accounts are due is stuck.
create table dimsync_controller.worker (
  id text primary key, version text not null, accounts_at_once integer not null, started_at timestamptz not null default now(),
  seen_at timestamptz not null default now(), taken_at timestamptz not null default now(), stopped_at timestamptz
);
-- Counters since the database was created, for metrics.
create table dimsync_controller.counter (
  name text not null, label text not null default '', value double precision not null default 0, primary key (name, label)
);
-- Where the events of a source are sent. Secrets are references. alerts: what is wrong and was reported, but is about no account.
create table dimsync_controller.notify (
  source text primary key, settings jsonb not null, alerts text[] not null default '{}', heartbeat_at timestamptz not null default 'epoch'
);
-- The outbox. Events with the same message are sent together, by jobs of the queue that exist from queued_at on. deliveries: by receiver.
create table dimsync_controller.event (
  id uuid primary key default gen_random_uuid(), source text not null, account bigint references dimsync_controller.account, name text not null,
  at timestamptz not null default now(), since timestamptz, cause text not null default '', actor text, run text, git_commit text,
  detail jsonb not null default '{}', resolves text[] not null default '{}', reminds uuid, reminded_at timestamptz, ended_by uuid,
  message uuid, queued_at timestamptz, held_at timestamptz, deliveries jsonb not null default '{}', acknowledged jsonb
);
create index event_new on dimsync_controller.event (source) where queued_at is null;
create index event_message on dimsync_controller.event (message);
create index event_open on dimsync_controller.event (source, account) where ended_by is null;
create index event_at on dimsync_controller.event (at);`,
  },
  {
    worksWith: 1,
    sql: `
-- What a role with INSERT or UPDATE writes by hand must not end the page, the metrics or the alerts of all accounts: such rows are refused. odd:
-- the columns of a row that was written before, which is shown as failing.
${withOddColumns({
  account: {
    labels: `jsonb_typeof(labels) = 'object' and not jsonb_path_exists(labels, 'strict $.* ? (@.type() <> "string")')`,
    every_ms: "every_ms between 60000 and 604800000",
    keep_ms: "keep_ms between 86400000 and 315360000000",
    mode: `mode in (${controllerModes.map((mode) => `'${mode}'`).join(", ")})`,
    maintenance: "jsonb_typeof(maintenance) = 'array'",
    outcome: "outcome in ('in-sync', 'drifted', 'exposed')",
    ...columns(
      ["exposed_columns", "differences", "manual", "policy_violations", "throttled_runs", "failed_runs"],
      (column) => `${column} >= 0`,
    ),
    ...columns(
      ["next_check_at", "created_at", "last_checked_at", "running_since", "running_until", "removed_at"],
      (column) => `isfinite(${column})`,
    ),
  },
  notify: {
    settings: `case when jsonb_typeof(settings -> 'receivers') = 'array' then jsonb_array_length(settings -> 'receivers') = jsonb_array_length(
    jsonb_path_query_array(settings, 'strict $.receivers[*] ? (@.name.type() == "string" && @.type.type() == "string")')) else false end
  and case when jsonb_typeof(settings -> 'remindMs') = 'number' then (settings ->> 'remindMs')::numeric between 0 and 31536000000 else false end
  and case when jsonb_typeof(settings -> 'groupMs') = 'number' then (settings ->> 'groupMs')::numeric between 0 and 31536000000 else false end
  and case coalesce(jsonb_typeof(settings -> 'heartbeat'), 'null') when 'null' then true when 'object' then jsonb_typeof(settings -> 'heartbeat' -> 'everyMs') = 'number'
    and (settings -> 'heartbeat' ->> 'everyMs')::numeric between 0 and 31536000000 else false end`,
  },
  finding: {
    kind: "kind in ('change', 'manual', 'policy', 'blocked')",
    risk: "risk in ('exposed', 'stricter', 'neutral', 'error', 'warning', 'info')",
    detail: `jsonb_typeof(detail) = 'object' and coalesce(jsonb_typeof(detail -> 'cause'), 'object') = 'object'
    and coalesce(jsonb_typeof(detail -> 'text'), 'string') = 'string' and coalesce(jsonb_typeof(detail -> 'policy'), 'string') = 'string'`,
    ...columns(["opened_at", "since", "changed_at", "closed_at"], (column) => `isfinite(${column})`),
  },
})}`,
  },
];

type Checks = Readonly<Record<string, string>>;

function columns(names: readonly string[], check: (column: string) => string): Checks {
  return Object.fromEntries(names.map((name) => [name, check(name)]));
}

/** Adds the column `odd` to tables: the columns of a row that break a rule, or null. Rows that are there already may break one. */
function withOddColumns(tables: Readonly<Record<string, Checks>>): string {
  const statements = Object.entries(tables).map(([table, checks]) => {
    const broken = Object.entries(checks).map(([column, check]) => `case when (${check}) is false then ', ${column}' else '' end`);
    return `alter table dimsync_controller.${table} add column odd text generated always as (nullif(substr(${broken.join(" || ")}, 3), '')) stored,
  add constraint ${table}_odd check (odd is null) not valid;`;
  });
  return statements.join("\n");
}

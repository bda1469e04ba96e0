// Forward-only. Each migration runs once, in the transaction that holds the advisory lock. A process
// of the previous minor version must be able to work with the tables that a migration leaves: add
// columns with defaults and tables; never rename or remove what that version uses.

/** The schema of the controller's tables. The queue has its own (dimsync_queue), and so have records. */
export const controllerSchema = "dimsync_controller";

export interface Migration {
  readonly sql: string;
  /** The oldest format of a process that can work with the tables after this migration. */
  readonly worksWith: number;
}

export const migrations: readonly Migration[] = [
  {
    worksWith: 1,
    sql: `
-- The project as it was pushed; content is the bundle as JSON, compressed with gzip.
create table dimsync_controller.bundle (
  digest text primary key, source text not null, git_commit text, tool_version text not null,
  content bytea not null, bytes integer not null, pushed_by text, pushed_at timestamptz not null default now()
);
-- One row per target under control. wanted and observed are generations: each push that names the
-- account increments wanted. outcome is that of the last finished comparison, error_code and message
-- those of the last run if it failed. running_* are for display; the lease of the records is the lock.
create table dimsync_controller.account (
  id bigint generated always as identity primary key, source text not null, target text not null,
  labels jsonb not null default '{}', host text not null default '', mode text not null, every_ms bigint not null,
  digest text references dimsync_controller.bundle, wanted bigint not null default 0, observed bigint not null default 0,
  observed_digest text, git_commit text, observed_commit text, removed_at timestamptz,
  outcome text, exposed_columns integer not null default 0, differences integer not null default 0,
  manual integer not null default 0, policy_violations integer not null default 0,
  error_code text, message text, last_run text, last_checked_at timestamptz, created_at timestamptz not null default now(),
  next_check_at timestamptz not null default now(), throttled_runs integer not null default 0, failed_runs integer not null default 0,
  running_run text, running_worker text, running_since timestamptz, running_until timestamptz,
  notified text, unique (source, target)
);
create index account_due on dimsync_controller.account (next_check_at) where removed_at is null;
-- report and result are JSON, compressed with gzip, and without secrets, as plan files are.
create table dimsync_controller.run (
  id text primary key, account bigint not null references dimsync_controller.account, reason text not null, mode text not null,
  worker text not null, digest text, generation bigint not null default 0, git_commit text,
  started_at timestamptz not null, finished_at timestamptz not null, exit_code integer not null, exit_reasons jsonb not null default '[]',
  exposed_columns integer not null default 0, differences integer not null default 0, manual integer not null default 0,
  policy_violations integer not null default 0, changes_sent integer not null default 0, error_code text, message text,
  calls jsonb not null default '{}', report bytea, result bytea
);
create index run_account on dimsync_controller.run (account, finished_at desc);
create index run_finished on dimsync_controller.run (finished_at);
-- A difference, a manual step or a violation of a policy, from the run that saw it first to the run
-- that no longer saw it. key identifies it within the account; cause groups it across accounts.
create table dimsync_controller.finding (
  id bigint generated always as identity primary key, account bigint not null references dimsync_controller.account,
  key text not null, kind text not null, address text not null, path text not null default '', risk text not null,
  cause text not null, detail jsonb not null default '{}', opened_at timestamptz not null, opened_run text not null,
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
create table dimsync_controller.worker (
  id text primary key, version text not null, accounts_at_once integer not null, started_at timestamptz not null default now(),
  seen_at timestamptz not null default now(), stopped_at timestamptz
);
-- Counters since the database was created, for metrics.
create table dimsync_controller.counter (
  name text not null, label text not null default '', value double precision not null default 0, primary key (name, label)
);`,
  },
  {
    worksWith: 1,
    sql: `
-- Whether the project that was pushed had uncommitted changes.
alter table dimsync_controller.bundle add column dirty boolean not null default false;`,
  },
  {
    worksWith: 1,
    sql: `
-- When the worker last took an account: one that takes none although accounts are due is stuck.
alter table dimsync_controller.worker add column taken_at timestamptz not null default now();
-- A run that is stored before it sends changes: it stays like this if its worker is killed.
alter table dimsync_controller.run add column claim text;
alter table dimsync_controller.run add column is_sending boolean not null default false;`,
  },
  {
    worksWith: 1,
    sql: `
-- What a source wants: a push replaces the row only if it is still the one that it has read.
create table dimsync_controller.source (name text primary key, digest text not null, git_commit text);
insert into dimsync_controller.source (name, digest, git_commit)
  select distinct on (source) source, digest, git_commit from dimsync_controller.account
  where digest is not null and removed_at is null order by source, wanted desc;
-- Every push and rollback: who, from which commit and CI run, and the accounts as they were registered.
create table dimsync_controller.push (
  id bigint generated always as identity primary key, source text not null, digest text not null, kind text not null,
  at timestamptz not null default now(), by text not null, run_url text, git_commit text, reason text, accounts jsonb not null
);
create index push_source on dimsync_controller.push (source, id desc);`,
  },
  {
    worksWith: 1,
    sql: `
-- The schemas of an integration have an address of their own: Schemas/orders, not SchemaConfig/shops@orders. Of several open findings
-- that would get the same key, one keeps being open; the next check closes the others.
with named as (
  select id, account, kind, key, cause, path, closed_at is null as is_open, regexp_replace(address, '^SchemaConfig/[^@/]+@', 'Schemas/') as address
  from dimsync_controller.finding where address like 'SchemaConfig/%@%'
), keyed as (
  select *, case kind when 'manual' then 'manual m-' || left(encode(sha256(convert_to(address || chr(10) || path, 'UTF8')), 'hex'), 8)
    else regexp_replace(key, 'SchemaConfig/[^@/ ]+@', 'Schemas/') end as new_key
  from named
), numbered as (
  select *, row_number() over (partition by account, new_key, is_open order by id) as number from keyed
)
update dimsync_controller.finding f set address = n.address, key = n.new_key, cause = regexp_replace(f.cause, 'SchemaConfig/[^@/ ]+@', 'Schemas/')
from numbered n where n.id = f.id and (n.number = 1 or not n.is_open);
update dimsync_controller.protection set key = regexp_replace(key, '^SchemaConfig/[^@/ ]+@', 'Schemas/');`,
  },
  {
    worksWith: 1,
    sql: `
-- Where the events of a source are sent. Secrets are references. alerts: what is wrong and was reported, but is about no account.
create table dimsync_controller.notify (
  source text primary key, settings jsonb not null, alerts text[] not null default '{}', heartbeat_at timestamptz not null default 'epoch'
);
alter table dimsync_controller.push add column notify jsonb;
-- What is wrong with the account and was reported.
alter table dimsync_controller.account add column alerts text[] not null default '{}';
-- When the change was made, by the audit log; else when it was seen.
alter table dimsync_controller.finding add column since timestamptz;
-- The outbox. Events with the same message are sent together, by jobs of the queue that exist from queued_at on. deliveries: by receiver.
create table dimsync_controller.event (
  id uuid primary key default gen_random_uuid(), source text not null, account bigint references dimsync_controller.account, name text not null,
  at timestamptz not null default now(), since timestamptz, cause text not null default '', actor text, run text, git_commit text,
  detail jsonb not null default '{}', resolves text[] not null default '{}', reminds uuid, reminded_at timestamptz, ended_by uuid,
  message uuid, queued_at timestamptz, deliveries jsonb not null default '{}'
);
create index event_new on dimsync_controller.event (source) where queued_at is null;
create index event_message on dimsync_controller.event (message);
create index event_open on dimsync_controller.event (source, account) where ended_by is null;
create index event_at on dimsync_controller.event (at);`,
  },
  {
    worksWith: 1,
    sql: `
-- Events that wait: of an account, of accounts with a label, or all (then account and label are null).
create table dimsync_controller.silence (
  id bigint generated always as identity primary key, account bigint references dimsync_controller.account, label text, value text,
  reason text not null, silenced_by text not null, silenced_at timestamptz not null default now(), until timestamptz not null, ended_at timestamptz
);
create index silence_active on dimsync_controller.silence (until) where ended_at is null;
alter table dimsync_controller.account add column maintenance jsonb not null default '[]';
alter table dimsync_controller.event add column held_at timestamptz;
alter table dimsync_controller.event add column acknowledged jsonb;`,
  },
  {
    worksWith: 1,
    sql: `
-- Runs of an account with equal reports share one row. seen_at: the last of these runs. run.report_head: the members that differ in every run.
create table dimsync_controller.report (
  account bigint not null references dimsync_controller.account, digest text not null, content bytea not null, seen_at timestamptz not null default now(),
  primary key (account, digest)
);
alter table dimsync_controller.run add column report_digest text, add column report_head jsonb;
-- How long runs, closed findings and events are kept: 400 days.
alter table dimsync_controller.account add column keep_ms bigint not null default 34560000000;`,
  },
  {
    worksWith: 1,
    sql: `
-- Who removed the account, and the commit of the push that did.
alter table dimsync_controller.account add column removed_by text, add column removed_commit text;`,
  },
  {
    worksWith: 1,
    sql: `
-- When a later run of the account found that this one was interrupted while it sent changes.
alter table dimsync_controller.run add column interrupted_at timestamptz;
create index run_sending on dimsync_controller.run (account) where is_sending and interrupted_at is null;`,
  },
];

import { escapeIdentifier, escapeLiteral } from "pg";
import type { Database } from "./connection.ts";

// Forward-only migrations. Each runs once, in the transaction that holds the advisory lock, which is
// released with it: session locks do not work behind pgbouncer in transaction mode. A process of the
// previous minor version must be able to work with the tables that a migration leaves.

/** The format that this version of dimsync writes. It reads this one and older ones after `init`. */
export const supportedFormat = 1;

const lockId = 0x64696d73;

/** `t` quotes the name of one of dimsync's tables. */
const migrations: readonly ((t: (table: string) => string) => string)[] = [
  (t) => `
create table ${t("store")} (id text not null, format integer not null);
-- One row per target. Each write increments version; token is null while the lease is free; holder is
-- the process as JSON.
create table ${t("lease")} (
  target text primary key, version bigint not null, last_write text not null, epoch bigint not null,
  token text, run_id text, run_url text, holder text, since timestamptz, ttl_ms integer, expires_at timestamptz,
  reason text, until timestamptz
);
-- Which write made which version; changes is a list of lines.
create table ${t("version")} (
  target text not null, version bigint not null, write_id text not null, run_id text not null,
  run_url text, subject text not null, changes json not null, at timestamptz not null default now(), primary key (target, version)
);
-- One row per POST that was going to be sent; entry is the line of the journal.
create table ${t("intent")} (
  entry_id text primary key, seq bigint generated always as identity, target text not null, address text not null,
  entry text not null, is_open boolean not null default true, outcome text, live_id text, settled_by text,
  settled_version bigint, settled_at timestamptz
);
create unique index intent_open on ${t("intent")} (target, address) where is_open;
create index intent_created on ${t("intent")} (target, address, settled_version desc) where outcome in ('created', 'recovered', 'forgotten');
create table ${t("binding")} (
  target text not null, address text not null, kind text not null, live_id text not null, binding text not null,
  primary key (target, address), unique (target, kind, live_id) deferrable initially deferred
);
create table ${t("applied_plan")} (
  target text not null, plan_id text not null, run_id text not null, at text not null, primary key (target, plan_id)
);
create table ${t("list_seen")} (target text not null, name text not null, length integer not null, primary key (target, name));
-- The columns that runs have seen, as JSON, if the project reviews columns.
create table ${t("columns_seen")} (target text primary key, seen text not null);
create table ${t("unlocked_run")} (target text not null, run_id text not null, at timestamptz not null, grace_ms integer not null);
create index unlocked_run_target on ${t("unlocked_run")} (target, at);`,
];

/** Quotes the name of a table in the schema. */
export const tableIn =
  (schema: string) =>
  (table: string): string =>
    `${escapeIdentifier(schema)}.${escapeIdentifier(table)}`;

/** A condition: whether the tables have the column of the applied commit, which older ones lack. */
export const keepsCommit = (schema: string): string =>
  `exists (select 1 from pg_attribute where attrelid = to_regclass(${escapeLiteral(tableIn(schema)("lease"))}) and attname = 'applied_commit' and not attisdropped)`;

const addCommit = (schema: string): string => `alter table ${tableIn(schema)("lease")} add column if not exists applied_commit text`;

/** Adds the column to tables of an earlier build. False if that is not possible now: its role does not own them, or someone uses them. */
export async function addAppliedCommit(database: Database, schema: string): Promise<boolean> {
  try {
    await database.script(`${beginDurable}set local lock_timeout = '2s';\n${addCommit(schema)};\ncommit;`);
    return true;
  } catch {
    return false;
  }
}

/** Begins a transaction whose commit is on disk before it is reported, whatever the server's setting. */
export const beginDurable = "begin;\nset local synchronous_commit = on;\n";

/**
 * Creates the tables, or brings them up to date. Resolves with the id of the store: `newId` if it is
 * new. Throws what `wordsOf` describes.
 */
export async function initSchema(database: Database, schema: string, newId: string): Promise<string> {
  const t = tableIn(schema);
  const steps = migrations.map((migration, index) => `if coalesce(current, 0) < ${index + 1} then ${migration(t)}\n  end if;`);
  await database.script(`${beginDurable}
select pg_advisory_xact_lock(${lockId});
create schema if not exists ${escapeIdentifier(schema)};
do $migrate$
declare current integer;
begin
  if to_regclass(${escapeLiteral(t("store"))}) is not null then
    select format into current from ${t("store")};
  end if;
  ${steps.join("\n  ")}
  -- A column that older processes do not use, so the format stays the same.
  ${addCommit(schema)};
  if current is null then
    insert into ${t("store")} (id, format) values (${escapeLiteral(newId)}, ${supportedFormat});
  elsif current < ${supportedFormat} then
    update ${t("store")} set format = ${supportedFormat};
  end if;
end
$migrate$;
commit;`);
  const { rows } = await database.query(`select id from ${t("store")}`, []);
  return String(rows[0]?.id);
}

/**
 * The server's own setting, for `records init` and `doctor`: "off" could lose commits of other
 * programs.
 */
export async function synchronousCommit(database: Database): Promise<string> {
  const { rows } = await database.query("select setting from pg_settings where name = 'synchronous_commit'", []);
  return String(rows[0]?.setting);
}

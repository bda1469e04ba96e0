import { escapeIdentifier, escapeLiteral } from "pg";
import type { Connections } from "./connection.ts";

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
-- One row per target: content is the text of its records. Each write increments version. A lease that is not renewed until
-- expires_at may be taken over.
create table ${t("records")} (
  target text primary key, version bigint not null, write_id text not null, content text not null, expires_at timestamptz
);
-- Which write made which version; changes is a list of lines.
create table ${t("version")} (
  target text not null, version bigint not null, write_id text not null, run_id text not null,
  run_url text, subject text not null, changes json not null, at timestamptz not null default now(), primary key (target, version)
);`,
];

/** Quotes the name of a table in the schema. */
export const tableIn =
  (schema: string) =>
  (table: string): string =>
    `${escapeIdentifier(schema)}.${escapeIdentifier(table)}`;

/** Begins a transaction whose commit is on disk before it is reported, whatever the server's setting. */
export const beginDurable = "begin;\nset local synchronous_commit = on;\n";

/**
 * Creates the tables, or brings them up to date. Resolves with the id of the store: `newId` if it is
 * new. Throws what `wordsOf` describes.
 */
export async function initSchema(database: Connections, schema: string, newId: string): Promise<string> {
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
export async function synchronousCommit(database: Connections): Promise<string> {
  const { rows } = await database.query("select setting from pg_settings where name = 'synchronous_commit'", []);
  return String(rows[0]?.setting);
}

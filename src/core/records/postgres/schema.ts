import { escapeIdentifier, escapeLiteral } from "pg";
import { andMore } from "../../base/text/lists.ts";
import type { StoreCondition, StoreFault } from "../records.ts";
import { recordsUnreadable, type StorePlace } from "../store-errors.ts";
import { type Connections, openDatabase, weakTls, wordsOf } from "./connection.ts";

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

const needed: Readonly<Record<string, readonly string[]>> = {
  records: ["insert", "update"],
  version: ["insert", "delete"],
};

/** Asks the server; writes nothing. Throws E_RECORDS_READ (exit 1). */
export async function probePostgres(
  { url, schema }: { readonly url: string; readonly schema: string },
  version: string,
  place: StorePlace,
): Promise<StoreCondition> {
  const database = openDatabase(url);
  const tls = weakTls(url);
  try {
    const { rows } = await database.query(
      `select current_setting('server_version') as server, current_user as role,
        current_setting('transaction_read_only') = 'on' or pg_is_in_recovery() as "isReadOnly"`,
      [],
    );
    const [{ server, role, isReadOnly }] = rows as unknown as readonly [ServerState]; // one row
    const write = isReadOnly ? readOnly : lacking(role, schema, await missingPrivileges(database, schema));
    const faults = [tls && tlsFaults[tls], (await synchronousCommit(database)) === "off" ? asynchronous : undefined, write];
    return {
      found: `The schema ${schema} in PostgreSQL ${server.split(" ")[0]} was read at version ${version}, and has the id that dimsync.yaml names.`,
      faults: [...faults, (await keepsTransactions(database)) ? undefined : statementPooler].flatMap((fault) => fault ?? []),
    };
  } catch (error) {
    throw recordsUnreadable(place, wordsOf(error));
  } finally {
    await database.close();
  }
}

/** `isReadOnly`: a standby, or a role or database that is set to read-only transactions. */
interface ServerState {
  readonly server: string;
  readonly role: string;
  readonly isReadOnly: boolean;
}

const ownAuthority = "Remove sslmode from the URL. For your own certificate authority, set NODE_EXTRA_CA_CERTS to its file.";

const tlsFaults: Readonly<Record<"none" | "unverified", StoreFault>> = {
  none: { what: "sslmode turns TLS off: the network can read and change the records.", fix: ownAuthority },
  unverified: { what: "sslmode=no-verify accepts any certificate: another server can pretend to be the database.", fix: ownAuthority },
};

const asynchronous: StoreFault = {
  what: "The server has synchronous_commit = off. dimsync turns it on for its own transactions.",
  fix: "Turn it on in the server if other programs must not lose commits in a crash.",
};

const readOnly: StoreFault = {
  what: "This server only accepts reads.",
  fix: "plan and drift work. For apply, use the URL of the primary server, and a role that may write.",
};

const statementPooler: StoreFault = {
  what: "There is a pooler in statement mode, which refuses transactions.",
  fix: "Use pool_mode = transaction or session in pgbouncer.",
  isFatal: true,
};

function lacking(role: string, schema: string, missing: readonly string[]): StoreFault | undefined {
  if (missing.length === 0) return undefined;
  return {
    what: `The role ${role} lacks ${andMore(missing, "privilege")}.`,
    fix: `plan and drift work. For apply: grant select, insert, update, delete on all tables in schema ${schema} to ${role}`,
  };
}

async function missingPrivileges(database: Connections, schema: string): Promise<readonly string[]> {
  const wanted = Object.entries(needed).flatMap(([table, privileges]) => privileges.map((privilege) => ({ table, privilege })));
  const { rows } = await database.query(
    "select has_table_privilege(name, privilege) as allowed from unnest($1::text[], $2::text[]) with ordinality as t(name, privilege, n) order by n",
    [wanted.map(({ table }) => tableIn(schema)(table)), wanted.map(({ privilege }) => privilege)],
  );
  const allowed = rows as readonly { readonly allowed: boolean }[];
  return wanted.flatMap(({ table, privilege }, index) => (allowed[index]?.allowed === true ? [] : [`${privilege} on ${table}`]));
}

/** A pooler gives a connection another process id than the server does. One in statement mode refuses transactions. */
async function keepsTransactions(database: Connections): Promise<boolean> {
  const { given, actual } = await database.processIds();
  if (given === actual) return true;
  return await database.script("begin; select 1; commit;").then(
    () => true,
    () => false,
  );
}

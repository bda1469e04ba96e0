import type { StorePlace } from "../store-errors.ts";
import { recordsUnreadable } from "../store-errors.ts";
import { type Database, openDatabase, type TlsUse, tlsOf, wordsOf } from "./connection.ts";
import { synchronousCommit, tableIn } from "./schema.ts";

/** The condition of records in PostgreSQL, for `dimsync doctor`. */
export interface PostgresProbe {
  readonly schema: string;
  /** "15.4" */
  readonly serverVersion: string;
  readonly role: string;
  readonly tls: TlsUse;
  /** The server's setting. */
  readonly synchronousCommit: string;
  /** A standby, or a role or database that is set to read-only transactions. */
  readonly isReadOnly: boolean;
  /** Privileges that apply needs and the role lacks: "insert on lease". */
  readonly missing: readonly string[];
  /** What is between dimsync and the server; "statement": a pooler that does not keep transactions together. */
  readonly pooler: "none" | "transaction" | "statement";
}

const needed: Readonly<Record<string, readonly string[]>> = {
  records: ["insert", "update"],
  version: ["insert", "delete"],
};

/** Asks the server; writes nothing. Throws E_RECORDS_READ (exit 1). */
export async function probePostgres(
  { url, schema }: { readonly url: string; readonly schema: string },
  place: StorePlace,
): Promise<PostgresProbe> {
  const database = openDatabase(url);
  try {
    const { rows } = await database.query(
      `select current_setting('server_version') as version, current_user as role,
        current_setting('transaction_read_only') = 'on' or pg_is_in_recovery() as "isReadOnly"`,
      [],
    );
    const [row] = rows as readonly {
      readonly version: string;
      readonly role: string;
      readonly isReadOnly: boolean;
    }[];
    return {
      schema,
      serverVersion: row?.version.split(" ")[0] ?? "",
      role: row?.role ?? "",
      isReadOnly: row?.isReadOnly === true,
      tls: tlsOf(url),
      synchronousCommit: await synchronousCommit(database),
      missing: await missingPrivileges(database, schema),
      pooler: await poolerOf(database),
    };
  } catch (error) {
    throw recordsUnreadable(place, wordsOf(error));
  } finally {
    await database.close();
  }
}

async function missingPrivileges(database: Database, schema: string): Promise<readonly string[]> {
  const wanted = Object.entries(needed).flatMap(([table, privileges]) => privileges.map((privilege) => ({ table, privilege })));
  const { rows } = await database.query(
    "select has_table_privilege(name, privilege) as allowed from unnest($1::text[], $2::text[]) with ordinality as t(name, privilege, n) order by n",
    [wanted.map(({ table }) => tableIn(schema)(table)), wanted.map(({ privilege }) => privilege)],
  );
  const allowed = rows as readonly { readonly allowed: boolean }[];
  return wanted.flatMap(({ table, privilege }, index) => (allowed[index]?.allowed === true ? [] : [`${privilege} on ${table}`]));
}

/** A pooler gives a connection another process id than the server does. One in statement mode refuses transactions. */
async function poolerOf(database: Database): Promise<PostgresProbe["pooler"]> {
  const { given, actual } = await database.processIds();
  if (given === actual) return "none";
  try {
    await database.script("begin; select 1; commit;");
    return "transaction";
  } catch {
    return "statement";
  }
}

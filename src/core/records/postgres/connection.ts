import { setTimeout as sleep } from "node:timers/promises";
import { DatabaseError, Pool, type PoolClient, type PoolConfig, type QueryResult } from "pg";
import { getOrAdd } from "../../base/model/maps.ts";
import { isLoopback } from "../../base/model/settings/base-url.ts";

/** The part of a result that is used. */
type Rows = Pick<QueryResult, "rows" | "rowCount">;

interface Queries {
  /** One statement with parameters, in one round trip. Throws what `wordsOf` describes. */
  readonly query: (text: string, values: readonly unknown[]) => Promise<Rows>;
}

/** Runs queries on a few connections that are opened when they are needed. */
export interface Connections extends Queries {
  /** Statements without parameters, in one round trip; one result for each. */
  readonly script: (text: string) => Promise<readonly Rows[]>;
  /** The process id of a connection as it was given to us, and as the server knows it. */
  readonly processIds: () => Promise<{ readonly given: number; readonly actual: number }>;
  readonly close: () => Promise<void>;
}

interface TransactionalDatabase extends Connections {
  /** Runs `work` in one transaction, which is rolled back if it rejects. Throws what it throws, and what `wordsOf` describes. */
  readonly transaction: <T>(work: (queries: Queries) => Promise<T>) => Promise<T>;
}

export interface WatchedDatabase extends TransactionalDatabase {
  /** False from when a connection is lost until a query succeeds. */
  readonly isReachable: () => boolean;
}

/** How long one query may take, in milliseconds. */
const queryMs = 20_000;

/** How long to wait before the next attempt to reach the database, in milliseconds. */
const reconnectMs = 250;

/** By URL, and how many use it. */
const inUse = new Map<string, { readonly database: WatchedDatabase; users: number }>();

/**
 * Opens nothing yet, and later at most `connections`. Whoever opens the same URL meanwhile uses the same connections: a worker of the
 * controller reads the records of many accounts in its own database. Throws an Error without the URL if the URL cannot be read.
 */
export function openDatabase(url: string, connections = 2): WatchedDatabase {
  const shared = getOrAdd(inUse, url, () => ({ database: connected(url, connections), users: 0 }));
  shared.users += 1;
  return {
    ...shared.database,
    async close() {
      shared.users -= 1;
      if (shared.users > 0) return;
      inUse.delete(url);
      await shared.database.close();
    },
  };
}

/** Between the statements of a transaction there is only work of this process. */
const idleInTransactionMs = 5_000;

function connected(url: string, connections: number): WatchedDatabase {
  const pool = new Pool({ ...poolConfig(url), max: connections });
  let isReachable = true;
  let isReconnecting = false;
  const lose = (): void => {
    isReachable = false;
  };
  // The query in progress reports its error. If no query was in progress, nobody else would notice that the database is back.
  const reconnect = async (): Promise<void> => {
    lose();
    if (isReconnecting) return;
    isReconnecting = true;
    while (!isReachable && !pool.ending)
      await withClient((client) => client.query("select 1")).catch(() => sleep(reconnectMs, undefined, { ref: false }));
    isReconnecting = false;
  };
  pool.on("error", () => void reconnect());
  pool.on("connect", (client) => client.on("error", lose));
  const withClient = async <T>(work: (client: PoolClient) => Promise<T>): Promise<T> => {
    const client = await pool.connect().catch((error: unknown) => {
      lose();
      throw error;
    });
    try {
      const result = await work(client);
      isReachable = true;
      client.release();
      return result;
    } catch (error) {
      if (!isRefusal(error)) lose();
      // The connection may be broken, busy, or in a transaction that failed.
      client.release(true);
      throw error;
    }
  };
  return withStoredText({
    query: (text, values) => withClient((client) => client.query(text, [...values])),
    script: (text) => withClient(async (client) => [await client.query(text)].flat()),
    processIds: () =>
      withClient(async (client) => {
        const { rows } = await client.query("select pg_backend_pid() as pid");
        // The types of pg do not have it.
        const { processID } = client as PoolClient & { readonly processID: number };
        return { given: processID, actual: Number(rows[0]?.pid) };
      }),
    // If it fails, the connection is closed, which ends the transaction.
    transaction: (work) =>
      withClient(async (client) => {
        // Without a limit, the server would keep the locks of a process that was frozen or cut off.
        await client.query(`begin; set local idle_in_transaction_session_timeout = ${idleInTransactionMs}`);
        const result = await work({ query: (text, values) => client.query(text, [...values]) });
        await client.query("commit");
        return result;
      }),
    isReachable: () => isReachable,
    close: () => pool.end(),
  });
}

/** TLS unless the host is this machine, or the URL says otherwise with `sslmode`. */
function poolConfig(url: string): PoolConfig {
  if (!URL.canParse(url)) throw new Error("the URL of the database is not a URL such as postgres://user:password@db.example.com/dimsync");
  const { protocol } = new URL(url);
  if (protocol !== "postgres:" && protocol !== "postgresql:") throw new Error("the URL of the database must begin with postgres://");
  return {
    connectionString: url,
    ...(isLocal(url) || hasSslMode(url) ? {} : { ssl: true }),
    connectionTimeoutMillis: 10_000,
    query_timeout: queryMs,
    idleTimeoutMillis: 30_000,
    allowExitOnIdle: true,
    keepAlive: true,
    application_name: "dimsync",
  };
}

function isLocal(url: string): boolean {
  const { hostname, searchParams } = new URL(url);
  return hostname === "" || isLoopback(hostname) || hostname.startsWith("%2F") || searchParams.get("host")?.startsWith("/") === true;
}

function hasSslMode(url: string): boolean {
  const { searchParams } = new URL(url);
  return searchParams.has("sslmode") || searchParams.has("ssl");
}

/** How the connection to the URL is not protected: "unverified" encrypts without checking the certificate. Undefined: it is, or stays on this machine. */
export function weakTls(url: string): "unverified" | "none" | undefined {
  if (!hasSslMode(url) || isLocal(url)) return undefined;
  const { searchParams } = new URL(url);
  const mode = searchParams.get("sslmode") ?? searchParams.get("ssl");
  if (mode === "disable" || mode === "0" || mode === "false") return "none";
  return mode === "no-verify" ? "unverified" : undefined;
}

/** What failed, as a clause that never contains the URL. */
export function wordsOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return wordsOf(error.errors[0]);
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
  // Not by its class, because the embedded database has another one.
  if (error instanceof Error && code !== undefined && /^(?=.*\d)[0-9A-Z]{5}$/u.test(code))
    return `the database reports "${error.message}" (SQLSTATE ${code})`;
  if (code !== undefined) return `the database cannot be reached: ${networkReasons[code] ?? code}`;
  // The driver's own errors have no code. Only the words here depend on its text.
  const message = error instanceof Error ? error.message : "";
  if (/timeout/iu.test(message)) return "the database did not respond in time";
  return /terminated/iu.test(message) ? "the connection to the database was lost" : "the connection to the database failed";
}

const networkReasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was reset",
  ENOTFOUND: "the host name could not be resolved",
  EAI_AGAIN: "the host name could not be resolved",
  ETIMEDOUT: "the connection timed out",
  EPIPE: "the connection was closed",
};

/** Whether the database understood the statement and refused it, so that sending it again does not help. */
export function isRefusal(error: unknown): boolean {
  // 08: connection, 40: serialization and deadlock, 53: resources, 55: object in use, 57: shutdown, 58: system error.
  return error instanceof DatabaseError && !/^(?:08|40|53|55|57|58)/u.test(error.code ?? "08");
}

/** Whether the tables do not exist. */
export const isUndefinedTable = (error: unknown): boolean =>
  error instanceof DatabaseError && (error.code === "42P01" || error.code === "3F000");
/** An expression for a time in ISO 8601, in UTC. */
export const iso = (column: string): string => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

// PostgreSQL stores neither NUL nor lone surrogates, and jsonb refuses their escapes. Names of an account can contain both, so
// they are stored as U+FDD0, which is never a character, and the four hexadecimal digits of the code unit.
const marker = "\ufdd0";
const unstorable = /[\0\ufdd0\ud800-\udfff]/gu;
const escapes = /\ufdd0([0-9a-f]{4})/gu;

/** The text as the database stores it. For parameters, `withStoredText` does it. */
export const toStored = (text: string): string =>
  text.replace(unstorable, (character) => marker + character.charCodeAt(0).toString(16).padStart(4, "0"));

const fromStored = (text: string): string =>
  text.includes(marker) ? text.replace(escapes, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16))) : text;

/** A value as a parameter of type json or jsonb; its strings and keys are stored like other texts. */
export const jsonParameter = (value: unknown): string =>
  // As an escape of JSON, so that `withStoredText` does not escape it again.
  JSON.stringify(mapped(value, toStored)).replaceAll(marker, "\\ufdd0");

/** The database for any text: what is stored comes back as it was. */
const withStoredText = <D extends TransactionalDatabase>(database: D): D => ({
  ...database,
  query: queryOn(database),
  transaction: (work) => database.transaction((queries) => work({ query: queryOn(queries) })),
  script: async (text) => (await database.script(text)).map(fromRows),
});

const queryOn =
  (queries: Queries): Queries["query"] =>
  async (text, values) =>
    fromRows(await queries.query(text, values.map(toParameter)));

const toParameter = (value: unknown): unknown => (typeof value === "string" || Array.isArray(value) ? mapped(value, toStored) : value);

const fromRows = ({ rows, rowCount }: Rows): Rows => ({ rows: rows.map((row) => mapped(row, fromStored)), rowCount });

/** The value with each string in it replaced, keys included. */
function mapped(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === "string") return replace(value);
  if (Array.isArray(value)) return value.map((element: unknown) => mapped(element, replace));
  if (typeof value !== "object" || value === null || value instanceof Date || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [replace(key), mapped(member, replace)] as const));
}

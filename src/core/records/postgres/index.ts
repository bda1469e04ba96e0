import { randomBytes, randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { escapeLiteral } from "pg";
import { DimsyncError } from "../../base/model/errors.ts";
import { isObject, own } from "../../base/model/json/json.ts";
import { parseJson } from "../../base/model/json/parse.ts";
import { exponentialMs, spread } from "../../base/model/runtime/clock.ts";
import { emptyContent, emptyState } from "../facts.ts";
import { writeAtomic } from "../files/atomic.ts";
import { type LeaseClock, systemClock } from "../lease.ts";
import { ContentError } from "../readers.ts";
import type { PastWrite, Records } from "../records.ts";
import { recordsOf } from "../shared/records.ts";
import type { Next, SharedStore, Version, WriteOutcome } from "../shared/store.ts";
import { ensureStateFolder, stateFolder } from "../state-folder.ts";
import { recordsForeign, recordsGone, recordsInvalid, recordsRefused, recordsUnreadable, type StorePlace } from "../store-errors.ts";
import { parseRecords, printRecords } from "../text.ts";
import { type Connections, iso, isRefusal, isUndefinedTable, openDatabase, toStored, type WatchedDatabase, wordsOf } from "./connection.ts";
import { beginDurable, initSchema, supportedFormat, synchronousCommit, tableIn } from "./schema.ts";

export { jsonParameter, openDatabase, wordsOf } from "./connection.ts";
export { probePostgres } from "./schema.ts";

interface PostgresStoreOptions {
  /** The project's folder: responses that could not be stored are kept in its .dimsync. */
  readonly folder: string;
  readonly target: string;
  /** A secret: it never appears in a message. */
  readonly url: string;
  readonly schema: string;
  /** From the config: the store must have it. */
  readonly id: string;
  readonly ttlMs: number;
  /** Default: the system's. */
  readonly clock?: LeaseClock;
}

/** The records of one target in a PostgreSQL database. */
export function openPostgresRecords(options: PostgresStoreOptions): Records {
  const place = placeOf(options);
  const database = opened(options, place);
  return recordsOf("postgres", sharedStore(options, place, database));
}

/** The version of a target in the database. */
interface PostgresVersion extends Version {
  /** Of the write that makes it; "" before the first one. */
  readonly writeId: string;
  /** The lease has not been renewed for its time-to-live, by the database's clock. */
  readonly isExpired: boolean;
  /** What is stored. */
  readonly text: string;
  /** How a prepared version differs from the one before. */
  readonly change?: Next;
}

function sharedStore(options: PostgresStoreOptions, place: StorePlace, database: WatchedDatabase): SharedStore<PostgresVersion> {
  const { schema, target, ttlMs, folder, id } = options;
  return {
    ...place,
    folder,
    clock: options.clock ?? systemClock,
    ttlMs,
    gatherMs: 100,
    waveSize: 16,
    read: () => load(options, place, database),
    isAbandoned: ({ content: { lease }, isExpired }) => isExpired && lease?.reason === undefined,
    async prepare(parent, change) {
      const version = String(BigInt(parent.version) + 1n);
      const content = { ...change.content, state: { ...change.content.state, version } };
      return { version, writeId: randomUUID(), isExpired: false, text: printRecords({ target, id }, content), change, content };
    },
    swap: (next, parent) => swap(options, database, next, parent),
    outcomeOf: (next, parent) => outcomeOf(options, database, next, parent),
    isReachable: database.isReachable,
    async history(limit) {
      // First, because it checks that these are the records that the config names.
      await load(options, place, database);
      return await readHistory(database, { schema, target, limit }).catch((error: unknown) => {
        throw recordsUnreadable(place, wordsOf(error));
      });
    },
    close: database.close,
  };
}

/**
 * Sends the script until its outcome is known. If a response is lost, reading decides: the version
 * that the write would have made has the id of this write, or of another one.
 */
async function swap(
  options: PostgresStoreOptions,
  database: Connections,
  next: PostgresVersion,
  parent: PostgresVersion,
): Promise<WriteOutcome> {
  // Less than half the time-to-live: a write that took longer would leave no time to send anything.
  const { clock = systemClock } = options;
  const deadline = clock.now().monotonicMs + Math.min(30_000, options.ttlMs / 3);
  const script = swapScript(options, next, parent);
  for (let attempt = 1; ; attempt += 1) {
    let failure: unknown;
    try {
      const results = await database.script(script.text);
      if (results[script.casIndex]?.rowCount === 1) {
        await rememberVersion(options, next.version);
        return { outcome: "stored", newest: next.version };
      }
    } catch (error) {
      failure = error;
    }
    const seen = await outcomeOf(options, database, next, parent);
    if (typeof seen === "object") return seen;
    const words = failure === undefined ? "the database did not accept the write" : wordsOf(failure);
    if (seen === "unchanged" && isRefusal(failure)) return { outcome: "refused", words };
    const pauseMs = exponentialMs(attempt, 100, 2_000);
    if (clock.now().monotonicMs + pauseMs > deadline) return { outcome: "unclear", words };
    await clock.sleep(spread(pauseMs));
  }
}

/**
 * Versions older than this many are forgotten. The outcome of an unclear write is read within
 * seconds.
 */
const keptVersions = 10_000;

/**
 * One transaction and one round trip, in which the statement at `casIndex` changes one row if `parent` is still the newest version. The
 * others only act if this write made the newest version. So a script that is sent twice, because the first response was lost, changes
 * nothing the second time.
 */
function swapScript(
  { schema, target }: PostgresStoreOptions,
  next: PostgresVersion,
  parent: PostgresVersion,
): { readonly text: string; readonly casIndex: number } {
  const t = tableIn(schema);
  const { runId = "", runUrl, subject = "", changes = [] } = next.change ?? {};
  const { lease } = next.content;
  const own = `target = ${quoted(target)}`;
  // A heartbeat changes only the time.
  const content = next.text === parent.text ? "" : `, content = ${quoted(next.text)}`;
  const expiry = lease === undefined || lease.reason !== undefined ? "null" : `now() + ${Math.round(lease.ttlMs)} * interval '1 ms'`;
  const statements = [
    `insert into ${t("records")} (target, version, write_id, content) values (${quoted(target)}, 0, '', '') on conflict (target) do nothing`,
    `update ${t("records")} set version = version + 1, write_id = ${quoted(next.writeId)}, expires_at = ${expiry}${content}
      where ${own} and version = ${BigInt(parent.version)}`,
    `insert into ${t("version")} (target, version, write_id, run_id, run_url, subject, changes)
      select ${quoted(target)}, version, write_id, ${quoted(runId)}, ${runUrl === undefined ? "null" : quoted(runUrl)}, ${quoted(subject)}, ${quoted(JSON.stringify(changes))}
      from ${t("records")} where ${own} and write_id = ${quoted(next.writeId)} on conflict (target, version) do nothing`,
    `delete from ${t("version")} where ${own} and version < ${BigInt(parent.version)}::bigint - ${keptVersions}`,
  ];
  // begin and set local come first.
  return { text: `${beginDurable}${statements.map((statement) => `${statement};\n`).join("")}commit;`, casIndex: 3 };
}

const quoted = (value: string): string => escapeLiteral(toStored(value));

async function outcomeOf(
  { schema, target, id }: PostgresStoreOptions,
  database: Connections,
  next: PostgresVersion,
  parent: PostgresVersion,
): Promise<WriteOutcome | "unchanged" | "unreadable"> {
  const t = tableIn(schema);
  try {
    const { rows } = await database.query(
      `select s.id, coalesce((select version::text from ${t("records")} where target = $1), '0') as newest,
        exists (select 1 from ${t("version")} where target = $1 and version = $2 and write_id = $3) as is_stored from ${t("store")} s`,
      [target, next.version, next.writeId],
    );
    const row: unknown = rows[0];
    if (!isObject(row) || row["id"] !== id) return { outcome: "lost", isGone: true };
    const newest = String(row["newest"]);
    if (row["is_stored"] === true) return { outcome: "stored", newest };
    return newest === parent.version ? "unchanged" : { outcome: "lost", isGone: false };
  } catch (error) {
    return isUndefinedTable(error) ? { outcome: "lost", isGone: true } : "unreadable";
  }
}

/** Reads the newest version. Tries again for a while if the database cannot be reached. */
async function load(options: PostgresStoreOptions, place: StorePlace, database: Connections): Promise<PostgresVersion> {
  const { clock = systemClock } = options;
  const deadline = clock.now().monotonicMs + Math.min(10_000, options.ttlMs / 3);
  for (let attempt = 1; ; attempt += 1) {
    try {
      const version = await readVersion(options, place, database);
      if (!(await rememberVersion(options, version.version)))
        throw recordsGone(place, "the database was restored to an earlier state since this machine last read it, for example to a backup");
      return version;
    } catch (error) {
      if (error instanceof DimsyncError) throw error;
      if (isUndefinedTable(error)) throw recordsGone(place, `the schema ${options.schema} contains no records`);
      if (error instanceof ContentError) throw recordsInvalid(place, error.message, error);
      const pauseMs = exponentialMs(attempt, 100);
      if (isRefusal(error) || clock.now().monotonicMs + pauseMs > deadline) throw recordsUnreadable(place, wordsOf(error));
      await clock.sleep(pauseMs);
    }
  }
}

/** Throws ContentError, E_RECORDS_GONE, and what `wordsOf` describes. */
async function readVersion(
  { schema, target, id }: PostgresStoreOptions,
  place: StorePlace,
  database: Connections,
): Promise<PostgresVersion> {
  const t = tableIn(schema);
  const { rows } = await database.query(
    `select s.id, s.format, r.version::text, r.write_id, r.content, r.expires_at <= now() as is_expired, extract(epoch from now()) * 1000 as now_ms
      from ${t("store")} s left join ${t("records")} r on r.target = $1`,
    [target],
  );
  const [row] = rows as readonly Row[];
  if (row === undefined) throw recordsGone(place, `the schema ${schema} contains no records`);
  if (row.format > supportedFormat)
    throw new ContentError(
      `their format is ${row.format}, and this version of dimsync reads format ${supportedFormat}; use a newer version`,
    );
  if (row.id !== id) throw recordsForeign(place, row.id, id);
  const { version, write_id: writeId, content: text, is_expired: isExpired, now_ms: nowMs } = row;
  if (version === null || text === null || text === "")
    return { version: "0", writeId: "", text: "", isExpired: false, content: { ...emptyContent, state: { ...emptyState, version: "0" } } };
  const { content } = parseRecords(text);
  return {
    version,
    writeId: writeId ?? "",
    text,
    isExpired: isExpired === true,
    nowMs: Number(nowMs),
    content: { ...content, state: { ...content.state, version } },
  };
}

interface Row {
  readonly id: string;
  readonly format: number;
  // Null before the first write for the target.
  readonly version: string | null;
  readonly write_id: string | null;
  readonly content: string | null;
  readonly is_expired: boolean | null;
  /** A number as text. */
  readonly now_ms: string;
}

/** The newest writes for a target, newest first. Throws what `wordsOf` describes. */
async function readHistory(
  database: Connections,
  { schema, target, limit }: { readonly schema: string; readonly target: string; readonly limit: number },
): Promise<readonly PastWrite[]> {
  const { rows } = await database.query(
    `select ${iso("at")} as at, run_id as "runId" from ${tableIn(schema)("version")} where target = $1 order by version desc limit $2`,
    [target, limit],
  );
  return rows;
}

interface PostgresSetup {
  readonly id: string;
  /** The server's setting; dimsync's own writes do not depend on it. */
  readonly synchronousCommit: string;
}

/**
 * Creates the tables in the schema, or brings them up to date. Several targets can share them. Throws
 * E_RECORDS_REFUSED (exit 4) with the words of the database.
 */
export async function initPostgresRecords(options: Omit<PostgresStoreOptions, "id" | "ttlMs" | "folder">): Promise<PostgresSetup> {
  const place = placeOf(options);
  const database = opened(options, place);
  try {
    const id = await initSchema(database, options.schema, randomBytes(16).toString("hex"));
    return { id, synchronousCommit: await synchronousCommit(database) };
  } catch (error) {
    throw recordsRefused(place, wordsOf(error));
  } finally {
    await database.close();
  }
}

const placeOf = ({ target, schema }: Pick<PostgresStoreOptions, "target" | "schema">): StorePlace => ({
  target,
  place: `schema ${schema} in PostgreSQL`,
});

function opened({ url }: Pick<PostgresStoreOptions, "url">, place: StorePlace): WatchedDatabase {
  try {
    return openDatabase(url);
  } catch (error) {
    throw recordsUnreadable(place, error instanceof Error ? error.message : "the URL cannot be used");
  }
}

// A database that was restored from a backup does not know the objects that were created since. This
// machine remembers the newest version that it saw, so it notices.

interface Store {
  readonly folder: string;
  readonly target: string;
  readonly id: string;
}

/**
 * Remembers the version. False if this machine has seen a newer one of the same store, which then stays
 * remembered. A folder that cannot be written only makes this check weaker.
 */
async function rememberVersion(store: Store, version: string): Promise<boolean> {
  const seen = (await readSeen(store)) ?? 0n;
  if (BigInt(version) <= seen) return BigInt(version) === seen;
  try {
    await ensureStateFolder(store.folder);
    await writeAtomic(fileOf(store), `${JSON.stringify({ id: store.id, version })}\n`);
  } catch {
    // Reading records needs no permission to write.
  }
  return true;
}

async function readSeen(store: Store): Promise<bigint | undefined> {
  try {
    const value: unknown = parseJson(await readFile(fileOf(store), "utf8"));
    const version = isObject(value) && own(value, "id") === store.id ? own(value, "version") : undefined;
    return typeof version === "string" ? BigInt(version) : undefined;
  } catch {
    return undefined;
  }
}

const fileOf = ({ folder, target }: Store): string => join(stateFolder(folder), `records-${encodeURIComponent(target)}.json`);

import { randomBytes, randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DimsyncError } from "../../model/errors.ts";
import { isObject, own } from "../../model/json/json.ts";
import { parseJson } from "../../model/json/parse.ts";
import { exponentialMs, spread } from "../../model/runtime/backoff.ts";
import { writeAtomic } from "../files/atomic.ts";
import type { Records } from "../records.ts";
import { describeFacts } from "../shared/describe-change.ts";
import { contentAfter } from "../shared/next-version.ts";
import { recordsOf } from "../shared/records.ts";
import type { Draft, SharedStore, WriteOutcome } from "../shared/store.ts";
import { ensureStateFolder, stateFolder } from "../state-folder.ts";
import { recordsForeign, recordsGone, recordsInvalid, recordsRefused, recordsUnreadable, type StorePlace } from "../store-errors.ts";
import { ContentError } from "../stored-values.ts";
import { type Database, isRefusal, isUndefinedTable, openDatabase, type WatchedDatabase, wordsOf } from "./connection.ts";
import { type PostgresVersion, readHistory, readVersion } from "./read.ts";
import { addAppliedCommit, initSchema, supportedFormat, synchronousCommit, tableIn } from "./schema.ts";
import { writeScript } from "./write.ts";

export interface PostgresStoreOptions {
  /** The project's folder: responses that could not be stored are kept in its .dimsync. */
  readonly folder: string;
  readonly target: string;
  /** A secret: it never appears in a message. */
  readonly url: string;
  readonly schema: string;
  /** From the config: the store must have it. */
  readonly id: string;
  readonly ttlMs: number;
}

/** The records of one target in a PostgreSQL database. */
export function openPostgresRecords(options: PostgresStoreOptions): Records {
  const place = placeOf(options);
  const database = opened(options, place);
  return recordsOf("postgres", sharedStore(options, place, database));
}

/** A version that this process wants to write. */
interface Prepared extends PostgresVersion {
  readonly draft?: Draft;
}

function sharedStore(options: PostgresStoreOptions, place: StorePlace, database: WatchedDatabase): SharedStore<Prepared> {
  const { schema, target, ttlMs, folder } = options;
  // Less than half the time-to-live: a write that took longer would leave no time to send anything.
  const timeLimitMs = Math.min(30_000, ttlMs / 3);
  return {
    ...place,
    folder,
    ttlMs,
    gatherMs: 100,
    waveSize: 16,
    load: () => load(options, place, database),
    isAbandoned: ({ content: { lease }, isExpired }) => isExpired && lease?.reason === undefined,
    async prepare(parent, draft) {
      // Tables of an earlier build get what they lack when it is needed.
      const isMissing = !parent.keepsCommit && draft.facts.some(({ type }) => type === "commit");
      return nextVersion(isMissing ? { ...parent, keepsCommit: await addAppliedCommit(database, schema) } : parent, draft);
    },
    async write(next, parent) {
      const { draft } = next;
      if (draft === undefined) throw new Error("Only a prepared version can be written.");
      const renews = parent.content.lease?.runId === draft.runId && parent.content.lease.reason === undefined;
      const changes = describeFacts(draft.facts, parent.content.state);
      const script = writeScript(schema, { target, parent: parent.version, writeId: next.writeId, draft, changes, renews });
      return writeUntilKnown({ options, database, script }, next, parent, timeLimitMs);
    },
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

function nextVersion(parent: PostgresVersion, given: Draft): Prepared {
  const { content, keepsCommit } = parent;
  const draft = keepsCommit ? given : { ...given, facts: given.facts.filter(({ type }) => type !== "commit") };
  const version = String(BigInt(parent.version) + 1n);
  const after = contentAfter(content, draft);
  return {
    version,
    writeId: randomUUID(),
    isExpired: false,
    keepsCommit,
    draft,
    content: { ...after, state: { ...after.state, version } },
  };
}

interface Writing {
  readonly options: PostgresStoreOptions;
  readonly database: Database;
  readonly script: ReturnType<typeof writeScript>;
}

/**
 * Sends the script until its outcome is known. If a response is lost, reading decides: the version
 * that the write would have made has the id of this write, or of another one.
 */
async function writeUntilKnown(writing: Writing, next: Prepared, parent: Prepared, timeLimitMs: number): Promise<WriteOutcome> {
  const { options, database, script } = writing;
  const deadline = performance.now() + timeLimitMs;
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
    if (performance.now() + pauseMs > deadline) return { outcome: "unclear", words };
    await sleep(spread(pauseMs));
  }
}

async function outcomeOf(
  { schema, target, id }: PostgresStoreOptions,
  database: Database,
  next: PostgresVersion,
  parent: PostgresVersion,
): Promise<WriteOutcome | "unchanged" | "unreadable"> {
  const t = tableIn(schema);
  try {
    const { rows } = await database.query(
      `select s.id, coalesce((select version::text from ${t("lease")} where target = $1), '0') as newest,
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
async function load(options: PostgresStoreOptions, place: StorePlace, database: Database): Promise<Prepared> {
  const deadline = performance.now() + Math.min(10_000, options.ttlMs / 3);
  for (let attempt = 1; ; attempt += 1) {
    try {
      const version = checked(options, place, await readVersion(database, options.schema, options.target));
      if (!(await rememberVersion(options, version.version)))
        throw recordsGone(place, "the database was restored to an earlier state since this machine last read it, for example to a backup");
      return version;
    } catch (error) {
      if (error instanceof DimsyncError) throw error;
      if (isUndefinedTable(error)) throw recordsGone(place, `the schema ${options.schema} contains no records`);
      if (error instanceof ContentError) throw recordsInvalid(place, error.message, error);
      const pauseMs = exponentialMs(attempt, 100);
      if (isRefusal(error) || performance.now() + pauseMs > deadline) throw recordsUnreadable(place, wordsOf(error));
      await sleep(pauseMs);
    }
  }
}

function checked(options: PostgresStoreOptions, place: StorePlace, loaded: Awaited<ReturnType<typeof readVersion>>): PostgresVersion {
  if (loaded === undefined) throw recordsGone(place, `the schema ${options.schema} contains no records`);
  if (loaded.format > supportedFormat)
    throw new ContentError(
      `their format is ${loaded.format}, and this version of dimsync reads format ${supportedFormat}; use a newer version`,
    );
  if (loaded.id !== options.id) throw recordsForeign(place, loaded.id, options.id);
  return loaded.version;
}

export interface PostgresSetup {
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

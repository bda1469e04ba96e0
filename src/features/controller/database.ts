import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { ConstructorOptions } from "pg-boss";
import { DimsyncError, messageOf } from "../../core/base/model/errors.ts";
import { masked } from "../../core/base/model/settings/secret.ts";
import { ensureStateFolder, takeFileLock } from "../../core/records/index.ts";
import { openDatabase, wordsOf } from "../../core/records/postgres/index.ts";

/** What the controller needs of PostgreSQL. */
export interface Database {
  /** Rows as JSON, so that both databases return the same types: times are strings. `T` describes the columns that the statement returns. */
  readonly rows: <T>(sql: string, values?: readonly unknown[]) => Promise<readonly T[]>;
  /** Whether other machines can use it. */
  readonly isShared: boolean;
  /** False from when a connection is lost until a statement succeeds. */
  readonly isReachable: () => boolean;
  /** For the queue. */
  readonly boss: ConstructorOptions & { readonly db: NonNullable<ConstructorOptions["db"]> };
  readonly close: () => Promise<void>;
}

const refused = (message: string, cause?: unknown): DimsyncError => new DimsyncError("E_CONTROLLER_DATABASE", message, { cause });

/** Opens PostgreSQL, or if the URL is "" the embedded one of the project's folder. Throws E_CONTROLLER_DATABASE. */
export async function openStore(url: string, projectFolder: string): Promise<Database> {
  const database = url === "" ? await openEmbedded(projectFolder) : openServer(url);
  const { executeSql } = database.boss.db;
  try {
    await executeSql(`begin; select pg_advisory_xact_lock(1684630884); ${tables}; commit`);
  } catch (error) {
    await database.close();
    throw refused(
      `The controller cannot use its database: ${wordsOf(error)}. Check --database or DIMSYNC_DATABASE_URL, and the rights of the role.`,
      error,
    );
  }
  // A name of the account can contain a secret.
  const hidden = (value: unknown): unknown => (typeof value === "string" ? masked(value) : value);
  return {
    ...database,
    async rows(sql, values = []) {
      try {
        return JSON.parse(JSON.stringify((await executeSql(sql, values.map(hidden))).rows));
      } catch (error) {
        throw refused(`A statement failed: ${wordsOf(error)}.`, error);
      }
    },
  };
}

function openServer(url: string): Omit<Database, "rows"> {
  let database: ReturnType<typeof openDatabase>;
  try {
    database = openDatabase(url, 6);
  } catch (error) {
    throw refused(`${messageOf(error)}. Check --database or DIMSYNC_DATABASE_URL.`);
  }
  const { query, script, isReachable, close } = database;
  // Like pg: several statements are possible without values.
  const executeSql = async (text: string, values: readonly unknown[] = []) =>
    values.length > 0 ? await query(text, values) : { rows: (await script(text)).flatMap(({ rows }) => rows) };
  return { isShared: true, isReachable, boss: { db: { executeSql } }, close };
}

const lockTtlMs = 60_000;

async function openEmbedded(projectFolder: string): Promise<Omit<Database, "rows">> {
  const { PGlite } = await import("@electric-sql/pglite").catch(missing("@electric-sql/pglite@0.5.16"));
  const { fromPglite } = await import("pg-boss").catch(missing("pg-boss@12.35.0"));
  const unwritable = (cause: unknown): never => {
    throw refused(`The embedded database needs a folder that can be written, and 64 MB of disk space: ${messageOf(cause)}.`, cause);
  };
  const folder = await ensureStateFolder(projectFolder).catch(unwritable);
  const path = join(folder, "controller.lock");
  const lock = await takeFileLock(path, { waitMs: 0, ttlMs: lockTtlMs, expiresWhileRunning: false }).catch(unwritable);
  if ("heldBy" in lock)
    throw refused(
      `Another controller uses the embedded database in ${folder}, which only one process can open. To share the work, set --database.`,
    );
  const beat = setInterval(() => void lock.beat().catch(() => undefined), lockTtlMs / 4);
  const release = async (): Promise<void> => {
    clearInterval(beat);
    await lock.release().catch(() => undefined);
  };
  const dataDir = join(folder, "controller");
  const isNew = !existsSync(dataDir);
  try {
    // PGlite would create a new database over what is left of an old one.
    if (!isNew && !existsSync(join(dataDir, "global/pg_control"))) throw new Error("global/pg_control is missing");
    const db = await PGlite.create({ dataDir });
    const boss = { db: fromPglite(db), backend: "pglite" } as const;
    return { isShared: false, isReachable: () => true, boss, close: () => db.close().finally(release) };
  } catch (error) {
    if (isNew) await rm(dataDir, { recursive: true, force: true });
    await release();
    // PGlite throws objects that are not errors if a file cannot be written.
    const why = error instanceof Error ? error.message : "its files cannot be written, as on a full disk";
    throw refused(
      `The embedded database in ${dataDir} does not start: ${why}. It needs 64 MB of disk space. It only has what the page shows: if nothing else helps, move the folder away, and start again.`,
      error,
    );
  }
}

/** For optional peer dependencies. */
export const missing =
  (name: string) =>
  (cause: unknown): never => {
    const message = "A package that only the controller uses is not installed. Install it next to dimsync:";
    throw new DimsyncError("E_CONTROLLER_DATABASE", message, { cause, command: `npm install ${name}` });
  };

/** Forward-only: later versions add columns and tables. Each statement can run again, and by several processes at the same moment. */
const tables = `create schema if not exists dimsync_controller;
create table if not exists dimsync_controller.account (
  target text primary key, mode text not null, labels jsonb not null, every_ms integer not null,
  seen_at timestamptz not null default now(), added_at timestamptz not null default now(), next_at timestamptz not null default now(),
  checked_at timestamptz, duration_ms integer, commit text, commit_at timestamptz, exposed_since timestamptz,
  exposed integer not null default 0, differences integer not null default 0, by_hand integer not null default 0, policy integer not null default 0,
  version integer not null default 0, findings text not null default '[]', repairs text not null default '[]', report text, error text, failures integer not null default 0, locked text, notified text
)`;

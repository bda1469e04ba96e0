import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ConstructorOptions } from "pg-boss";
import { DimsyncError } from "../../core/model/errors.ts";
import { masked } from "../../core/model/settings/secret.ts";
import { takeFileLock } from "../../core/records/files/file-lock.ts";
import { openDatabase, wordsOf } from "../../core/records/postgres/connection.ts";
import { ensureStateFolder } from "../../core/records/state-folder.ts";

/** What the controller needs of PostgreSQL. */
export interface Database {
  /** Rows as JSON, so that both databases return the same types: times are strings. `T` describes the columns that the statement returns. */
  readonly rows: <T>(sql: string, values?: readonly unknown[]) => Promise<readonly T[]>;
  /** False from when a connection is lost until a statement succeeds. */
  readonly isReachable: () => boolean;
  /** For the queue. */
  readonly boss: ConstructorOptions & { readonly db: NonNullable<ConstructorOptions["db"]> };
  readonly close: () => Promise<void>;
}

const asRows = (sql: string): string => `with found_row as (${sql}) select to_json(found_row) as row from found_row`;

/** Opens PostgreSQL, or without a URL the embedded one of the project's folder. Throws E_CONTROLLER_DATABASE. */
export async function openStore(url: string | undefined, projectFolder: string): Promise<Database> {
  const database = url === undefined ? await openEmbedded(projectFolder) : openServer(url);
  try {
    await createTables(database);
    // Whatever contains a secret: a name of the account can be one.
    const hidden = (value: unknown): unknown => (typeof value === "string" ? masked(value) : value);
    return { ...database, rows: (sql, values = []) => database.rows(sql, values.map(hidden)) };
  } catch (error) {
    await database.close();
    throw new DimsyncError(
      "E_CONTROLLER_DATABASE",
      `The controller cannot use its database: ${wordsOf(error)}. Check --database or DIMSYNC_DATABASE_URL, and the rights of the role.`,
      { cause: error },
    );
  }
}

function openServer(url: string): Database {
  const database = opened(url);
  return {
    rows: async (sql, values = []) => (await database.query(asRows(sql), values)).rows.map(({ row }) => row),
    isReachable: database.isReachable,
    boss: {
      db: {
        // Like pg: several statements are possible without values.
        executeSql: async (text, values = []) =>
          values.length === 0 ? { rows: (await database.script(text)).flatMap(({ rows }) => rows) } : await database.query(text, values),
      },
    },
    close: database.close,
  };
}

function opened(url: string): ReturnType<typeof openDatabase> {
  try {
    return openDatabase(url, 6);
  } catch (error) {
    throw new DimsyncError(
      "E_CONTROLLER_DATABASE",
      `${error instanceof Error ? error.message : ""}. Check --database or DIMSYNC_DATABASE_URL.`,
    );
  }
}

const lockTtlMs = 60_000;
/** Nothing else removes the old versions of rows. */
const vacuumMs = 3_600_000;

async function openEmbedded(projectFolder: string): Promise<Database> {
  const { PGlite } = await import("@electric-sql/pglite").catch(missing("@electric-sql/pglite@0.5.16"));
  const { fromPglite } = await import("pg-boss").catch(missing("pg-boss@12.35.0"));
  const folder = await ensureStateFolder(projectFolder);
  const lock = await takeFileLock(join(folder, "controller.lock"), { waitMs: 0, ttlMs: lockTtlMs, expiresWhileRunning: false });
  if ("heldBy" in lock)
    throw new DimsyncError(
      "E_CONTROLLER_DATABASE",
      `Another controller uses the embedded database in ${folder}, which only one process can open. To share the work between processes, set --database.`,
    );
  const beat = setInterval(() => void lock.beat().catch(() => undefined), lockTtlMs / 4);
  const release = async (): Promise<void> => {
    clearInterval(beat);
    await lock.release().catch(() => undefined);
  };
  const dataDir = join(folder, "controller");
  try {
    // PGlite would create a new database over what is left of an old one.
    if (existsSync(dataDir) && !existsSync(join(dataDir, "global/pg_control"))) throw new Error("global/pg_control is missing");
    const db = await PGlite.create({ dataDir });
    const vacuum = setInterval(() => void db.exec("vacuum analyze").catch(() => undefined), vacuumMs);
    return {
      rows: async <T>(sql: string, values: readonly unknown[] = []) =>
        (await db.query<{ row: T }>(asRows(sql), [...values])).rows.map(({ row }) => row),
      isReachable: () => true,
      boss: { db: fromPglite(db), backend: "pglite" },
      close: async () => {
        clearInterval(vacuum);
        await db.close();
        await release();
      },
    };
  } catch (cause) {
    await release();
    throw new DimsyncError(
      "E_CONTROLLER_DATABASE",
      `The embedded database in ${dataDir} does not start: ${cause instanceof Error ? cause.message : String(cause)}. It only has what the page shows. Move the folder away, and start again.`,
      { cause },
    );
  }
}

/** For optional peer dependencies. */
export const missing =
  (name: string) =>
  (cause: unknown): never => {
    throw new DimsyncError(
      "E_CONTROLLER_DATABASE",
      "A package that only the controller uses is not installed. Install it next to dimsync:",
      { cause, command: `npm install ${name}` },
    );
  };

/** Forward-only: later versions add columns and tables. Each statement can run again, and by several processes at the same moment. */
const tables = `create schema if not exists dimsync_controller;
create table if not exists dimsync_controller.account (
  target text primary key, host text not null, mode text not null, labels jsonb not null, every_ms bigint not null,
  seen_at timestamptz not null default now(), added_at timestamptz not null default now(), next_at timestamptz not null default now(),
  checked_at timestamptz, duration_ms integer, commit text, commit_at timestamptz,
  exposed integer not null default 0, differences integer not null default 0, manual integer not null default 0, policy integer not null default 0,
  exposed_since timestamptz, findings text not null default '[]', report text,
  error text, failures integer not null default 0, failing_since timestamptz,
  locked text, sending text, notified text
);
create table if not exists dimsync_controller.repair (
  target text not null, address text not null, path text not null, actor text, changed_at timestamptz,
  at timestamptz not null default now(), done_at timestamptz, told boolean not null default false
);
create index if not exists repair_target on dimsync_controller.repair (target, at)`;

const createTables = async ({ boss }: Database): Promise<void> =>
  void (await boss.db.executeSql(`begin; select pg_advisory_xact_lock(1684630884); ${tables}; commit`));

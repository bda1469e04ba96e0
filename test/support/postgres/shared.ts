import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, inject, vi } from "vitest";
import { pathOf, program } from "../programs.mjs";
import { waiting } from "../waiting.ts";
import { type Pgbouncer, type Postgres, postgresIn, startPgbouncer, startPostgres, startPostgresIn } from "./server.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The folder of the server that all tests of a run share; empty until a test needs the server. */
    readonly postgresFolder: string;
  }
}

/**
 * The PostgreSQL server of this run of vitest, started by the first test file that needs it. A test
 * creates its own database on it. The server does not survive a crash of the machine: `startPostgres`
 * starts another one for tests that stop it or need other settings.
 */
export async function sharedPostgres(): Promise<Postgres> {
  // Before a folder is made, so that each test that does not name its needs fails at once.
  program("postgresql");
  const folder = inject("postgresFolder");
  const file = join(folder, "port");
  if (isFirst(folder)) {
    const { port } = await startPostgresIn(folder, [
      "fsync = off",
      "full_page_writes = off",
      "max_connections = 300",
      "max_wal_size = 96MB",
    ]);
    writeFileSync(`${file}.new`, String(port));
    renameSync(`${file}.new`, file);
  }
  const port = await vi.waitFor(() => Number(readFileSync(file, "utf8")), waiting);
  return postgresIn(folder, port);
}

/**
 * The shared server for the file or suite that calls it, whose tests need("postgresql"). It is started
 * before them, if it is installed.
 */
export function postgresOfSuite(): Postgres {
  return startedBeforeAll("PostgreSQL", pathOf("postgresql") === undefined ? undefined : sharedPostgres);
}

/** A server of its own for the file or suite that calls it, whose tests stop or configure it. `settings`: lines for postgresql.conf. */
export function ownPostgres(settings: readonly string[]): Postgres {
  const start = pathOf("postgresql") === undefined ? undefined : () => startPostgres(settings);
  return startedBeforeAll("PostgreSQL", start, ({ remove }) => remove());
}

/** PgBouncer in front of the server, for the file or suite that calls it, whose tests need("pgbouncer", "postgresql"). */
export function pgbouncerOfSuite(postgres: Postgres): Pgbouncer {
  const isThere = pathOf("pgbouncer") !== undefined && pathOf("postgresql") !== undefined;
  return startedBeforeAll("PgBouncer", isThere ? () => startPgbouncer(postgres) : undefined, ({ stop }) => stop());
}

/** What `start` resolves with; the members can be used as soon as the tests run. */
function startedBeforeAll<T extends object>(name: string, start: (() => Promise<T>) | undefined, stop?: (started: T) => void): T {
  let started: T | undefined;
  beforeAll(async () => {
    started = await start?.();
  });
  afterAll(() => {
    if (started !== undefined) stop?.(started);
  });
  return new Proxy({} as T, {
    get(_, member) {
      if (started === undefined) throw new Error(`${name} did not start.`);
      return Reflect.get(started, member);
    },
  });
}

/** Of all the processes of a run, the first one that asks. */
function isFirst(folder: string): boolean {
  try {
    mkdirSync(join(folder, "starting"));
    return true;
  } catch {
    return false;
  }
}

import { once } from "node:events";
import { version } from "../../core/model/runtime/version.ts";
import type { ControllerMode } from "../../core/model/settings/config.ts";
import type { Environment } from "../../core/model/settings/env.ts";
import { type Database, type TransactionalDatabase, wordsOf } from "../../core/records/postgres/connection.ts";
import { deliver } from "./alerts/deliver.ts";
import { sendHeartbeats } from "./alerts/heartbeat.ts";
import { routeEvents } from "./alerts/outbox.ts";
import { openControllerDatabase } from "./database/open.ts";
import type { Log } from "./log.ts";
import { readsOf } from "./page/reads.ts";
import { type PageOptions, type StatusPage, startPage } from "./page/server.ts";
import { bundleProjects } from "./projects/load-bundle.ts";
import { registerAccounts } from "./projects/register.ts";
import type { WatchedProject } from "./projects/watch.ts";
import type { StorageFailure } from "./views/health.ts";
import { registerWorker, releaseClaims, renewClaims } from "./work/claim.ts";
import { deleteOld } from "./work/cleanup.ts";
import { openQueue, type Queue } from "./work/queue.ts";
import { makeWorker, type WorkerOptions } from "./work/worker.ts";

interface ControllerOptions {
  /** Of PostgreSQL; undefined: the embedded database. A secret. */
  readonly databaseUrl: string | undefined;
  /** Absolute: the embedded database, caches and local journals. */
  readonly stateFolder: string;
  /** Identifies this process among all workers. */
  readonly worker: string;
  readonly role: "all" | "worker" | "page";
  readonly accountsAtOnce: number;
  readonly accountsPerHost: number;
  readonly maxMode: ControllerMode;
  readonly watched: WatchedProject | undefined;
  readonly env: Environment;
  /** Of the status page, for links in notifications. */
  readonly publicUrl: string | undefined;
  /** Aborted: take no new work, finish writes in flight, end. */
  readonly signal: AbortSignal;
  readonly log: Log;
  /** Absent with the role of a worker. */
  readonly page: Omit<PageOptions, "reads" | "onError"> | undefined;
}

/** How long runs may take to end after a signal. */
const drainMs = 60_000;

/** Runs until the signal is aborted. Throws if it cannot start. */
export async function runController(options: ControllerOptions): Promise<void> {
  const { databaseUrl: url, stateFolder, signal, log } = options;
  const database = await openControllerDatabase({ url, stateFolder }, log);
  try {
    const storage = storageHealth(log);
    // First, because it fails if its port is in use.
    const page = await openPage(options, database, storage.failure);
    const where = url === undefined ? `the embedded database in ${stateFolder}, which only this process can use` : "PostgreSQL";
    log(`The controller works with ${where}.${page === undefined ? "" : ` Status page: ${page.url}`}`);
    try {
      const stop = await start(options, database, storage);
      if (!signal.aborted) await once(signal, "abort");
      log("The controller stops: reads end, and writes in flight are completed.");
      await stop();
    } finally {
      await page?.close();
    }
  } finally {
    await database.close();
  }
}

async function openPage(
  { page, worker, log }: ControllerOptions,
  database: Database,
  storageFailure: StorageHealth["failure"],
): Promise<StatusPage | undefined> {
  if (page === undefined) return undefined;
  const onError = (error: unknown): void => log(`The status page: ${messageOf(error)}`, { level: "error" });
  return await startPage({ ...page, reads: readsOf(database, { worker, storageFailure }), onError });
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** How often a process looks for new messages, and a worker renews its claims and looks for accounts whose job is lost. */
const beatMs = 10_000;

/**
 * Starts to check accounts and to send messages. A process with the page alone sends messages too: if there is no worker, nobody else
 * reports it. Commands such as `push` need the queue, whether or not a worker has started before.
 */
async function start(options: ControllerOptions, database: TransactionalDatabase, storage: StorageHealth): Promise<() => Promise<void>> {
  const queue = await openQueue(database, storage.failed);
  const worker =
    options.role === "page"
      ? undefined
      : await startWorker({ ...options, onStored: storage.onStored }, database, queue).catch(async (error: unknown) => {
          await queue.stop(0);
          throw error;
        });
  await queue.workOnDeliveries((job) => deliver(database, job, options));
  const beat = async (): Promise<void> => {
    await worker?.beat();
    await routeEvents(database, queue.deliver);
    await sendHeartbeats(database, options);
  };
  const beating = setInterval(() => void beat().then(storage.ended, storage.failed), beatMs);
  return async () => {
    worker?.stopWatching();
    await queue.stop(drainMs);
    clearInterval(beating);
    await worker?.release();
  };
}

async function startWorker(options: ControllerOptions & Pick<WorkerOptions, "onStored">, database: TransactionalDatabase, queue: Queue) {
  const { worker: id, log, watched } = options;
  await registerWorker(database, { id, version, accountsAtOnce: options.accountsAtOnce });
  const load = accountLoader(options, database);
  const worker = makeWorker({ ...options, id, database, queue, watched: watched?.source, load });
  // The first push can be older than the queue.
  await worker.sweep("all");
  await queue.work({ check: worker.check, cleanup: () => deleteOld(database) }, options);
  return {
    stopWatching: watched === undefined ? () => {} : await follow(watched, { database, queue, log }),
    async beat(): Promise<void> {
      await renewClaims(database, id, worker.taken());
      await worker.sweep("overdue");
    },
    // If the database is unavailable, the claims expire by themselves.
    release: () => releaseClaims(database, id).catch(() => undefined),
  };
}

/** Accounts that were pushed have a bundle; the others are those of the watched project. */
function accountLoader({ watched, stateFolder, env, databaseUrl }: ControllerOptions, database: Database): WorkerOptions["load"] {
  const ofBundle = bundleProjects({ database, stateFolder, env, isLocal: databaseUrl === undefined });
  return async ({ id, digest, target }, signal) => {
    if (digest !== undefined) return await ofBundle({ account: id, digest, target, signal });
    if (watched === undefined) throw new Error("Only a worker with --watch can load an account without a bundle.");
    return await watched.load(target, signal);
  };
}

/** Makes the targets of the watched project the accounts of its source, now and after each change of its files. */
async function follow(
  watched: WatchedProject,
  { database, queue, log }: { readonly database: Database; readonly queue: Queue; readonly log: Log },
): Promise<() => void> {
  const register = async (): Promise<void> => {
    for (const { id, host } of await registerAccounts(database, await watched.wanted())) await queue.request(id, host);
  };
  await register();
  return watched.watch(() => {
    register().catch((error: unknown) => log(`The changed project could not be loaded: ${messageOf(error)}`, { level: "error" }));
  });
}

interface StorageHealth {
  /** A statement of the queue or of the heartbeat failed; `ended`: one of the heartbeat succeeded. */
  readonly failed: (error: unknown) => void;
  readonly ended: () => void;
  /** Whether a run could be stored. */
  readonly onStored: (failure?: string) => void;
  readonly failure: () => StorageFailure | undefined;
}

/** Knows whether this process can store what it finds. Logs once that the database cannot be used, and once that it is back. */
function storageHealth(log: Log): StorageHealth {
  let outage: StorageFailure | undefined;
  let unstored: StorageFailure | undefined;
  const failureOf = (why: string): StorageFailure => ({ since: new Date().toISOString(), why });
  return {
    failed(error) {
      if (outage === undefined)
        log(`The database cannot be used (${wordsOf(error)}). Nothing is sent to accounts until it is back.`, { level: "error" });
      outage ??= failureOf(wordsOf(error));
    },
    ended() {
      if (outage !== undefined) log("The database is back.");
      outage = undefined;
    },
    onStored(failure) {
      unstored = failure === undefined ? undefined : (unstored ?? failureOf(failure));
    },
    failure: () => unstored ?? outage,
  };
}

import type { JobWithMetadata, PgBoss } from "pg-boss";
import { DimsyncError } from "../../model/errors.ts";
import { isObject, own } from "../../model/json/json.ts";
import type { Database } from "../../records/postgres/connection.ts";

// pg-boss finds the next job, retries and schedules. It may run a job twice, and a job can be lost: what
// is due is decided by the account's row, and the lease of the records decides who writes.

const queueSchema = "dimsync_queue";
const checks = "check";
const sweeps = "sweep";
const cleanups = "cleanup";

export interface CheckJob {
  readonly account: number;
  /** How often the job has failed before. */
  readonly retries: number;
}

export interface Queue {
  /** Checks the account at this time, or at once. There is one waiting job per account. */
  readonly request: (account: number, host: string, at?: Date) => Promise<void>;
  /** Starts to take jobs. */
  readonly work: (handlers: Handlers, limits: Limits) => Promise<void>;
  /** Takes no more jobs, and waits for those that run. */
  readonly stop: (timeoutMs: number) => Promise<void>;
}

export interface Handlers {
  /** Rejects if the job should be retried, later each time. */
  readonly check: (job: CheckJob) => Promise<void>;
  /** Once a minute, on one worker: requests accounts that are due and have no job. */
  readonly sweep: () => Promise<void>;
  /** Once a day, on one worker. */
  readonly cleanup: () => Promise<void>;
}

export interface Limits {
  readonly accountsAtOnce: number;
  /** Of all workers together. */
  readonly accountsPerHost: number;
}

/** Opens the queue in the database and creates its tables. `onError` gets failures of the queue's own statements. */
export async function openQueue(database: Database, onError: (error: unknown) => void): Promise<Queue> {
  const { PgBoss } = await loadQueue();
  const boss = new PgBoss({
    db: { executeSql: (text, values) => executeSql(database, text, values) },
    schema: queueSchema,
    monitorVacuum: false,
    reindex: false,
  });
  boss.on("error", onError);
  await boss.start();
  await createQueues(boss);
  return {
    request: (account, host, at) => request(boss, account, host, at),
    work: (handlers, limits) => work(boss, handlers, limits),
    stop: async (timeoutMs) => {
      await boss.stop({ graceful: true, timeout: timeoutMs, close: false });
    },
  };
}

/** An optional peer dependency. */
async function loadQueue(): Promise<typeof import("pg-boss")> {
  try {
    return await import("pg-boss");
  } catch (error) {
    throw new DimsyncError("E_CONTROLLER_QUEUE", "The controller's queue is not installed. Install it next to dimsync:", {
      cause: error,
      command: "npm install pg-boss@12.35.0",
    });
  }
}

/** Opens the queue of a running controller only to request checks. */
export async function openQueueClient(database: Database): Promise<Pick<Queue, "request" | "stop">> {
  const { PgBoss } = await loadQueue();
  const boss = new PgBoss({
    db: { executeSql: (text, values) => executeSql(database, text, values) },
    ...{ schema: queueSchema, migrate: false, supervise: false, schedule: false, createSchema: false },
  });
  // A failed statement also rejects its call.
  boss.on("error", () => {});
  await boss.start();
  return {
    request: (account, host, at) => request(boss, account, host, at),
    stop: () => boss.stop({ graceful: false, close: false }),
  };
}

/** Requests a check of each account at once, through the queue of a running controller. */
export async function requestChecks(
  database: Database,
  accounts: readonly { readonly id: number; readonly host: string }[],
): Promise<void> {
  const queue = await openQueueClient(database);
  try {
    for (const { id, host } of accounts) await queue.request(id, host);
  } finally {
    await queue.stop(0);
  }
}

async function request(boss: PgBoss, account: number, host: string, at = new Date()): Promise<void> {
  await boss.upsert(checks, { account }, { singletonKey: String(account), group: { id: host }, startAfter: at });
}

async function createQueues(boss: PgBoss): Promise<void> {
  // A check of a large account takes minutes. If its worker is gone, the sweep requests it again anyway.
  await boss.createQueue(checks, {
    policy: "short",
    ...{ expireInSeconds: 3600, retryLimit: 6, retryDelay: 20, retryBackoff: true, retryDelayMax: 900, deleteAfterSeconds: 3600 },
  });
  for (const name of [sweeps, cleanups])
    await boss.createQueue(name, { policy: "short", retryLimit: 0, expireInSeconds: 300, deleteAfterSeconds: 3600 });
  await boss.schedule(sweeps, "* * * * *");
  await boss.schedule(cleanups, "17 3 * * *");
}

async function work(boss: PgBoss, handlers: Handlers, { accountsAtOnce, accountsPerHost }: Limits): Promise<void> {
  const polling = { pollingIntervalSeconds: 1 };
  const limits = { localConcurrency: accountsAtOnce, groupConcurrency: accountsPerHost };
  await boss.work(checks, { ...polling, ...limits, includeMetadata: true }, async (jobs: readonly JobWithMetadata<unknown>[]) => {
    for (const { data, retryCount } of jobs) await handlers.check({ account: accountOf(data), retries: retryCount });
  });
  await boss.work(sweeps, polling, handlers.sweep);
  await boss.work(cleanups, { pollingIntervalSeconds: 60 }, handlers.cleanup);
}

/** Throws if it is not a job of `request`. */
function accountOf(data: unknown): number {
  const account = isObject(data) ? own(data, "account") : undefined;
  if (typeof account !== "number") throw new Error("A job of the queue names no account.");
  return account;
}

/** Like pg's query: several statements without values are possible. */
async function executeSql(database: Database, text: string, values: readonly unknown[] | undefined) {
  if (values !== undefined && values.length > 0) {
    const { rows } = await database.query(text, values);
    return { rows };
  }
  const results = await database.script(text);
  return { rows: results.flatMap(({ rows }) => rows) };
}

import { setTimeout as sleep } from "node:timers/promises";
import pLimit from "p-limit";
import type { JobWithMetadata, PgBoss } from "pg-boss";
import { DimsyncError } from "../../../core/model/errors.ts";
import type { Database } from "../../../core/records/postgres/connection.ts";

// pg-boss finds the next job, retries and schedules. It may run a job twice, and a job can be lost: what
// is due is decided by the account's row, and the lease of the records decides who writes.

const queueSchema = "dimsync_queue";
const checks = "check";
const cleanups = "cleanup";
const deliveries = "notify";

export interface CheckJob {
  readonly account: number;
  /** How often the job has failed before. */
  readonly retries: number;
}

/** A message for a receiver. A job with the same id is created once. */
export interface DeliveryJob {
  readonly id: string;
  readonly source: string;
  readonly receiver: string;
  readonly message: string;
  /** The more severe messages of a receiver are sent first: those with a higher number. */
  readonly priority: number;
}

export interface Queue {
  /** Checks the account in so many seconds by the database's clock, or at once. There is one waiting job per account. */
  readonly request: (account: number, host: string, seconds?: number) => Promise<void>;
  readonly deliver: (job: DeliveryJob) => Promise<void>;
  /** Starts to take jobs. */
  readonly work: (handlers: Handlers, limits: Limits) => Promise<void>;
  /**
   * Starts to take jobs of `deliver`, one of a receiver at a time. The handler rejects if the job should be retried, later each time. It can
   * get a job again that it has completed. When a receiver is back, all that waits for it is due at once.
   */
  readonly workOnDeliveries: (handler: (job: DeliveryJob) => Promise<void>) => Promise<void>;
  /** Takes no more jobs, and waits for those that run. */
  readonly stop: (timeoutMs: number) => Promise<void>;
}

interface Handlers {
  /** Rejects if the job should be retried, later each time. */
  readonly check: (job: CheckJob) => Promise<void>;
  /** Once a day, on one worker. */
  readonly cleanup: () => Promise<void>;
}

interface Limits {
  readonly accountsAtOnce: number;
  /** Of all workers together. Each additional worker can exceed it by one if they take jobs at the same time. */
  readonly accountsPerHost: number;
}

/** Opens the queue in the database and creates its tables. `onError` gets failures of the queue's own statements. */
export async function openQueue(database: Database, onError: (error: unknown) => void): Promise<Queue> {
  const { PgBoss } = await loadQueue();
  // Jobs that are taken at the same time do not count each other for the cap per host.
  const oneByOne = pLimit(1);
  const run = (text: string, values?: readonly unknown[]) => executeSql(database, text, values);
  const boss = new PgBoss({
    db: { executeSql: (text, values) => (takesJobs(text) ? oneByOne(run, text, values) : run(text, values)) },
    schema: queueSchema,
    superviseIntervalSeconds: supervisionSeconds,
    monitorIntervalSeconds: supervisionSeconds,
    monitorVacuum: false,
    reindex: false,
  });
  boss.on("error", onError);
  await install(boss);
  let stopWaking = (): void => {};
  let deliverers: readonly string[] = [];
  const wakeDeliverers = (): void => deliverers.forEach((each) => void boss.notifyWorker(each));
  return {
    request: requestOn(boss),
    async deliver({ id, priority, ...job }) {
      await boss.send(deliveries, job, { id, priority, group: { id: receiverOf(job) } });
      wakeDeliverers();
    },
    async workOnDeliveries(handler) {
      const options = { pollingIntervalSeconds: 10, groupConcurrency: 1, includeMetadata: true } as const;
      const work = async (jobs: readonly JobWithMetadata<DeliveryData>[]): Promise<void> => {
        for (const { id, data, priority } of jobs) await deliverInOrder(database, { id, priority, ...data }, handler);
        wakeDeliverers();
      };
      deliverers = await Promise.all(Array.from({ length: deliveriesAtOnce }, () => boss.work(deliveries, options, work)));
    },
    work: async (handlers, limits) => {
      stopWaking = await work(boss, handlers, limits);
    },
    stop: async (timeoutMs) => {
      stopWaking();
      await boss.stop({ graceful: true, timeout: timeoutMs, close: false });
    },
  };
}

type DeliveryData = Omit<DeliveryJob, "id" | "priority">;

const receiverOf = ({ source, receiver }: DeliveryData): string => JSON.stringify([source, receiver]);

/** Most of what waits is sent by its own job; this is only to keep the order. */
const mostBefore = 20;

/** Sends what waits for the same receiver and is more severe, then the message, and then makes due what still waits for the receiver. */
async function deliverInOrder(database: Database, job: DeliveryJob, handler: (job: DeliveryJob) => Promise<void>): Promise<void> {
  const ofReceiver = `name = '${deliveries}' and group_id = $1 and state`;
  const { rows } = await database.query(
    `select id, data, priority from ${queueSchema}.job where ${ofReceiver} = 'retry' and priority > $2 order by priority desc, created_on limit ${mostBefore}`,
    [receiverOf(job), job.priority],
  );
  for (const { id, priority, data } of rows) {
    const isSent = await handler({ id: String(id), priority: Number(priority), ...(data as DeliveryData) }).then(
      () => true,
      () => false,
    );
    // The receiver may refuse only this one, and must still get the others.
    if (!isSent) break;
  }
  await handler(job);
  await database.query(
    `update ${queueSchema}.job set start_after = now() where ${ofReceiver} in ('created', 'retry') and start_after > now()`,
    [receiverOf(job)],
  );
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
    schema: queueSchema,
    migrate: false,
    supervise: false,
    schedule: false,
    createSchema: false,
  });
  // A failed statement also rejects its call.
  boss.on("error", () => {});
  await boss.start();
  return { request: requestOn(boss), stop: () => boss.stop({ graceful: false, close: false }) };
}

/**
 * Requests a check of each account at once, through the queue of a running controller. Before the first controller has created the queue, this does
 * nothing: a worker that starts requests all accounts that are due.
 */
export async function requestChecks(
  database: Database,
  accounts: readonly { readonly id: number; readonly host: string }[],
): Promise<void> {
  const { rows } = await database.query("select to_regclass($1) is not null as has_tables", [`${queueSchema}.queue`]);
  if (rows[0]?.has_tables !== true) return;
  if ((await database.query(`select from ${queueSchema}.queue where name = $1`, [checks])).rows.length === 0) return;
  const queue = await openQueueClient(database);
  try {
    for (const { id, host } of accounts) await queue.request(id, host);
  } finally {
    await queue.stop(0);
  }
}

const requestOn =
  (boss: PgBoss): Queue["request"] =>
  async (account, host, seconds = 0) => {
    // The database adds the seconds to its own time, so the clocks of the workers do not matter.
    const options = { singletonKey: String(account), group: { id: host }, startAfter: seconds };
    // After a check there is usually no waiting job, and inserting one takes one statement less than an upsert.
    if (seconds > 0 && (await boss.send(checks, { account }, options)) !== null) return;
    await boss.upsert(checks, { account }, options);
  };

/** Errors of PostgreSQL if several processes create the same schema, table, index or row at once. */
const createdByAnother: ReadonlySet<unknown> = new Set(["23505", "42P06", "42P07", "42710", "42723", "40P01", "XX000"]);

/** Starts pg-boss, which creates its tables. If another process creates them at the same moment, one of both fails and tries again. */
async function install(boss: PgBoss): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await boss.start();
      return await createQueues(boss);
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      if (attempt === 10 || !createdByAnother.has(code)) throw error;
      await sleep(attempt * 200);
    }
  }
}

/** How often pg-boss looks for jobs whose worker has stopped sending heartbeats. */
const supervisionSeconds = 10;

/**
 * A check of a large account takes minutes, and a job without a heartbeat is retried: the jobs of a worker that was killed stop
 * counting for the cap per host within half a minute.
 */
const checkJobs = {
  heartbeatSeconds: 20,
  expireInSeconds: 3600,
  deleteAfterSeconds: 3600,
  retryLimit: 6,
  retryDelay: 20,
  retryBackoff: true,
  retryDelayMax: 900,
};

/** A receiver that does not respond must not keep the others from getting theirs. */
const deliveriesAtOnce = 3;

/** A message is sent again after 5 to 10 s, and then after longer and longer delays up to 15 minutes. The handler ends that after a day. */
const deliveryJobs = {
  heartbeatSeconds: 10,
  expireInSeconds: 120,
  deleteAfterSeconds: 3600,
  retryLimit: 1_000,
  retryDelay: 5,
  retryBackoff: true,
  retryDelayMax: 900,
};

async function createQueues(boss: PgBoss): Promise<void> {
  await boss.createQueue(checks, { policy: "short", ...checkJobs });
  // The queue of an earlier version stays as it was created.
  await boss.updateQueue(checks, checkJobs);
  await boss.createQueue(deliveries, { policy: "standard", ...deliveryJobs });
  await boss.updateQueue(deliveries, deliveryJobs);
  await boss.createQueue(cleanups, { policy: "short", retryLimit: 0, expireInSeconds: 300, deleteAfterSeconds: 3600 });
  await boss.schedule(cleanups, "17 3 * * *");
}

/** How often one of the idle workers looks for a job. */
const pollMs = 1_000;

/** A job that starts this late shows that one worker is not enough. Two polls: in a queue without a backlog, no job waits so long. */
const lateMs = 2_000;

/**
 * Takes jobs until the function that it returns is called. Every worker of pg-boss polls by itself, which
 * costs more than the checks if there are many workers and few jobs. So they only poll when they are woken:
 * one idle worker each second, and one when a worker finishes a job or takes one that is late, because
 * there may be more.
 */
async function work(boss: PgBoss, handlers: Handlers, { accountsAtOnce, accountsPerHost }: Limits): Promise<() => void> {
  const idle = new Set<string>();
  const wakeIdle = (): void => {
    const [id] = idle;
    if (id !== undefined) boss.notifyWorker(id);
  };
  const options = { pollingIntervalSeconds: 60, groupConcurrency: accountsPerHost, includeMetadata: true } as const;
  for (let count = 0; count < accountsAtOnce; count++) {
    let id = "";
    id = await boss.work(checks, options, async (jobs: readonly JobWithMetadata<Pick<CheckJob, "account">>[]) => {
      idle.delete(id);
      if (jobs.some(({ startAfter, startedOn }) => startedOn.getTime() - startAfter.getTime() > lateMs)) wakeIdle();
      try {
        for (const { data, retryCount } of jobs) await handlers.check({ ...data, retries: retryCount });
      } finally {
        idle.add(id);
        boss.notifyWorker(id);
      }
    });
    idle.add(id);
  }
  await boss.work(cleanups, { pollingIntervalSeconds: 60 }, handlers.cleanup);
  const polling = setInterval(wakeIdle, pollMs);
  return () => clearInterval(polling);
}

const takesJobs = (text: string): boolean => text.includes("SKIP LOCKED");

/** Like pg's query: several statements without values are possible. */
async function executeSql(database: Database, text: string, values: readonly unknown[] | undefined) {
  const results = values === undefined || values.length === 0 ? await database.script(text) : [await database.query(text, values)];
  return { rows: results.flatMap(({ rows }) => rows) };
}

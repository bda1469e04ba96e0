import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pLimit from "p-limit";
import type { PgBoss } from "pg-boss";
import type { Context } from "../../cli/context.ts";
import { choiceFlag, loadOptions, wholeFlag } from "../../cli/project.ts";
import { DimsyncError } from "../../core/base/model/errors.ts";
import type { ExitCode } from "../../core/base/model/exit.ts";
import { findConfig } from "../../core/manifests/index.ts";
import { wordsOf } from "../../core/records/postgres/index.ts";
import { readAccount, registerAccounts } from "./accounts.ts";
import { type CheckOptions, checkAccount } from "./check.ts";
import { errorText, openCheckout } from "./checkout.ts";
import { type Database, missing, openStore } from "./database.ts";
import type { ControllerFlags } from "./index.ts";
import { makeLog } from "./log.ts";
import { servePage } from "./server.ts";

/** How often each worker registers the targets of its checkout, and hands out what is due. */
const sweepMs = 10_000;
/** How long checks may take to end after a signal. */
const drainMs = 60_000;
const queue = "check";
/** One job for each account. A worker without a heartbeat for so long is gone, and its accounts go on. */
const queueOptions = { policy: "exclusive", heartbeatSeconds: 20, expireInSeconds: 3600, deleteAfterSeconds: 3600, retryLimit: 0 } as const;
/** Of one host, of all workers together. */
const groupConcurrency = 4;

/** `dimsync controller`: scheduler, worker and page, until it is interrupted. */
export async function runController(context: Context<ControllerFlags>): Promise<ExitCode> {
  const { io, flags, cwd } = context;
  const log = makeLog(choiceFlag("--log-format", flags.logFormat ?? "text", ["text", "json"] as const), io.stderr);
  const maxMode = choiceFlag("--max-mode", flags.maxMode ?? "protect", ["report", "protect"] as const);
  const localConcurrency = wholeFlag("--accounts-at-once", flags.accountsAtOnce ?? "8", 1);
  const options = loadOptions(context, []);
  const config = findConfig(options);
  if (config === undefined)
    throw new DimsyncError("E_USAGE", `There is no dimsync.yaml in ${cwd} or above it. The controller checks the targets of one.`);
  io.catchSignals?.();
  log("The controller opens its database.");
  const database = await openStore(flags.database ?? io.env["DIMSYNC_DATABASE_URL"] ?? "", dirname(config));
  try {
    const page = await servePage(database, { listen: flags.listen ?? "127.0.0.1:8480", token: io.env["DIMSYNC_CONTROLLER_TOKEN"] ?? "" });
    const kind = database.isShared ? "PostgreSQL" : "an embedded database, which only this process can use";
    log(`The controller works with ${kind}. Page: ${page.url}`);
    const run = { env: io.env, signal: io.interrupted };
    const checks = { database, checkout: openCheckout(options, dirname(config)), maxMode, run, log };
    await work(checks, localConcurrency).finally(page.close);
  } catch (error) {
    // Stopped before the first check.
    if (!io.interrupted.aborted) throw error;
  } finally {
    await database.close();
  }
  return 0;
}

/** Checks accounts until the signal is aborted. */
async function work(options: CheckOptions, localConcurrency: number): Promise<void> {
  const { database, checkout, run, log } = options;
  const boss = await startQueue(database, (error) => log(`The queue: ${wordsOf(error)}`, { level: "error" }));
  const sweep = async (): Promise<void> => {
    for (const target of await registerDue(options)) {
      // An embedded service has no host, and limits nothing but itself.
      const { baseUrl = "embedded:" } = checkout.target(target)?.project?.settings ?? {};
      await boss.send(queue, { target }, { singletonKey: target, group: { id: new URL(baseUrl).host || baseUrl } });
    }
  };
  const handle = async ([job]: readonly { readonly data: { readonly target: string } }[]): Promise<void> => {
    const account = job && (await readAccount(database, job.data.target));
    if (account?.isDue !== true) return;
    // The account stays due, and the next sweep hands it out again.
    await checkAccount(account, options).catch((error: unknown) => {
      if (!run.signal.aborted) log(`Nothing was stored: ${errorText(error)}`, { level: "error", account: account.target });
    });
  };
  try {
    await sweep();
    await boss.work(queue, { localConcurrency, pollingIntervalSeconds: 2, groupConcurrency }, handle);
    while (!run.signal.aborted) {
      await sleep(sweepMs, undefined, { signal: run.signal }).catch(() => undefined);
      if (!run.signal.aborted) await sweep().catch((error: unknown) => log(errorText(error), { level: "error" }));
    }
  } finally {
    log("The controller stops: reads end, and writes in flight are completed.");
    await boss.stop({ graceful: true, timeout: drainMs, close: false });
  }
}

/** Registers the targets of the checkout. Those of them that are due; also one that cannot be loaded any more: its check says why. */
async function registerDue({ database, checkout, log }: CheckOptions): Promise<readonly string[]> {
  const targets = await checkout.refresh();
  for (const { name, project, error = "" } of targets) if (project === undefined) log(error, { level: "error", account: name });
  const names = targets.filter(({ project }) => project === undefined || project.settings.controller !== undefined).map(({ name }) => name);
  const settings = targets.flatMap(({ project }) => project?.settings ?? []);
  const all = settings.flatMap(({ target, controller }) => (controller === undefined ? [] : [{ target, ...controller }]));
  return await registerAccounts(database, all, names);
}

/**
 * Starts pg-boss, which takes care of what jobs need: heartbeats of workers, a cap for each host, and its own tables. If another process creates these
 * at the same moment, one of both fails and tries again.
 */
async function startQueue({ boss: options }: Database, onError: (error: unknown) => void): Promise<PgBoss> {
  const { PgBoss } = await import("pg-boss").catch(missing("pg-boss@12.35.0"));
  // Jobs that are taken at the same time do not count each other for the cap of a host.
  const oneByOne = pLimit(1);
  const { executeSql } = options.db;
  const takeAlone = (text: string, values?: unknown[]) =>
    text.includes("SKIP LOCKED") ? oneByOne(executeSql, text, values) : executeSql(text, values);
  const settings = { schema: "dimsync_queue", schedule: false, superviseIntervalSeconds: 10, monitorIntervalSeconds: 10 };
  for (let tries = 1; ; tries++) {
    const boss = new PgBoss({ ...options, ...settings, db: { ...options.db, executeSql: takeAlone } });
    boss.on("error", onError);
    try {
      await boss.start();
      await boss.createQueue(queue, queueOptions);
      return boss;
    } catch (error) {
      await boss.stop({ graceful: false, close: false }).catch(() => undefined);
      if (tries === 20) throw error;
      await sleep(250);
    }
  }
}

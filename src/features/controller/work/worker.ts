import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Project } from "../../../core/manifests/project.ts";
import { exponentialMs } from "../../../core/model/runtime/clock.ts";
import { type ControllerMode, controllerModes } from "../../../core/model/settings/config.ts";
import type { Environment } from "../../../core/model/settings/env.ts";
import { isRefusal, type TransactionalDatabase, wordsOf } from "../../../core/records/postgres/connection.ts";
import { counted } from "../../../core/text/counts.ts";
import { wholePath } from "../../../core/text/paths.ts";
import type { Log } from "../log.ts";
import { checkProject, type RunOutcome } from "./check.ts";
import { type ClaimedAccount, claimAccount, dueAccounts } from "./claim.ts";
import type { CheckJob, Queue } from "./queue.ts";
import { type FinishedRun, type Recorded, recordRun, recordSending } from "./record.ts";
import { type Repair, repairedBy, repairOf, repairProject } from "./repair.ts";

export interface WorkerOptions {
  /** Identifies this process, such as "host:4711". */
  readonly id: string;
  readonly database: TransactionalDatabase;
  readonly queue: Queue;
  /** The project of an account; its problems and failures become the account's. */
  readonly load: (account: ClaimedAccount, signal: AbortSignal) => Promise<Project>;
  /** The source that this worker watches. */
  readonly watched?: string | undefined;
  /** Accounts with a higher mode are treated as if they had this one. */
  readonly maxMode: ControllerMode;
  readonly env: Environment;
  /** The controller's own database, for records whose URL is DIMSYNC_DATABASE_URL. */
  readonly databaseUrl: string | undefined;
  /** Aborted when the worker stops: reads end, writes in flight are completed. */
  readonly signal: AbortSignal;
  readonly log: Log;
  /** Called when a run was stored, or with the reason why it could not be. */
  readonly onStored?: ((failure?: string) => void) | undefined;
}

interface Worker {
  readonly check: (job: CheckJob) => Promise<void>;
  /** Requests accounts that are due, because their job may be lost: the longest overdue ones, or all. */
  readonly sweep: (which: "overdue" | "all") => Promise<void>;
  /** The claims that are held now, and whether there was one since the last call. */
  readonly taken: () => { readonly runs: readonly string[]; readonly hasTaken: boolean };
}

/** Checks accounts of the queue. */
export function makeWorker(options: WorkerOptions): Worker {
  const claims = new Set<string>();
  let hasTaken = false;
  const { database, queue, id, watched } = options;
  return {
    taken() {
      const taken = { runs: [...claims], hasTaken: hasTaken || claims.size > 0 };
      hasTaken = false;
      return taken;
    },
    async check({ account, retries }) {
      options.signal.throwIfAborted();
      const claim = randomUUID();
      const claimed = await claimAccount(database, { account, run: claim, worker: id, isRetry: retries > 0, watched });
      if (claimed === undefined) return;
      claims.add(claim);
      hasTaken = true;
      try {
        const reason = retries > 0 ? "retry" : "schedule";
        const log: Log = (text, fields) => options.log(text, { account: claimed.target, run: claim, ...fields });
        await checkClaimed({ ...options, log }, claimed, { claim, reason });
      } finally {
        claims.delete(claim);
      }
    },
    async sweep(which) {
      for (const due of await dueAccounts(database, which === "all" ? { seconds: 0, limit: 10_000 } : { seconds: 15, limit: 100 }))
        await queue.request(due.id, due.host);
    },
  };
}

/** Rejects after a failure, so that the queue retries the job. */
async function checkClaimed(
  options: WorkerOptions,
  account: ClaimedAccount,
  { claim, reason }: Pick<FinishedRun, "claim" | "reason">,
): Promise<void> {
  const { database, queue, signal } = options;
  const { generation, digest, commit } = account;
  const env = { ...options.env, ...(options.databaseUrl === undefined ? {} : { DIMSYNC_DATABASE_URL: options.databaseUrl }) };
  const environment = { env, signal };
  const run = { claim, reason, account: account.id, worker: options.id, generation, digest, commit };
  const startedAt = performance.now();
  let project: Project | undefined;
  let outcome = await checkProject(async () => {
    project = await options.load(account, signal);
    return project;
  }, environment);
  // The worker stops: what could not be read is not a failure of the account. Another worker checks it.
  if (outcome.exit.code === 1) signal.throwIfAborted();
  const mode = modeOf(account, options);
  const repairedBefore =
    account.interrupted === undefined || project === undefined || outcome.report === undefined
      ? undefined
      : await repairedBy(database, account.interrupted, { project, run: environment });
  const repair =
    project === undefined || outcome.report === undefined || mode === "report"
      ? undefined
      : await repairOf(database, account.id, { project, report: outcome.report, mode });
  const isRefused = project === undefined && digest !== undefined && outcome.error?.code !== "E_INTERNAL";
  const isLast = repair?.isPossible !== true;
  const compared = {
    ...run,
    id: claim,
    mode: "report",
    startedAt,
    outcome: withStopped(outcome, repair),
    isLast,
    isRefused,
    repairedBefore,
  } as const;
  let recorded = await store(options, compared);
  if (repair?.isPossible === true && recorded.isCurrent) {
    const sending = { ...run, id: randomUUID(), mode, startedAt: performance.now(), isLast: true, protects: repair.changes };
    await recordSending(database, sending, repair.report);
    outcome = await repairProject(repair, environment);
    recorded = await store(options, { ...sending, outcome: withStopped(outcome, repair) });
  }
  const { nextInSeconds: next } = recorded;
  if (outcome.exit.code === 1 && (next === null || next > 0))
    throw new Error(`${account.target}: ${outcome.error?.message ?? "the check failed"}`);
  if (next !== null) await queue.request(account.id, account.host, Math.max(0, next));
}

/** Records a run that ends now, and logs how it ended. */
async function store(options: WorkerOptions, run: Omit<FinishedRun, "endedAt">): Promise<Recorded> {
  const endedAt = performance.now();
  const recorded = await untilStored(options, async (failure) => {
    const outcome = failure === undefined ? run.outcome : notStored(run.outcome, failure);
    return recordRun(options.database, { ...run, endedAt, outcome });
  });
  report(options.log, run);
  return recorded;
}

/** Says that protect gave up on changes, unless there is a failure to report. */
function withStopped(outcome: RunOutcome, repair: Repair | undefined): RunOutcome {
  const [first, ...others] = repair?.stopped ?? [];
  if (first === undefined || outcome.error !== undefined) return outcome;
  const who = first.actor === "" ? "someone" : first.actor;
  const more = others.length === 0 ? "" : ` The same holds for ${counted(others.length, "other change")}.`;
  const message = `${who} changed ${first.address} ${wholePath(first.path)} again after dimsync reverted it three times in a day. It is only reported now.${more} Agree with them, or change the manifests.`;
  return { ...outcome, error: { code: "E_PROTECT_STOPPED", message } };
}

/** A worker can lower the mode of an account, never raise it. */
export const modeOf = ({ mode }: Pick<ClaimedAccount, "mode">, { maxMode }: Pick<WorkerOptions, "maxMode">): ControllerMode =>
  controllerModes.indexOf(mode) <= controllerModes.indexOf(maxMode) ? mode : maxMode;

function report(log: Log, { id: run, outcome: { exit, report: found, error } }: Pick<FinishedRun, "id" | "outcome">): void {
  if (error !== undefined) log(`${error.code}: ${error.message}`, { level: "error", run, code: error.code });
  else log(`exit ${exit.code}, ${found?.summary.exposed ?? 0} exposed, ${counted(found?.items.length ?? 0, "item")} to change`, { run });
}

/**
 * The database may be unavailable for a while. Without the run, the account would be checked again, and what was sent would be missing
 * from the history. If the database refuses the run, the account must not silently go stale: `store` then gets the reason, and stores that the
 * run failed.
 */
async function untilStored(
  { signal, log, onStored }: Pick<WorkerOptions, "signal" | "log" | "onStored">,
  store: (failure?: string) => Promise<Recorded>,
): Promise<Recorded> {
  let failure: string | undefined;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const recorded = await store(failure);
      onStored?.();
      return recorded;
    } catch (error) {
      onStored?.(wordsOf(error));
      log(`the run could not be stored: ${wordsOf(error)}`, { level: "error" });
      if (failure !== undefined || attempt > 7 || signal.aborted) throw error;
      if (isRefusal(error)) failure = wordsOf(error);
      else await sleep(exponentialMs(attempt, 500));
    }
  }
}

/** The outcome of a run whose report the database refuses. */
const notStored = ({ isThrottled, result }: RunOutcome, why: string): RunOutcome => ({
  exit: { code: 1, reasons: ["E_CONTROLLER_DATABASE"] },
  error: {
    code: "E_CONTROLLER_DATABASE",
    message: `The result of the run could not be stored: ${why}. What was found is only in the log.`,
  },
  result,
  isThrottled,
});

import { DimsyncError } from "../../model/errors.ts";
import type { Database } from "../../records/postgres/connection.ts";
import { listAccounts, readAccount } from "../views/accounts.ts";
import { closedByCause, findingsByCause } from "../views/causes.ts";
import { readMetrics } from "../views/metrics.ts";
import { type ReceiverStatus, readReceivers } from "../views/receivers.ts";
import { accountRuns, readBundle, readRun } from "../views/runs.ts";
import type {
  AccountDetail,
  AccountSummary,
  BundleDetail,
  CauseGroup,
  ClosedGroup,
  ControllerMetrics,
  Part,
  Range,
  RunDetail,
  RunSummary,
} from "../views/status.ts";
import { readWorkers, type WorkerHealth } from "../views/workers.ts";

/** What the page reads. Every function rejects if the database cannot be read. */
export interface PageReads {
  /** All accounts. */
  readonly accounts: () => Promise<readonly AccountSummary[]>;
  /** By the target's name, or SOURCE/TARGET. Rejects with a DimsyncError E_USAGE if several accounts have the name. */
  readonly account: (name: string) => Promise<AccountDetail | undefined>;
  /** The runs of the account with this unique name, newest first. */
  readonly runs: (name: string, range: Range) => Promise<readonly RunSummary[]>;
  readonly run: (id: string) => Promise<RunDetail | undefined>;
  readonly bundle: (digest: string) => Promise<BundleDetail | undefined>;
  /** `cause`: only this one. */
  readonly causes: (range: Range, cause?: string) => Promise<Part<CauseGroup>>;
  /** What was closed in the last 24 hours. */
  readonly closed: (range: Range) => Promise<Part<ClosedGroup>>;
  readonly metrics: () => Promise<ControllerMetrics>;
  readonly workers: () => Promise<WorkerHealth>;
  readonly receivers: () => Promise<readonly ReceiverStatus[]>;
  /** Rejects if the database cannot be used, or if the worker in this process takes none of the accounts that are due. */
  readonly ready: () => Promise<void>;
}

/** What the page reads, from the controller's database. `worker`: the one in this process. */
export const readsOf = (database: Database, worker?: string): PageReads => ({
  accounts: () => listAccounts(database),
  account: (name) => readAccount(database, name),
  runs: (name, range) => accountRuns(database, name, range),
  run: (id) => readRun(database, id),
  bundle: (digest) => readBundle(database, digest),
  causes: (range, cause) => findingsByCause(database, range, cause),
  closed: (range) => closedByCause(database, range),
  metrics: () => readMetrics(database),
  workers: () => readWorkers(database),
  receivers: () => readReceivers(database),
  async ready() {
    const { workers } = await readWorkers(database);
    if (workers.some(({ id, isStuck }) => id === worker && isStuck))
      throw new DimsyncError("E_WORKER_STUCK", "Accounts are due, and this worker has taken none for two intervals. Restart it.");
  },
});

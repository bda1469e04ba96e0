import { DimsyncError } from "../../../core/model/errors.ts";
import type { Database } from "../../../core/records/postgres/connection.ts";
import { listAccounts, readAccount } from "../views/accounts.ts";
import { closedByCause, findingsByCause } from "../views/causes.ts";
import { readMetrics, readReceivers, readWorkers, type StorageFailure } from "../views/health.ts";
import { accountRuns, readBundle, readRun } from "../views/runs.ts";
import type { AccountDetail, BundleDetail, Range, RunDetail } from "../views/status.ts";
import { ProblemError } from "./reply.ts";

/** What the page reads. Every function rejects if the database cannot be read. */
export type PageReads = ReturnType<typeof readsOf>;

interface OwnProcess {
  /** The worker in this process. */
  readonly worker?: string;
  readonly storageFailure?: () => StorageFailure | undefined;
}

/** What the page reads, from the controller's database. */
export const readsOf = (database: Database, { worker, storageFailure = () => undefined }: OwnProcess = {}) => ({
  accounts: () => listAccounts(database),
  account: (name: string) => readAccount(database, name),
  runs: (name: string, range: Range) => accountRuns(database, name, range),
  run: (id: string) => readRun(database, id),
  bundle: (digest: string) => readBundle(database, digest),
  causes: (range: Range, cause?: string) => findingsByCause(database, range, cause),
  closed: (range: Range) => closedByCause(database, range),
  metrics: () => readMetrics(database),
  workers: () => readWorkers(database),
  receivers: () => readReceivers(database),
  /** Of this process. */
  storageFailure,
  /** Also rejects if this process cannot store results, or if its worker takes none of the accounts that are due. */
  async ready(): Promise<void> {
    const failure = storageFailure();
    if (failure !== undefined) throw new DimsyncError("E_CONTROLLER_DATABASE", `Results cannot be stored: ${failure.why}.`);
    const { workers } = await readWorkers(database);
    if (workers.some(({ id, isStuck }) => id === worker && isStuck))
      throw new DimsyncError("E_WORKER_STUCK", "Accounts are due, and this worker has taken none for two intervals. Restart it.");
  },
});

/** Rejects with a ProblemError if no account has the name, or several. */
export async function accountNamed(reads: PageReads, name: string): Promise<AccountDetail> {
  const account = await reads.account(name).catch((error: unknown) => {
    if (error instanceof DimsyncError && error.code === "E_USAGE")
      throw new ProblemError({ status: 409, title: "Name of several accounts", detail: error.message });
    throw error;
  });
  return account ?? missing("Unknown account", `The controller has no account ${JSON.stringify(name)}.`);
}

/** Rejects with a ProblemError if there is none. */
export const runNamed = async (reads: PageReads, id: string): Promise<RunDetail> =>
  (await reads.run(id)) ??
  missing("Unknown run", `The controller has no run ${JSON.stringify(id)}. Old runs are deleted; by default after 400 days.`);

/** Rejects with a ProblemError if there is none. */
export const bundleNamed = async (reads: PageReads, digest: string): Promise<BundleDetail> =>
  (await reads.bundle(digest)) ?? missing("Unknown bundle", `The controller has no bundle ${JSON.stringify(digest)}.`);

function missing(title: string, detail: string): never {
  throw new ProblemError({ status: 404, title, detail });
}

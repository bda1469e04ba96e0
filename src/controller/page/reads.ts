import type { Database } from "../../records/postgres/connection.ts";
import { controllerSchema } from "../database/migrations.ts";
import { listAccounts, readAccount } from "../views/accounts.ts";
import { findingsByCause, readMetrics } from "../views/metrics.ts";
import { accountRuns, readBundle, readRun } from "../views/runs.ts";
import type { AccountDetail, AccountSummary, BundleDetail, CauseGroup, ControllerMetrics, RunDetail, RunSummary } from "../views/status.ts";

/** A part of a long list. */
export interface Range {
  readonly offset: number;
  readonly limit: number;
}

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
  readonly causes: () => Promise<readonly CauseGroup[]>;
  readonly metrics: () => Promise<ControllerMetrics>;
  /** Rejects if the database cannot be used. */
  readonly ready: () => Promise<void>;
}

/** What the page reads, from the controller's database. */
export const readsOf = (database: Database): PageReads => ({
  accounts: () => listAccounts(database),
  account: (name) => readAccount(database, name),
  runs: (name, range) => accountRuns(database, name, range),
  run: (id) => readRun(database, id),
  bundle: (digest) => readBundle(database, digest),
  causes: () => findingsByCause(database),
  metrics: () => readMetrics(database),
  ready: async () => void (await database.query(`select from ${controllerSchema}.account limit 1`, [])),
});

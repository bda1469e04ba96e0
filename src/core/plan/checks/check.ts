import pLimit from "p-limit";
import type { Address } from "../../base/model/address.ts";
import { ServiceError } from "../../base/model/errors.ts";
import type { LiveSchemas } from "../../base/model/live.ts";
import type { Finding, Plan, Unmanaged } from "../../base/model/plan.ts";
import type { Problem } from "../../base/model/problem.ts";
import type { Account, DiffResult, Pair, Question, ReadNeeds, ScanOptions, TableTest } from "../../kinds/index.ts";
import { emptyDiff, scan, tablesToRead, unknownColumns, wholeSchemas, withColumns } from "../../kinds/index.ts";
import type { Reviewed } from "../origin.ts";
import { failedRead } from "../reads/lists-and-ids.ts";
import type { Run } from "../run.ts";

/** What every check starts from. */
export interface CheckInput {
  readonly run: Run;
  readonly account: Account;
  /** Undefined if there is no base. */
  readonly reviewed: Reviewed | undefined;
}

/** What was compared. */
export interface Comparison {
  /** The differences of all pairs, in the order of kinds and addresses, and what could not be compared. */
  readonly differences: readonly DiffResult[];
  /** The addresses of all units of the compared manifests, in scope or not. */
  readonly parts: readonly Address[];
  /** The live objects of all units, in scope or not (`objectOf`). */
  readonly objects: ReadonlySet<string>;
  /** The number of pairs without a difference. */
  readonly equal: number;
  /** The live objects that were compared, one per pair. */
  readonly liveIds: readonly string[];
  /** Whether every read succeeded. */
  readonly complete: boolean;
  /** For what checks read at the end. */
  readonly needs: ReadNeeds;
}

/** A pair after its comparison. `live` is undefined if the object is gone, or does not exist yet. */
export interface ComparedPair extends Pair {
  readonly live: unknown;
  readonly difference: DiffResult;
}

/** An integration while its schemas are in memory. */
export interface SeenIntegration {
  readonly id: string;
  readonly address: Address;
  /** Undefined if the integration is gone. */
  readonly tree: LiveSchemas | undefined;
  /** Absent if no pair stands for it. */
  readonly pair?: ComparedPair;
}

/** What is asked about the schemas of an integration. */
export interface Asked {
  readonly questions: readonly Question[];
  readonly options?: ScanOptions;
  /** Called after the walk. */
  readonly end?: () => unknown;
}

/**
 * One thing that is checked while the account is compared. A check is one file, and one row of `startChecks`. Every member but `end` is called while
 * pairs are compared; no check keeps what it is shown.
 */
export interface Check {
  /** The tables of an integration of which it needs the columns; undefined: none. */
  readonly columns?: (id: string) => TableTest | undefined;
  /** Integrations that no pair stands for, and that it must see, too. `seen`: ids of those that a pair stands for. */
  readonly others?: (seen: ReadonlySet<string>) => readonly Pick<SeenIntegration, "id" | "address">[];
  readonly pair?: (pair: ComparedPair) => void;
  /** The questions of all checks are asked in one walk. */
  readonly tree?: (seen: SeenIntegration) => Asked | undefined;
  /** What it found. Called once everything is compared; may read. `before`: what the checks above it found. */
  readonly end?: (comparison: Comparison, before: Found) => Partial<Found> | Promise<Partial<Found>>;
}

/** Shows a pair to the checks while it is in memory. */
export function showPair(pair: ComparedPair, checks: readonly Check[]): void {
  const { kind, unit, live } = pair;
  for (const { pair: see } of checks) see?.(pair);
  if (kind.schemas === undefined || unit.liveId === undefined) return;
  ask({ id: unit.liveId, address: unit.address, tree: live === undefined ? undefined : kind.schemas.tree(live), pair }, checks);
}

/** Asks what all checks ask about the schemas in one walk. */
function ask(seen: SeenIntegration, checks: readonly Check[]): void {
  const asked = checks.flatMap(({ tree }) => tree?.(seen) ?? []);
  const questions = asked.flatMap((one) => one.questions);
  if (seen.tree !== undefined && questions.length > 0)
    scan(seen.tree, questions, asked.find(({ options }) => options !== undefined)?.options);
  for (const { end } of asked) end?.();
}

interface OthersInput extends Pick<CheckInput, "run"> {
  readonly checks: readonly Check[];
  readonly needs: ReadNeeds;
}

/** Shows the checks the integrations that no pair stands for and that they must see. */
export function showOthers(seen: ReadonlySet<string>, { run, checks, needs }: OthersInput) {
  const limit = pLimit(run.project.settings.client.concurrency);
  const see = async ({ id, address }: Pick<SeenIntegration, "id" | "address">, { columns }: Check): Promise<DiffResult> => {
    try {
      const read = await wholeSchemas(run.reads, id);
      const needed = columns?.(id);
      const tables = read === undefined || needed === undefined ? [] : tablesToRead(undefined, read, needed);
      needs.claimColumns(id, tables.length);
      const whole = read && (await withColumns({ id, tree: read }, tables, run.reads));
      ask({ id, address, tree: whole?.tree }, checks);
      return { ...emptyDiff, steps: unknownColumns(address, whole?.withoutColumns ?? []) };
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return { ...emptyDiff, problems: [failedRead(error, address)] };
    }
  };
  return Promise.all(checks.flatMap((check) => (check.others?.(seen) ?? []).map((other) => limit(() => see(other, check)))));
}

/** What checks found. */
export interface Found extends Pick<Plan, "loosenedSince" | "covered"> {
  readonly findings: readonly Finding[];
  readonly differences: readonly DiffResult[];
  readonly problems: readonly Problem[];
  readonly unmanaged: Omit<Unmanaged, "columns">;
  /** Ids of integrations that left a selector by a rename. */
  readonly left: ReadonlySet<string>;
}

const nothing: Found = { findings: [], differences: [], problems: [], unmanaged: {}, left: new Set() };

/** Ends the checks in their order. */
export async function endChecks(checks: readonly Check[], comparison: Comparison): Promise<Found> {
  let found = nothing;
  for (const { end } of checks) {
    const more = (await end?.(comparison, found)) ?? {};
    found = {
      ...found,
      ...more,
      findings: [...found.findings, ...(more.findings ?? [])],
      differences: [...found.differences, ...(more.differences ?? [])],
      problems: [...found.problems, ...(more.problems ?? [])],
    };
  }
  return found;
}

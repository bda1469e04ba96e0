import { planRound } from "../engine/pipeline.ts";
import { newestEntries } from "../engine/reads/audit-log.ts";
import { cachedReads, once, type RunReads } from "../engine/reads/cached-reads.ts";
import { scopeOfAddresses } from "../engine/scope.ts";
import type { Round, WriteSession } from "../engine/session.ts";
import { DimsyncError } from "../model/errors.ts";
import type { Plan } from "../model/plan.ts";
import type { ItemResult } from "../model/result.ts";
import type { Secret } from "../model/settings/secret.ts";
import { titles } from "../model/titles.ts";
import type { ApplyOptions } from "./apply.ts";
import { execute } from "./execute.ts";
import { interrupted, notRun, refusal } from "./not-run.ts";
import { newOutcomes, replansPerAddress } from "./outcomes.ts";
import type { Execution } from "./step.ts";
import { newSchemaWait } from "./wait-for-schemas.ts";
import { gatherIntents } from "./waves.ts";

export interface RoundsInput {
  readonly session: WriteSession;
  readonly options: ApplyOptions;
  readonly first: Round;
  /** The plan of the first round. */
  readonly plan: Plan;
  readonly secrets: ReadonlyMap<string, Secret>;
}

export interface RoundsResult {
  /** In order; the first is the plan that the run started with. */
  readonly plans: readonly [Plan, ...Plan[]];
  readonly results: readonly ItemResult[];
}

/**
 * Executes a plan, then plans and executes items that it made possible, until nothing more can be
 * sent.
 */
export async function executeRounds({ session, options, first, plan, secrets }: RoundsInput): Promise<RoundsResult> {
  const plans: [Plan, ...Plan[]] = [plan];
  const outcomes = newOutcomes();
  const schemaWait = newSchemaWait(session);
  const created: Parameters<RunReads["remember"]>[] = [];
  let current = plan;
  let { reads } = first;
  const remember: RunReads["remember"] = (...one) => {
    created.push(one);
    reads.remember(...one);
  };
  const records = gatherIntents(session.writer.records);
  const auditLog = once(() => newestEntries(session.writer.reads));
  const stopped = (): boolean => session.signal.aborted || (options.failFast === true && outcomes.failed());
  for (;;) {
    const execution: Execution = { session, records, secrets, auditLog, failFast: options.failFast === true, remember };
    const progressed = outcomes.add(current.items, await execute(current.items, execution));
    throwIfUnsent(session);
    if (stopped()) break;
    const stale = options.saved === undefined ? outcomes.takeStale() : [];
    const waiting = new Set([...current.deferred.map(({ address }) => address), ...stale]);
    if (waiting.size === 0) break;
    if (!progressed && stale.length === 0 && !(await schemaWait.waitFor(current.deferred))) break;
    if (stale.length > 0) reads = newReads(session, created);
    // An address to plan again may have another ending already: its id was recorded, then its update was stale.
    const ended = new Set([...outcomes.addresses()].filter((address) => !stale.includes(address)));
    const fresh = new Set(created.map(([, { id }]) => id));
    const round = { ...first, reads, scope: scopeOfAddresses(waiting, ended), fresh, before: outcomes.counts() };
    const next = await laterPlan(round, options);
    if ("failed" in next) {
      plans.push(failedPlan(plans.at(-1) ?? plan, next.failed));
      break;
    }
    current = next.plan;
    plans.push(current);
    if (!current.executable || session.signal.aborted) {
      outcomes.add(current.items, notRun(current, session.signal.aborted ? interrupted : refusal(current)));
      break;
    }
  }
  const results = outcomes.results();
  return { plans, results: options.saved === undefined ? results.map(keepsChanging) : results };
}

/** Reads everything again: what the last round has read is stale. */
function newReads(session: WriteSession, created: readonly Parameters<RunReads["remember"]>[]): RunReads {
  const reads = cachedReads(session.reads);
  for (const one of created) reads.remember(...one);
  return reads;
}

/** Throws why the run lost its lease, if nothing was sent: then there is no result to keep. */
function throwIfUnsent({ writer, calls }: WriteSession): void {
  const isSent = Object.entries(calls()).some(([method, count]) => method !== "GET" && count > 0);
  if (!isSent) writer.records.lost.throwIfAborted();
}

/** Something may have been written already, so an internal error must not lose the result. */
async function laterPlan(round: Round, { allow }: ApplyOptions): Promise<{ readonly plan: Plan } | { readonly failed: unknown }> {
  try {
    return { plan: allowGuards(await planRound(round), allow) };
  } catch (error) {
    return { failed: error };
  }
}

function failedPlan(last: Plan, error: unknown): Plan {
  const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const code = error instanceof DimsyncError ? error.code : "E_INTERNAL";
  const message = `The next round could not be planned (${reason}). What was applied before is kept.`;
  return {
    ...last,
    executable: false,
    diagnostics: [...last.diagnostics, { code, severity: "error", summary: titles[code], message }],
  };
}

/** The plan with those guards lifted that `reasons` names. */
export function allowGuards(plan: Plan, reasons: ReadonlyMap<string, string> | undefined): Plan {
  const guards = plan.guards.map((finding) => {
    const allowed = finding.allowed ?? reasons?.get(finding.guard);
    return allowed === undefined ? finding : { ...finding, allowed };
  });
  const isClean = plan.snapshot === undefined && plan.complete && plan.diagnostics.every(({ severity }) => severity !== "error");
  return { ...plan, guards, executable: isClean && guards.every(({ allowed }) => allowed !== undefined) };
}

/** E_STALE and exit code 5 are for saved plans. A plan made just now can only be stale this often if the object keeps changing. */
const keepsChanging = (result: ItemResult): ItemResult =>
  result.code === "E_STALE"
    ? {
        ...result,
        code: "E_KEEPS_CHANGING",
        message: `${result.message ?? ""} It was planned again ${replansPerAddress} times.`.trim(),
      }
    : result;

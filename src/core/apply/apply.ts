import { DimsyncError } from "../base/model/errors.ts";
import type { KeptJson } from "../base/model/kept.ts";
import { type NotKept, type Plan, type Result, readySteps, stepsOf } from "../base/model/plan.ts";
import { type Secret, secretsIn } from "../base/model/settings/secret.ts";
import { plan, planExit, recoverCreates, type WriteRun } from "../plan/index.ts";
import { type ConfirmedPlan, confirmSaved } from "./confirm-saved.ts";
import { resultOf, unfinishedItems } from "./result.ts";
import { allowGuards, executeRounds } from "./rounds.ts";
import { declined, type EndedStep, interrupted, notRun, refusal, type WhyNotRun } from "./step.ts";

export interface ApplyOptions {
  /** A saved plan: its steps, then those that waited, and nothing else. Absent: plan now. */
  readonly saved?: Plan;
  /** The saved plan was made by this process, so nobody can have changed it: its requests are sent without being planned again. */
  readonly isOwnPlan?: boolean;
  /** Called once, before the first write; false ends the run without one. */
  readonly confirm?: (plan: Plan) => Promise<boolean>;
  /** Called immediately before the first write. */
  readonly beforeFirstWrite?: (plan: Plan) => Promise<void>;
}

export interface Applied {
  readonly plan: Plan;
  readonly result: Result;
  /** What the service did not keep in this run, texts with other white space included. */
  readonly notKept: readonly NotKept[];
  /** What the plans of all rounds found kept unreadable. */
  readonly kept: readonly KeptJson[];
}

/**
 * Makes the account match the manifests, in rounds: a round plans what an earlier one made
 * possible. Throws only before the first write; after it, the result reports everything.
 */
export async function apply(opened: WriteRun, options: ApplyOptions = {}): Promise<Applied> {
  const { saved } = options;
  // Later rounds of a saved plan send what the first one would.
  const run =
    saved === undefined ? opened : { ...opened, options: { ...opened.options, protectOnly: saved.options?.protectOnly === true } };
  const startedAt = run.clock.now().toISOString();
  const { plan: made, endings } = await firstPlan(run, options);
  const first = allowGuards(made, run.options.allow);
  const finish = (plans: readonly Plan[], items: readonly EndedStep[]) => ({
    plan: first,
    result: resultOf(run, [first, ...plans.slice(1)], { items, startedAt }),
    notKept: items.flatMap((item) => item.notKept ?? []),
    kept: plans.flatMap((plan) => plan.kept ?? []),
  });
  const why = await reasonNotToStart(run, first, options);
  if (why !== undefined) {
    const items = notRun(first, why);
    // After an interruption or a declined plan, items that wait are not reported, because their
    // outcome is open.
    return finish([first], why.isEnded === true ? items : [...items, ...unfinishedItems([first], items)]);
  }
  const secrets = await resolveSecrets(run, first);
  await closeSettled(run);
  if (hasWork(first)) await options.beforeFirstWrite?.(first);
  const { plans, results } = await executeRounds(run, first, { secrets, endings, isSaved: saved !== undefined });
  return finish(plans, [...results, ...unfinishedItems(plans, results)]);
}

async function firstPlan(run: WriteRun, { saved, isOwnPlan }: ApplyOptions): Promise<ConfirmedPlan> {
  const isConfirmed = saved !== undefined && isOwnPlan !== true && allowGuards(saved, run.options.allow).executable;
  return isConfirmed ? await confirmSaved(run, saved) : { plan: saved ?? (await plan(run)), endings: new Map() };
}

const hasWork = (plan: Plan): boolean => plan.steps.some(({ standing }) => standing === "ready" || standing === "waits");

async function reasonNotToStart(run: WriteRun, first: Plan, { confirm }: ApplyOptions): Promise<WhyNotRun | undefined> {
  // Reads that an interruption stopped make items look blocked, so the interruption is checked
  // first.
  if (run.signal.aborted) return interrupted;
  if (!first.executable) return refusal(first);
  return hasWork(first) && confirm !== undefined && !(await confirm({ ...first, exit: planExit(first) })) ? declined : undefined;
}

/** All secrets that the run may send. Throws if one is missing. */
function resolveSecrets({ writer }: WriteRun, plan: Plan): Promise<ReadonlyMap<string, Secret>> {
  const waiting = stepsOf(plan, "waits");
  const inBodies = readySteps(plan).flatMap(({ requests }) => requests.flatMap((request) => secretsIn(request.body)));
  const references = [...inBodies, ...waiting.flatMap(({ changes }) => changes.flatMap(({ after }) => secretsIn(after)))];
  return writer.resolveSecrets(references, new Set([...readySteps(plan), ...waiting].map(({ address }) => address)));
}

/** Closes journal entries of earlier runs whose outcome is known now. Entries that can't be written stay open, which is safe. */
async function closeSettled({ records, reads, writer }: WriteRun): Promise<void> {
  const { open, bindings } = records();
  if (open.length === 0) return;
  const { settled } = await recoverCreates(open, bindings, reads);
  for (const { entryId, id } of settled)
    await writer.records.settle(entryId, { outcome: "recovered", ...(id === undefined ? {} : { id }) }).catch((error: unknown) => {
      if (!(error instanceof DimsyncError)) throw error;
    });
}

import type { Address } from "../base/model/address.ts";
import { DimsyncError } from "../base/model/errors.ts";
import { isGuard, refusingGuards } from "../base/model/findings.ts";
import { once } from "../base/model/maps.ts";
import { type Plan, type ReadyStep, readySteps, type Step, type StepEnd, stepsOf } from "../base/model/plan.ts";
import { stopsApply } from "../base/model/problem.ts";
import { exponentialMs } from "../base/model/runtime/clock.ts";
import { type Code, titles } from "../base/model/titles.ts";
import {
  type Counted,
  countedOf,
  newestEntries,
  plan as planRun,
  type Run,
  type RunReads,
  scopeOfAddresses,
  type WriteRun,
} from "../plan/index.ts";
import { execute } from "./execute.ts";
import { type EndedStep, type Execution, interrupted, isGood, notRun, refusal } from "./step.ts";
import { gatherIntents } from "./waves.ts";

interface RoundsResult {
  /** In order; the first is the plan that the run started with. */
  readonly plans: readonly [Plan, ...Plan[]];
  readonly results: readonly EndedStep[];
}

interface RoundsOptions extends Pick<Execution, "secrets" | "endings"> {
  /** Whether the first plan was saved: what is stale is not planned again. */
  readonly isSaved: boolean;
}

/**
 * Executes the plan of the first round, then plans and executes items that it made possible, until
 * nothing more can be sent.
 */
export async function executeRounds(first: WriteRun, plan: Plan, { secrets, endings, isSaved }: RoundsOptions): Promise<RoundsResult> {
  const plans: [Plan, ...Plan[]] = [plan];
  const outcomes = newOutcomes();
  const schemaWait = newSchemaWait(first);
  const created = new Set<string>();
  let current = plan;
  let failure: unknown;
  let run = first;
  const remember: RunReads["remember"] = (list, object) => {
    created.add(object.id);
    run.reads.remember(list, object);
  };
  const records = gatherIntents(first.writer.records);
  const auditLog = once(() => newestEntries(first.writer.reads));
  for (;;) {
    const execution: Execution = { run, records, secrets, auditLog, endings: plans.length === 1 ? endings : new Map(), remember };
    const progressed = outcomes.add(readySteps(current), await execute(readySteps(current), execution));
    throwIfUnsent(run);
    if (first.signal.aborted) break;
    const stale = isSaved ? [] : outcomes.takeStale();
    const waiting = new Set([...stepsOf(current, "waits"), ...stale].map(({ address }) => address));
    if (waiting.size === 0) break;
    if (!progressed && stale.length === 0 && !(await schemaWait.waitFor(stepsOf(current, "waits")))) break;
    // An address to plan again may have another ending already: its id was recorded, then its update was stale or waited for others.
    const ended = new Set([...outcomes.addresses()].filter((address) => !waiting.has(address)));
    run = {
      ...first,
      // What was read is stale.
      reads: stale.length > 0 ? run.reads.again() : run.reads,
      scope: scopeOfAddresses(waiting, ended),
      rounds: { fresh: new Set(created), counted: outcomes.counts(), failed: outcomes.failedAddresses() },
    };
    const next = await laterPlan(run);
    if ("failed" in next) {
      outcomes.putBack(stale);
      failure = next.failed;
      plans.push(failedPlan(plans.at(-1) ?? plan, next.failed));
      break;
    }
    current = next.plan;
    plans.push(current);
    if (!current.executable || run.signal.aborted) {
      outcomes.add(readySteps(current), notRun(current, run.signal.aborted ? interrupted : refusal(current)));
      break;
    }
  }
  const results = outcomes.results();
  const isInterrupted = run.signal.aborted;
  if (isSaved) return { plans, results };
  return { plans, results: results.map((one) => withoutSavedPlan(one, outcomes.replans(one.address), { isInterrupted, failure })) };
}

/** Throws why the run lost its lease, if nothing was sent: then there is no result to keep. */
function throwIfUnsent({ writer, calls }: WriteRun): void {
  const isSent = Object.entries(calls()).some(([method, count]) => method !== "GET" && count > 0);
  if (!isSent) writer.records.lost.throwIfAborted();
}

/** Something may have been written already, so an internal error must not lose the result. */
async function laterPlan(run: Run): Promise<{ readonly plan: Plan } | { readonly failed: unknown }> {
  try {
    return { plan: allowGuards(await planRun(run), run.options.allow) };
  } catch (error) {
    return { failed: error };
  }
}

const codeOf = (error: unknown): Code => (error instanceof DimsyncError ? error.code : "E_INTERNAL");

function failedPlan(last: Plan, error: unknown): Plan {
  const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const code = codeOf(error);
  const message = `The next round could not be planned (${reason}). What was applied before is kept.`;
  return {
    ...last,
    executable: false,
    findings: [{ rule: code, severity: "error", summary: titles[code], message }, ...last.findings],
  };
}

/** The plan with those guards lifted that `reasons` names. */
export function allowGuards(plan: Plan, reasons: ReadonlyMap<string, string> | undefined): Plan {
  const findings = plan.findings.map((finding) => {
    const reason = isGuard(finding) && finding.guard.allowed === undefined ? reasons?.get(finding.rule) : undefined;
    return reason === undefined ? finding : { ...finding, guard: { ...finding.guard, allowed: reason } };
  });
  return { ...plan, findings, executable: !findings.some(stopsApply) && refusingGuards({ findings }).length === 0 };
}

/** Why no further round ran. `failure`: what was thrown while it was planned. */
interface Stopped {
  readonly isInterrupted: boolean;
  readonly failure: unknown;
}

/** E_STALE and exit code 5 are for saved plans. `replans`: how often the address was planned again. Less often than allowed: the run stopped. */
function withoutSavedPlan(result: EndedStep, replans: number, { isInterrupted, failure }: Stopped): EndedStep {
  if (result.code !== "E_STALE") return result;
  const [code, why] =
    replans >= replansPerAddress
      ? (["E_KEEPS_CHANGING", `It was planned again ${replans} times.`] as const)
      : isInterrupted
        ? (["E_INTERRUPTED", "The run was interrupted before it was planned again."] as const)
        : ([codeOf(failure), "The next round could not be planned."] as const);
  return { ...result, code, message: `${result.message ?? ""} ${why}`.trim() };
}

/** Waits for schemas that the service has not discovered yet: in total at most `client.schemaWaitSeconds`. */
function newSchemaWait({ clock, project, signal, onProgress }: Run) {
  let deadline: number | undefined;
  let attempt = 0;
  return {
    /** False if waiting can't help or the deadline has passed. */
    async waitFor(waiting: readonly Step[]): Promise<boolean> {
      const discovering = waiting.filter(({ liveId }) => liveId !== undefined);
      const now = clock.now().getTime();
      deadline ??= now + project.settings.client.schemaWaitMs;
      // A timer can end a little early.
      if (discovering.length === 0 || deadline - now < 10) return false;
      const label = "the schema of a new integration";
      onProgress?.({ type: "step", phase: "wait", done: 0, total: discovering.length, label });
      attempt += 1;
      await clock.sleep(Math.min(deadline - now, exponentialMs(attempt, 250, 10_000)), signal);
      return !signal.aborted;
    },
  };
}

/** How often one address is planned again because it changed between plan and write. */
const replansPerAddress = 3;

/** The outcomes of an apply so far, over all its rounds. */
function newOutcomes() {
  const byStep = new Map<string, EndedStep>();
  /** What each step of the round depends on, by ids of items. */
  let dependencies = new Map<string, readonly string[]>();
  const replans = new Map<Address, number>();
  const counted: Counted[] = [];
  return {
    /** True if something was created, related or bound that other steps may have waited for. */
    add(items: readonly ReadyStep[], results: readonly EndedStep[]): boolean {
      for (const result of results) byStep.set(stepOf(result), result);
      dependencies = new Map(items.map((item) => [stepOf(item), item.dependsOn ?? []]));
      const reached = new Set(results.filter(({ outcome }) => mayHaveActed(outcome)).map(({ id }) => id));
      for (const item of items) if (reached.has(item.id)) counted.push(countedOf(item));
      return results.some(({ outcome, verb }) => isGood(outcome) && verb !== "update");
    },
    /**
     * Removes the stale items that may be planned again, and what was skipped because of them, counts them, and returns them.
     */
    takeStale(): readonly EndedStep[] {
      const stale = new Map<string, EndedStep>();
      const ids = new Set<string | undefined>();
      const isStale = ([step, { code, address }]: readonly [string, EndedStep]): boolean => {
        if ((replans.get(address) ?? 0) >= replansPerAddress) return false;
        return (
          code === "E_STALE" ||
          code === "E_NOT_OFFERED" ||
          (code === "E_DEPENDENCY" && (dependencies.get(step) ?? []).some((id) => ids.has(id)))
        );
      };
      // An item comes after those that it depends on.
      for (const [step, result] of byStep)
        if (isStale([step, result])) {
          stale.set(step, result);
          ids.add(result.id);
        }
      for (const [step, { address }] of stale) {
        byStep.delete(step);
        replans.set(address, (replans.get(address) ?? 0) + 1);
      }
      return [...stale.values()];
    },
    /** For a round that could not be planned, which does not count. */
    putBack(stale: readonly EndedStep[]): void {
      for (const result of stale) {
        byStep.set(stepOf(result), result);
        replans.set(result.address, (replans.get(result.address) ?? 0) - 1);
      }
    },
    replans: (address: Address): number => replans.get(address) ?? 0,
    /** What earlier rounds did, which the guards of the next round add to its own. */
    counts: (): readonly Counted[] => counted,
    failedAddresses: (): ReadonlySet<Address> =>
      new Set([...byStep.values()].flatMap(({ outcome, address }) => (isGood(outcome) ? [] : [address]))),
    addresses: (): ReadonlySet<Address> => new Set([...byStep.values()].map(({ address }) => address)),
    results: (): readonly EndedStep[] => [...byStep.values()],
  };
}

const stepOf = ({ verb, address }: Pick<EndedStep, "verb" | "address">): string => `${verb} ${address}`;

const mayHaveActed = (outcome: StepEnd): boolean => outcome !== "skipped" && outcome !== "failed" && outcome !== "blocked";

import { combineExits, type Exit } from "../base/model/exit.ts";
import { loosenedOf, openFindings, refusingGuards, unreviewedIn } from "../base/model/findings.ts";
import { endedSteps, isDeclined, outcomeOf, type Plan, type Result, stepsOf, unmanagedObjects } from "../base/model/plan.ts";
import { diagnosticsIn, isError, stopsApply } from "../base/model/problem.ts";

const shared = ["changes", "drift", "unmanaged", "unseen", "byHand", "blocked", "policy", "unreviewed", "warnings"] as const;
/** The values of `--fail-on`: those of `plan` and `apply`, and those of `drift`. */
export const failOnNames = {
  Plan: [...shared, "exposes", "loosened"],
  DriftReport: [...shared, "exposed", "stricter"],
} as const;
export type FailOn = (typeof failOnNames)[Plan["kind"]][number];

/** Errors and refusals of a plan; they have the same exit codes in plan, drift and apply. */
function refusals(plan: Plan): readonly Exit[] {
  const exits: Exit[] = [];
  if (plan.findings.some(stopsApply)) exits.push({ code: 1, reasons: ["errors"] });
  const refusing = refusingGuards(plan);
  if (refusing.length > 0) exits.push({ code: 3, reasons: refusing.map(({ rule }) => rule) });
  return exits;
}

/** Whether the account differs from the manifests. Recording an id is not a difference. */
const differs = ({ steps }: Plan): boolean =>
  steps.some(({ standing, verb }) => (standing === "ready" && verb !== "bind") || standing === "waits" || standing === "held");

const missingLive: readonly string[] = ["E_TAG_MISSING", "E_INTEGRATION_MISSING", "E_GONE", "E_OTHER_OBJECT"];

/** Whether something that was kept hashed or disabled is not shown so any more, and no request changes that. */
const isOwing = ({ steps }: Pick<Plan | Result, "steps">): boolean => steps.some(({ obligation }) => obligation === true);

/** The exit code of an apply with a plan that sends nothing. */
export function unchangedExit(plan: Plan): Exit {
  return isOwing(plan) ? combineExits([plan.exit, { code: 4, reasons: ["obligations"] }]) : plan.exit;
}

/**
 * Differences of any kind: those that a request fixes, those that a user must fix, those that the service does not keep, and
 * declared objects that are missing or are not the recorded ones.
 */
const drifted = (plan: Plan): boolean =>
  differs(plan) ||
  plan.steps.some(
    ({ standing, why }) =>
      standing === "byHand" || standing === "notKept" || (standing === "blocked" && missingLive.includes(why?.code ?? "")),
  );

const named: Readonly<Record<FailOn, (plan: Plan) => boolean>> = {
  changes: (plan) => differs(plan) || isOwing(plan) || stepsOf(plan, "blocked").some(({ why }) => why?.code === "E_OTHER_OBJECT"),
  drift: drifted,
  exposes: ({ counts: { exposes = 0 } }) => exposes > 0,
  exposed: ({ counts: { exposed = 0 } }) => exposed > 0,
  stricter: ({ counts: { stricter = 0 } }) => stricter > 0,
  unmanaged: ({ unmanaged }) => unmanaged.columns > 0 || [...unmanagedObjects(unmanaged).values()].some(({ length }) => length > 0),
  unseen: (plan) => stepsOf(plan, "unseen").length > 0,
  byHand: (plan) => stepsOf(plan, "byHand").length > 0,
  blocked: (plan) => stepsOf(plan, "blocked").length > 0,
  policy: (plan) => openFindings(plan).some(isError),
  loosened: (plan) => loosenedOf(plan).length > 0,
  unreviewed: (plan) => unreviewedIn(plan).length > 0,
  warnings: (plan) => [...diagnosticsIn(plan), ...openFindings(plan)].some(({ severity }) => severity === "warning"),
};

/** The exit code of a plan, or of a drift report, which is 2 for any drift. `failOn` names what else makes it 2. */
export function planExit(plan: Plan, failOn: readonly FailOn[] = []): Exit {
  const exits = [...refusals(plan), ...(plan.complete ? [] : [{ code: 1, reasons: ["incomplete"] } as const])];
  const names: readonly FailOn[] = plan.kind === "DriftReport" ? ["drift", ...failOn] : failOn;
  for (const name of names) if (named[name](plan)) exits.push({ code: 2, reasons: [name] });
  return combineExits(exits);
}

/** Whether a part of the account was read and compared. */
const wasCompared = ({ counts, steps }: Plan, result: Result): boolean =>
  counts.equal > 0 ||
  steps.some(({ standing }) => standing === "ready" || standing === "byHand" || standing === "waits") ||
  endedSteps(result).some(({ why }) => why?.code !== "E_READ_FAILED");

/** Error codes of items that mean that the saved plan no longer fits. */
const staleCodes: readonly (string | undefined)[] = ["E_STALE"];

export function applyExit(result: Result, plan: Plan, interrupted: boolean): Exit {
  // The user decided so, and nothing was sent.
  if (isDeclined(result)) return { code: 0, reasons: [] };
  const exits = [...refusals(plan)];
  if (interrupted) exits.push({ code: 130, reasons: ["interrupted"] });
  // Without any object that could be read, the run is an error. Otherwise, what was not read is left to do.
  if (!plan.complete) exits.push({ code: plan.executable && wasCompared(plan, result) ? 4 : 1, reasons: ["incomplete"] });
  if (!plan.executable) return combineExits(exits);
  if (result.steps.some(({ why }) => staleCodes.includes(why?.code))) exits.push({ code: 5, reasons: ["stale"] });
  const incomplete = new Set(
    endedSteps(result)
      .filter(({ outcome, why }) => outcome !== "done" && outcome !== "recovered" && !staleCodes.includes(why?.code))
      .flatMap((step) => outcomeOf(step) ?? []),
  );
  const reasons = [
    ...[...incomplete].sort(),
    ...(stepsOf(result, "held").length > 0 ? ["held"] : []),
    ...(isOwing(result) ? ["obligations"] : []),
  ];
  if (reasons.length > 0) exits.push({ code: 4, reasons });
  return combineExits(exits);
}

import { refusingGuards } from "../base/model/findings.ts";
import { type Plan, readySteps } from "../base/model/plan.ts";
import { stopsApply } from "../base/model/problem.ts";
import type { Code } from "../base/model/titles.ts";
import { type EndedStep, ended } from "./step.ts";

/** Why no item of a plan was started. */
export interface WhyNotRun {
  readonly code: Code;
  readonly message: string;
  readonly outcome: "skipped" | "blocked";
  /** The user or the system ended the run: what became of items that wait is open. */
  readonly isEnded?: true;
}

export const interrupted: WhyNotRun = {
  code: "E_INTERRUPTED",
  message: "The run was interrupted before this item started.",
  outcome: "skipped",
  isEnded: true,
};
export const declined: WhyNotRun = { code: "E_NOT_CONFIRMED", message: "The plan was not confirmed.", outcome: "blocked", isEnded: true };

/** Why a plan that is not executable can't be applied. */
export const refusal = (plan: Plan): WhyNotRun => ({ ...whyRefused(plan), outcome: "blocked" });

function whyRefused(plan: Plan): Pick<WhyNotRun, "code" | "message"> {
  const [guard] = refusingGuards(plan);
  if (guard !== undefined && !plan.findings.some(stopsApply))
    return { code: "E_GUARD", message: `The guard ${guard.rule} refuses: ${guard.message}` };
  return { code: "E_PROBLEMS", message: "The plan has errors, so nothing is sent." };
}

/** The results of items that were not started. */
export const notRun = (plan: Plan, { code, message, outcome }: WhyNotRun): readonly EndedStep[] =>
  readySteps(plan).map((step) => ended(step, { code, message, outcome }));

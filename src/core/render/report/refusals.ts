import { type GuardFinding, guardFindings, refusingGuards } from "../../base/model/findings.ts";
import type { Plan, Result } from "../../base/model/plan.ts";
import { diagnosticsIn } from "../../base/model/problem.ts";
import { visible } from "../../base/text/control-characters.ts";
import { counted } from "../../base/text/counts.ts";
import { enumerate } from "../../base/text/describe.ts";
import { andMore, joinParts } from "../../base/text/lists.ts";
import type { Words } from "./words.ts";

/** One reason why apply refuses a plan. */
export interface Refusal {
  /** For the heading, without control characters: "uncommitted changes in manifests/a.yaml". */
  readonly brief: string;
  /** Full sentences. */
  readonly text: string;
  /** Whether the reason is a guard, which is reported with its message and how to lift it. */
  readonly isGuard: boolean;
}

/** Why apply will refuse the plan; none for a report, and none if apply will run the plan. */
export function refusalsOf(plan: Plan): readonly Refusal[] {
  const { executable, kind } = plan;
  if (kind === "DriftReport") return [];
  if (wasNotRead(plan)) return [refusal(counted(errorCount(plan), "error"), notRead)];
  if (executable) return protectedRefusals(plan);
  const errors = errorCount(plan);
  return [...(errors === 0 ? [] : [refusal(counted(errors, "error"), errorsText(errors))]), ...refusingGuards(plan).map(guardRefusal)];
}

/** "(apply will refuse it: 1 error)", after the merge "(apply refused it: 1 error)", for the heading; "" if apply will run the plan. */
export function refusalTitle(plan: Plan): string {
  const refusals = refusalsOf(plan);
  const isRefused = refusals.length > 0 || (plan.kind === "Plan" && !plan.executable);
  const why = enumerate(
    refusals.map(({ brief }) => brief),
    "and",
  );
  return isRefused ? `(${joinParts([`apply ${refuses(plan)} it`, why], ": ")})` : "";
}

/** A job that applies refuses its own plan at once. */
const refuses = ({ loosenedSince }: Plan): string => (loosenedSince === "applied" ? "refused" : "will refuse");

/** "Apply will refuse this plan"; "" if apply will run the plan. */
export const refusalText = (plan: Plan): string =>
  refusalTitle(plan) === "" ? "" : `Apply ${refuses(plan)} this plan${plan.loosenedSince === "applied" ? " and sent nothing" : ""}`;

/** What a report may lack; full sentences. */
export function limitsOf(plan: Plan): readonly string[] {
  const { kind, complete } = plan;
  if (kind === "Plan")
    return complete || !plan.executable
      ? []
      : ["The plan is incomplete, because a read failed. Apply sends only what does not need that read."];
  if (wasNotRead(plan)) return [notRead];
  return [...(complete ? [] : ["Not everything was compared. There may be more differences."])];
}

/**
 * "Guard maxCreates refuses: 7 found, at most 5 allowed", or "… is lifted …". A report applies
 * nothing, so nothing is refused.
 */
export function guardText({ rule, guard: { limit, actual, allowed, population } }: GuardFinding, kind: Words["kind"]): string {
  const unit = population === undefined ? "" : "%";
  const found = actual === undefined ? "" : `${actual}${unit} found`;
  const measure = joinParts([found, limit === undefined ? "" : limit === 0 ? "none allowed" : `at most ${limit}${unit} allowed`], ", ");
  const refuses = kind === "DriftReport" ? "would refuse to restore the manifests" : "refuses";
  return joinParts([`Guard ${visible(rule)} ${allowed === undefined ? refuses : "is lifted"}`, measure], ": ");
}

/** Why a guard is lifted: "DPIA-41, until 2026-12-15 (dimsync.yaml)". */
export const liftReason = ({ guard: { allowed = "", until } }: GuardFinding): string =>
  until === undefined ? allowed : `${allowed}, until ${until} (allow in dimsync.yaml)`;

/** Guards to report. The policy findings and new columns of a drift report are there already, so it has no guard for them. */
export const shownGuards = (of: Plan | Result): readonly GuardFinding[] =>
  guardFindings(of).filter(({ rule }) => of.kind !== "DriftReport" || (rule !== "policy" && rule !== "unreviewed"));

const refusal = (brief: string, text: string): Refusal => ({ brief, text, isGuard: false });

const notRead = "The account was not read. Fix the errors first.";

/** The failed reads of an incomplete plan have a reason of their own. */
const errorCount = (plan: Plan): number =>
  diagnosticsIn(plan).filter(({ severity, rule }) => severity === "error" && rule !== "E_READ_FAILED").length;

/** Whether errors were found before any read of the account. */
export const wasNotRead = (plan: Plan): boolean => errorCount(plan) > 0 && Object.keys(plan.calls.read).length === 0;

const errorsText = (count: number): string =>
  count === 1 ? "There is 1 error. Fix it first." : `There are ${count} errors. Fix them first.`;

function guardRefusal(finding: GuardFinding): Refusal {
  const { rule, guard } = finding;
  const brief = rule === "policy" && guard.actual !== undefined ? counted(guard.actual, "policy error") : `guard ${visible(rule)}`;
  return { brief, text: `${guardText(finding, "Plan")}.`, isGuard: true };
}

/** Why apply refuses a saved plan of a protected target. */
function protectedRefusals({ protected: isProtected, git }: Plan): readonly Refusal[] {
  if (isProtected !== true) return [];
  if (git === undefined)
    return [refusal("not made in a git repository", "The target is protected, and the plan was not made in a git repository.")];
  // An error names the files that a sparse checkout leaves out.
  if (!git.dirty || git.changedFiles === undefined) return [];
  const files = andMore(git.changedFiles.map(visible), "file");
  const where = files === "" ? "" : ` in ${files}`;
  return [
    refusal(
      `uncommitted changes${where}`,
      `The target is protected, and there are uncommitted changes${where}. Commit them and plan again.`,
    ),
  ];
}

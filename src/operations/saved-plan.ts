import type { LoadedProject } from "../engine/session.ts";
import { plan as planValidator } from "../manifests/validators.generated.js";
import { accountName, type Settings } from "../model/config.ts";
import { DimsyncError } from "../model/errors.ts";
import type { Plan } from "../model/plan.ts";
import { readPlanFile } from "../records/plan-file.ts";
import type { Records } from "../records/records.ts";

/** Reads a saved plan whose text is as it was made. Whether it still fits is asked when it is applied (plan-fit.ts). Throws as `readPlanFile` does. */
export function readSavedPlan(file: string, digestKey: string | undefined): Promise<Plan> {
  return readPlanFile(file, { digestKey, validate: (value) => planValidator(value) });
}

const dayMs = 24 * 60 * 60 * 1000;
/** Two machines rarely agree on the time to the second; a plan from the future would not expire when it should. */
const skewMs = 60 * 60 * 1000;

/**
 * Refuses a saved plan that was made from a snapshot (exit 1), or no longer stands for what was reviewed: of another target or account, of other manifests, too old, already applied (exit 5),
 * or, on a protected target, not made from a clean tree at HEAD (exit 3). `git` is the state of the project's folder now.
 */
export async function checkSavedPlan(
  plan: Plan,
  { settings, manifestDigest }: Pick<LoadedProject, "settings" | "manifestDigest">,
  { git, records }: { readonly git: Plan["git"]; readonly records: Records },
  maxAgeMs = dayMs,
): Promise<void> {
  if (plan.snapshot !== undefined)
    throw new DimsyncError(
      "E_PLAN_FROM_SNAPSHOT",
      `The plan was made from a snapshot of ${plan.snapshot}, and not from the account: it is there to be read, and can't be applied. Make one from the account.`,
      { command: "dimsync plan --out plan.json" },
    );
  const refuse = (code: string, message: string): never => {
    throw new DimsyncError(code, `${message} Make and review a new plan.`, { exit: 5, command: "dimsync plan --out plan.json" });
  };
  if (plan.target !== settings.target)
    refuse("E_PLAN_TARGET", `The plan is for target ${JSON.stringify(plan.target)}, not ${JSON.stringify(settings.target)}.`);
  if (plan.account !== accountName(settings.baseUrl))
    refuse("E_PLAN_TARGET", `The plan was made for ${plan.account}, and the target is now ${accountName(settings.baseUrl)}.`);
  const ageMs = Date.now() - Date.parse(plan.createdAt);
  if (!(ageMs <= maxAgeMs))
    refuse(
      "E_PLAN_EXPIRED",
      `The plan was made at ${plan.createdAt}, longer ago than the ${spanText(maxAgeMs)} that a plan holds (--max-plan-age).`,
    );
  if (ageMs < -skewMs)
    refuse("E_PLAN_EXPIRED", `The plan was made at ${plan.createdAt}, which is in the future: one of the two clocks is wrong.`);
  if (plan.manifestDigest !== manifestDigest)
    refuse(
      "E_PLAN_STALE",
      `The manifests changed after the plan was made${commitsText(plan.git, git)}, or its variables have other values now.`,
    );
  const applied = await records.wasApplied(plan.planId);
  if (applied !== undefined) refuse("E_PLAN_APPLIED", `The plan was applied at ${applied.at} by run ${applied.runId}.`);
  if (settings.protected && (plan.git === undefined || plan.git.dirty || git === undefined || plan.git.commit !== git.commit))
    throw new DimsyncError(
      "E_PROTECTED",
      `Target ${JSON.stringify(settings.target)} is protected: it takes a plan made from a clean git tree at HEAD, and this one ${describeGit(plan.git, git)}.`,
      { exit: 3 },
    );
}

/** A protected target is changed only by a plan that somebody could review (product §2.1). Throws E_PROTECTED, exit 3. */
export function refuseUnsavedOnProtected(settings: Settings): void {
  if (!settings.protected) return;
  throw new DimsyncError(
    "E_PROTECTED",
    `Target ${JSON.stringify(settings.target)} is protected: apply takes a saved plan, made from a clean git tree at HEAD.`,
    { exit: 3, command: "dimsync plan --out plan.json && dimsync apply plan.json" },
  );
}

function commitsText(made: Plan["git"], now: Plan["git"]): string {
  if (made === undefined || now === undefined || made.commit === now.commit) return "";
  return ` (it was made at commit ${made.commit.slice(0, 12)}, and the tree is at ${now.commit.slice(0, 12)})`;
}

function spanText(ms: number): string {
  if (ms >= 2 * 60 * 60 * 1000) return `${Math.round(ms / 3_600_000)} hours`;
  return ms >= 2 * 60 * 1000 ? `${Math.round(ms / 60_000)} minutes` : `${Math.round(ms / 1000)} seconds`;
}

function describeGit(made: Plan["git"], now: Plan["git"]): string {
  if (made === undefined) return "was made outside a git repository";
  if (made.dirty) return "was made with uncommitted changes";
  return now === undefined
    ? "is applied outside a git repository"
    : `was made at ${made.commit.slice(0, 12)}, while HEAD is ${now.commit.slice(0, 12)}`;
}

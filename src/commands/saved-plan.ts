import type { Project } from "../manifests/project.ts";
import { plan as planValidator } from "../manifests/validators.generated.js";
import { accountName } from "../model/account-name.ts";
import type { Settings } from "../model/config.ts";
import { DimsyncError } from "../model/errors.ts";
import type { Plan } from "../model/plan.ts";
import { appliedPlans } from "../records/applied-plans.ts";
import { readPlanFile } from "../records/plan-file.ts";
import { gitState } from "./git.ts";

const dayMs = 24 * 60 * 60 * 1000;

/**
 * Reads a saved plan and refuses one that no longer stands for what was reviewed: of another target or account, of other manifests, too old,
 * already applied, or (on a protected target) not made from a clean tree at HEAD. Throws DimsyncError, exit 5 (3 for protection).
 */
export async function checkSavedPlan(
  file: string,
  project: Project,
  options: { readonly digestKey: string | undefined; readonly maxAgeMs?: number },
): Promise<Plan> {
  const { settings } = project;
  const plan = await readPlanFile(file, { digestKey: options.digestKey, validate: (value) => planValidator(value) });
  const refuse = (code: string, message: string): never => {
    throw new DimsyncError(code, `${message} Make and review a new plan.`, { exit: 5, command: `dimsync plan --out ${file}` });
  };
  if (plan.target !== settings.target)
    refuse("E_PLAN_TARGET", `The plan is for target ${JSON.stringify(plan.target)}, not ${JSON.stringify(settings.target)}.`);
  if (plan.account !== accountName(settings.baseUrl))
    refuse("E_PLAN_TARGET", `The plan was made for ${plan.account}, and the target is now ${accountName(settings.baseUrl)}.`);
  const ageMs = Date.now() - Date.parse(plan.createdAt);
  const maxAgeMs = options.maxAgeMs ?? dayMs;
  if (!(ageMs <= maxAgeMs))
    refuse(
      "E_PLAN_EXPIRED",
      `The plan was made at ${plan.createdAt}, longer ago than the ${Math.round(maxAgeMs / 60_000)} minutes that a plan holds.`,
    );
  if (plan.manifestDigest !== project.manifestDigest) refuse("E_PLAN_STALE", "The manifests changed after the plan was made.");
  const applied = await appliedPlans(settings.folder).wasApplied(plan.planId);
  if (applied !== undefined) refuse("E_PLAN_APPLIED", `The plan was applied at ${applied.at} by run ${applied.runId}.`);
  const git = settings.protected ? await gitState(settings.folder) : undefined;
  if (settings.protected && (plan.git === undefined || plan.git.dirty || git === undefined || plan.git.commit !== git.commit))
    throw new DimsyncError(
      "E_PROTECTED",
      `Target ${JSON.stringify(settings.target)} is protected: it takes a plan made from a clean git tree at HEAD, and this one ${describeGit(plan.git, git)}.`,
      { exit: 3 },
    );
  return plan;
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

function describeGit(made: Plan["git"], now: Plan["git"]): string {
  if (made === undefined) return "was made outside a git repository";
  if (made.dirty) return "was made with uncommitted changes";
  return now === undefined
    ? "is applied outside a git repository"
    : `was made at ${made.commit.slice(0, 12)}, while HEAD is ${now.commit.slice(0, 12)}`;
}

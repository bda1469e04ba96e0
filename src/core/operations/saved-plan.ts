import { DimsyncError } from "../base/model/errors.ts";
import { isObject } from "../base/model/json/json.ts";
import type { Plan } from "../base/model/plan.ts";
import { accountName, type Settings } from "../base/model/settings/config.ts";
import type { Environment } from "../base/model/settings/env.ts";
import type { Code } from "../base/model/titles.ts";
import { durationText } from "../base/text/counts.ts";
import { andMore } from "../base/text/lists.ts";
import type { Project } from "../manifests/index.ts";
import { drift, plan as planValidator, result } from "../manifests/index.ts";
import type { Records } from "../records/index.ts";
import { readDocuments, readPlanFile, writePlanFile } from "../records/index.ts";
import type { RunEnvironment } from "./run.ts";

const digestKeyIn = (env: Environment) => ({ digestKey: env["DIMSYNC_DIGEST_KEY"] });

/** Saves a plan as a file. Throws the signal's reason, and like `writePlanFile`. */
export async function savePlan(file: string, plan: Plan, { env, signal }: Pick<RunEnvironment, "env" | "signal">): Promise<void> {
  signal.throwIfAborted();
  await writePlanFile(file, plan, digestKeyIn(env));
}

/** Reads a saved plan and checks that it was not edited; `checkSavedPlan` checks whether it can be used. Throws like `readPlanFile`. */
export const readSavedPlan = (file: string, env: Environment): Promise<Plan> =>
  readPlanFile(file, { ...digestKeyIn(env), validate: (value) => planValidator(value) });

/** Reads saved plans, drift reports or results. Throws like `readDocuments`. */
export function readSavedDocuments(file: string, env: Environment): ReturnType<typeof readDocuments> {
  const validate = (value: unknown): boolean => {
    const kind = isObject(value) ? value["kind"] : undefined;
    return kind === "Result" ? result(value) : kind === "DriftReport" ? drift(value) : planValidator(value);
  };
  return readDocuments(file, { ...digestKeyIn(env), validate });
}

const dayMs = 24 * 60 * 60 * 1000;
/** The clocks of two machines differ a little; a plan from the future would expire too late. */
const skewMs = 60 * 60 * 1000;

const newPlan = "dimsync plan --out plan.json";

/**
 * Refuses a saved plan that cannot be used: for another target, account or manifests, too old, or already applied
 * (exit 5); or, for a protected target, not made from a clean git tree at HEAD (exit 3). `git` is the state of the project now.
 */
export async function checkSavedPlan(
  plan: Plan,
  { settings, manifestDigest }: Pick<Project, "settings" | "manifestDigest">,
  { git, records }: { readonly git: Plan["git"]; readonly records: Pick<Records, "wasApplied"> },
  maxAgeMs = dayMs,
): Promise<void> {
  checkTarget(plan, settings);
  checkAge(plan, maxAgeMs);
  if (plan.manifestDigest !== manifestDigest())
    refuse(
      "E_STALE",
      `The manifests or their variables changed after the plan was made${commitsText(plan.git, git)}. Make and review a new plan.`,
    );
  const applied = await records.wasApplied(plan.planId);
  if (applied !== undefined)
    refuse("E_PLAN_APPLIED", `The plan was already applied at ${applied.at} by run ${applied.runId}. Make and review a new plan.`);
  if (settings.protected) checkTree(plan, settings, git);
}

/** A saved plan is executed as it is. Throws E_USAGE if `--protect-only` would have made another one. */
export function refuseOtherMode({ options }: Plan, protectOnly: boolean): void {
  if (!protectOnly || options?.protectOnly === true) return;
  throw new DimsyncError(
    "E_USAGE",
    "The plan was made without --protect-only, and apply executes a saved plan as it is. Make a new plan.",
    {
      command: "dimsync plan --protect-only --out plan.json",
    },
  );
}

function refuse(code: Code, message: string): never {
  throw new DimsyncError(code, message, { exit: 5, command: newPlan });
}

function checkTarget(plan: Plan, { target, baseUrl }: Settings): void {
  const account = accountName(baseUrl);
  if (plan.target !== target)
    refuse("E_PLAN_TARGET", `The plan is for target ${JSON.stringify(plan.target)}, not ${JSON.stringify(target)}.`);
  if (plan.account !== account)
    refuse("E_PLAN_TARGET", `The plan is for the account ${plan.account}, but target ${JSON.stringify(target)} is now ${account}.`);
}

function checkAge({ createdAt }: Plan, maxAgeMs: number): void {
  const ageMs = Date.now() - Date.parse(createdAt);
  if (!(ageMs <= maxAgeMs))
    refuse(
      "E_STALE",
      `The plan was made at ${createdAt} and expired after ${durationText(maxAgeMs)} (--max-plan-age). Make and review a new plan.`,
    );
  if (ageMs < -skewMs)
    refuse(
      "E_STALE",
      `The plan was made at ${createdAt}, which is in the future. Check the clock of this machine and of the one that made the plan.`,
    );
}

function checkTree({ git: made }: Plan, { target }: Settings, now: Plan["git"]): void {
  const why = whyNotAtHead(made, now);
  if (why === undefined) return;
  throw new DimsyncError(
    "E_PROTECTED",
    `Target ${JSON.stringify(target)} is protected: apply only accepts a plan that was made from a clean git tree at HEAD. ${why}`,
    { exit: 3, command: newPlan },
  );
}

function whyNotAtHead(made: Plan["git"], now: Plan["git"]): string | undefined {
  if (made === undefined) return "This plan was made outside a git repository, or git did not respond.";
  if (made.leftOut !== undefined)
    return `This plan was made in a sparse checkout that leaves out ${andMore(made.leftOut, "file")}. Check the files out and make a new plan.`;
  if (made.dirty) {
    const files = andMore(made.changedFiles ?? [], "file");
    return `This plan was made with uncommitted changes${files === "" ? "" : ` in ${files}`}. Commit them and make a new plan.`;
  }
  if (now === undefined) return "This folder is not in a git repository, or git did not respond.";
  return made.commit === now.commit
    ? undefined
    : `This plan was made at ${made.commit.slice(0, 12)}, but HEAD is ${now.commit.slice(0, 12)}. Make a new plan.`;
}

/** Protected targets only accept plans that could be reviewed. Throws E_PROTECTED, exit 3. */
export function refuseUnsavedOnProtected({ protected: isProtected, target }: Settings): void {
  if (!isProtected) return;
  throw new DimsyncError(
    "E_PROTECTED",
    `Target ${JSON.stringify(target)} is protected: apply only accepts a saved plan that was made from a clean git tree at HEAD.`,
    { exit: 3, command: `${newPlan} && dimsync apply plan.json` },
  );
}

function commitsText(made: Plan["git"], now: Plan["git"]): string {
  if (made === undefined || now === undefined || made.commit === now.commit) return "";
  return ` (at commit ${made.commit.slice(0, 12)}; HEAD is now ${now.commit.slice(0, 12)})`;
}

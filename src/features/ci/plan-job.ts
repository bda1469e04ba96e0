import { relative, resolve, sep } from "node:path";
import { ofTarget } from "../../cli/each-target.ts";
import type { Failure } from "../../cli/github-outputs.ts";
import { withSignalsCaught } from "../../cli/io.ts";
import { checkOutputs, checkWritable, writeDocuments, writeMetricsFlag } from "../../cli/output.ts";
import { failOnFlags } from "../../cli/plan-options.ts";
import { loadOptions, loadProjects } from "../../cli/project.ts";
import { printError } from "../../cli/report-error.ts";
import { say } from "../../cli/say.ts";
import type { FailOn } from "../../core/engine/exit-codes.ts";
import { extractBase, type ReviewBase } from "../../core/git/base.ts";
import { repositoryTop } from "../../core/git/top.ts";
import { listTargets, type Project } from "../../core/manifests/project.ts";
import { DimsyncError, ProblemsError } from "../../core/model/errors.ts";
import type { ExitCode } from "../../core/model/exit.ts";
import type { Loosened, Plan } from "../../core/model/plan.ts";
import type { Environment } from "../../core/model/settings/env.ts";
import { planAccount } from "../../core/operations/plan.ts";
import { savePlan } from "../../core/operations/saved-plan.ts";
import { validateProject } from "../../core/operations/validate.ts";
import { isProjectChanged } from "./changed-files.ts";
import { ownersOf } from "./code-owners.ts";
import { type CiContext, type CiJob, eachJobTarget, endJob, jobDestinations, planSinceApply, targetsOutput, touchedLines } from "./job.ts";
import { notMade } from "./plan-comment.ts";
import { commentPlans, type PlannedTargets, withdrawComments } from "./provider.ts";
import { targetChange } from "./target-changes.ts";

/** `dimsync ci plan`: plans each target, and comments on the pull request. */
export async function planJob(context: CiContext, job: CiJob): Promise<ExitCode> {
  const { io, flags, cwd } = context;
  if (job.environment.isRestricted && !hasKey(io.env)) {
    say(io, "A pull request from a fork or from Dependabot has no secrets, so dimsync only validates its manifests.");
    return await validateJob(context, job, []);
  }
  const otherBranch = wrongTarget(job);
  if (otherBranch !== undefined) return await validateJob(context, job, [printError(context, otherBranch)]);
  const isCommented = flags.comment !== false;
  const planned = await planTargets(context, job).catch(async (error: unknown) => {
    if (isCommented) await withdrawComments(job, flags.target);
    throw error;
  });
  const { plans, failed, projects } = planned;
  const planFile = flags.out === undefined || plans.length === 0 ? undefined : resolve(cwd, flags.out);
  if (planFile !== undefined)
    for (const plan of plans) await withSignalsCaught(io, () => savePlan(planFile, plan, { env: io.env, signal: io.interrupted }));
  const failures = failed.map(({ target, failure }) => ({ ...failure, title: notMade("plan", target) }));
  const touched = await touchedLines(context, job, { documents: plans, failures });
  if (plans.length > 0) await writeDocuments(context, jobDestinations(context, job), plans, touched);
  await writeMetricsFlag(context, plans);
  const code = await endJob(context, job, {
    documents: plans,
    failures,
    touched,
    outputs: targetsOutput(job, projects),
    ...(planFile === undefined ? {} : { planFile }),
  });
  if (isCommented) await commentPlans(job, { ...planned, ...touched });
  return code;
}

interface Planned extends PlannedTargets {
  readonly projects: readonly Project[];
}

/** A target that the pull request changed is not planned, because its author could have changed it to get the API key. */
async function planTargets(context: CiContext, job: CiJob): Promise<Planned> {
  const { flags, cwd } = context;
  checkOutputs(context);
  const failOn = flags.failOn.length === 0 ? (["blocked"] as const) : failOnFlags(flags.failOn, "Plan");
  if (flags.out !== undefined) checkWritable("--out", flags.out, resolve(cwd, flags.out));
  const projects = await loadProjects(context, { account: true, interruptible: true });
  if (flags.out !== undefined && projects.length > 1)
    throw new DimsyncError("E_USAGE", "--out saves the plan of one target. Select it with -t NAME.");
  // Each target is compared with the same commit: while the job reads its files, they are not read from git again.
  const shared = await job
    .base()
    .then((base) => (base === undefined ? undefined : extractBase(cwd, base.tip, job.env)))
    .catch(() => undefined);
  const { made, failed } = await eachJobTarget(context, projects, async (project) => {
    const base = await job.base();
    const change = base === undefined ? undefined : await targetChange(project, base.tip, loadOptions(context, []));
    if (change !== undefined) throw new ProblemsError([change], project.locate);
    return base !== undefined && (await isUntouched(context, job, { project, base }))
      ? undefined
      : await planTarget(context, job, { project, failOn });
  }).finally(() => shared?.release());
  const known = await listTargets(loadOptions(context, []));
  const plans = await Promise.all(made.flatMap(({ document }) => (document === undefined ? [] : [withOwners(document, cwd)])));
  const unchanged = made.flatMap(({ project, document }) => (document === undefined ? [project.settings.target] : []));
  for (const target of unchanged) say(context.io, `${target}: no file of the project changed, so there is no plan.`);
  return { plans, failed, projects, known, unchanged };
}

/** Whether the job is for a pull request, or for what a merge queue would merge, that changes no file of the project. */
async function isUntouched(
  { cwd }: CiContext,
  { environment, env }: CiJob,
  { project, base }: { readonly project: Project; readonly base: ReviewBase },
): Promise<boolean> {
  const isRequest = environment.isPullRequest || env["GITHUB_EVENT_NAME"] === "merge_group";
  if (!isRequest || base.commit === base.head) return false;
  return !(await isProjectChanged({ folder: cwd, env }, project, { from: base.commit, to: base.head }));
}

/** The plan with the owners of the files whose policies it loosens. */
async function withOwners(plan: Plan, cwd: string): Promise<Plan> {
  const { loosened } = plan;
  const top = repositoryTop(cwd);
  if (loosened === undefined || top === undefined) return plan;
  const pathOf = (file: string): string => relative(top, resolve(cwd, file)).split(sep).join("/");
  const isOfPolicy = ({ code }: Loosened): boolean => /^(?:policy|exemption)-/u.test(code);
  const files = [...new Set(loosened.filter(isOfPolicy).flatMap(({ file }) => (file === undefined ? [] : [pathOf(file)])))];
  const owners = new Map((await ownersOf(top, files)).map(({ file, names }) => [file, names]));
  return {
    ...plan,
    loosened: loosened.map((entry) => {
      const names = isOfPolicy(entry) && entry.file !== undefined ? owners.get(pathOf(entry.file)) : undefined;
      return names === undefined ? entry : { ...entry, owners: names };
    }),
  };
}

/** What the job is reviewed against, or the commit that was applied last, shows what the manifests cause, and what someone changed in the account. */
async function planTarget(
  context: CiContext,
  { environment, base: baseOf }: CiJob,
  { project, failOn }: { readonly project: Project; readonly failOn: readonly FailOn[] },
): Promise<Plan> {
  const base = await baseOf();
  if (base === undefined || (!environment.isPullRequest && base.commit === base.head))
    return await ofTarget(context, project, planSinceApply(context, failOn));
  const plan: typeof planAccount = (given, options, run) => planAccount(given, { ...options, failOn }, run);
  return await ofTarget({ ...context, flags: { ...context.flags, base: base.commit } }, project, plan);
}

/** An error if the pull request would be merged into another branch than apply watches: its author chose what it would be compared with. */
function wrongTarget({ environment: { targetBranch, appliedBranch } }: CiJob): DimsyncError | undefined {
  if (targetBranch === undefined || appliedBranch === undefined || targetBranch === appliedBranch) return undefined;
  return new DimsyncError(
    "E_TARGET_CHANGED",
    `The pull request would be merged into ${JSON.stringify(targetBranch)}, but apply watches ${JSON.stringify(appliedBranch)}. The manifests were only validated: no secret was read and there is no plan. The plan is made in the pull request into ${JSON.stringify(appliedBranch)}. If apply watches another branch, set DIMSYNC_APPLIED_BRANCH to its name.`,
  );
}

/** Only validates, without any key. `failures`: why there is no plan, if that is a failure. */
async function validateJob(context: CiContext, job: CiJob, failures: readonly Failure[]): Promise<ExitCode> {
  checkOutputs(context);
  const projects = await loadProjects(context, { interruptible: true });
  const documents = await Promise.all(projects.map(validateProject));
  const touched = await touchedLines(context, job, { documents, failures });
  await writeDocuments(context, jobDestinations(context, job), documents, touched);
  const code = await endJob(context, job, { documents, failures: failures.map((one) => ({ ...one, title: "No plan" })), touched });
  const failed = projects.flatMap(({ settings: { target } }) => failures.map((failure) => ({ target, failure })));
  if (failed.length > 0 && context.flags.comment !== false)
    await commentPlans(job, { plans: [], failed, known: await listTargets(loadOptions(context, [])) });
  return code;
}

const hasKey = ({ DIMSYNC_API_KEY: key, DIMSYNC_API_KEY_FILE: file }: Environment): boolean => (key ?? "") !== "" || (file ?? "") !== "";

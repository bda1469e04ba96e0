import { resolve } from "node:path";
import { baseOfTarget, ofTarget } from "../../cli/each-target.ts";
import type { CommandFailure } from "../../cli/github-outputs.ts";
import { say, withSignalsCaught } from "../../cli/io.ts";
import { checkOutputs, checkWritable, filePrefix, writeDocuments } from "../../cli/output.ts";
import { failOnFlags } from "../../cli/plan-options.ts";
import { loadOptions, loadProjects } from "../../cli/project.ts";
import { failureOf, printError } from "../../cli/report-error.ts";
import { extractBase, type ReviewBase } from "../../core/base/git/base.ts";
import { DimsyncError, ProblemsError } from "../../core/base/model/errors.ts";
import type { ExitCode } from "../../core/base/model/exit.ts";
import { canonicalJson, defined, type JsonValue } from "../../core/base/model/json/json.ts";
import { toPointer } from "../../core/base/model/json/pointer.ts";
import type { Plan } from "../../core/base/model/plan.ts";
import type { Problem } from "../../core/base/model/problem.ts";
import type { Environment } from "../../core/base/model/settings/env.ts";
import { listTargets, loadSettings, type Project, shownPath } from "../../core/manifests/index.ts";
import type { CiEnvironment } from "../../core/operations/forge/index.ts";
import { atBase, planAccount, savePlan, validateProjects } from "../../core/operations/index.ts";
import type { FailOn } from "../../core/plan/index.ts";
import { refuseTrackedState } from "../../core/records/index.ts";
import { targetPlace } from "../../core/render/index.ts";
import { isProjectChanged } from "./changed-files.ts";
import { type CiContext, type CiJob, eachJobTarget, endJob, jobDestinations, type StepNote, targetsOutput, touchedLines } from "./job.ts";
import { notComparedText, notMade } from "./plan-comment.ts";
import { commentPlans, type PlannedTargets, withdrawComments } from "./provider.ts";

/** `dimsync ci plan`: plans each target, and comments on the pull request. */
export async function planJob(context: CiContext, job: CiJob): Promise<ExitCode> {
  const { io, flags, cwd } = context;
  if (job.environment.isRestricted && !(await hasKey(context))) {
    say(io, `${noSecrets} ${onlyValidated}`);
    return await validateJob(context, job, []);
  }
  const otherBranch = wrongTarget(job);
  if (otherBranch !== undefined) return await validateJob(context, job, [printError(context, otherBranch)]);
  const isCommented = flags.comment !== false;
  const planned = await planTargets(context, job).catch(async (error: unknown) => {
    if (isCommented && !io.interrupted.aborted) await withdrawComments(job, flags.target, failureOf(error));
    throw error;
  });
  const { plans, failed, projects } = planned;
  const planFile = flags.out === undefined || plans.length === 0 ? undefined : resolve(cwd, flags.out);
  if (planFile !== undefined)
    for (const plan of plans) await withSignalsCaught(io, () => savePlan(planFile, plan, { env: io.env, signal: io.interrupted }));
  const failures = failed.map(({ target, failure }) => ({ ...failure, title: notMade("plan", targetPlace(target, filePrefix(context))) }));
  const touched = await touchedLines(context, job, { documents: plans, failures });
  if (plans.length > 0) await writeDocuments(context, jobDestinations(context, job), plans, touched);
  const code = await endJob(context, job, {
    documents: plans,
    failures,
    touched,
    outputs: targetsOutput(job, projects),
    notes: planned.unchanged.map((target) => notCompared(targetPlace(target, filePrefix(context)))),
    ...(planFile === undefined ? {} : { planFile }),
  });
  if (isCommented) await commentPlans(job, { ...planned, ...touched });
  return code;
}

/** Says in the step of a target that its account was not read. */
const notCompared = (place: string): StepNote => ({ line: `${place}: not compared`, text: `${notComparedText(place)}\n` });

interface Planned extends PlannedTargets {
  readonly unchanged: readonly string[];
  readonly projects: readonly Project[];
}

/** A target that the pull request changed is not planned, because its author could have changed it to get the API key. */
async function planTargets(context: CiContext, job: CiJob): Promise<Planned> {
  const { flags, cwd } = context;
  checkOutputs(context);
  const failOn = flags.failOn.length === 0 ? (["blocked"] as const) : failOnFlags(flags.failOn, "Plan");
  if (flags.out !== undefined) checkWritable("--out", flags.out, resolve(cwd, flags.out));
  // Git starts when the secrets of the manifests are known, so that none is in its environment.
  const projects = await loadProjects(context, { account: true, interruptible: true });
  // Each target is compared with the same commit: while the job reads its files, they are not read from git again.
  const shared = job
    .base()
    .then((base) => (base === undefined ? undefined : extractBase(cwd, base.tip, job.env)))
    .catch(() => undefined);
  const { made, failed } = await planEach(context, job, { projects, failOn }).finally(async () => (await shared)?.release());
  const known = await listTargets(loadOptions(context, []));
  const plans = made.flatMap(({ document }) => document ?? []);
  const unchanged = made.flatMap(({ project, document }) => (document === undefined ? [project.settings.target] : []));
  for (const target of unchanged)
    say(context.io, `${targetPlace(target, filePrefix(context))}: not compared, because no file of the project changed.`);
  return { plans, failed, projects, known, unchanged };
}

interface EachPlan {
  readonly projects: readonly Project[];
  readonly failOn: readonly FailOn[];
}

async function planEach(context: CiContext, job: CiJob, { projects, failOn }: EachPlan) {
  if (context.flags.out !== undefined && projects.length > 1)
    throw new DimsyncError("E_USAGE", "--out saves the plan of one target. Select it with -t NAME.");
  return await eachJobTarget(context, projects, async (project) => {
    await refuseTrackedState(project.settings.folder, job.env);
    const base = await job.base();
    if (base === undefined) return await planTarget(context, job, { project, failOn });
    const [change, isSame] = await Promise.all([targetChange(project, base.tip), isUntouched(context, job, { project, base })]);
    if (change !== undefined) throw new ProblemsError([change], project.locate);
    return isSame ? undefined : await planTarget(context, job, { project, failOn });
  });
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

/** What the job is reviewed against, or the commit that was applied last, shows what the manifests cause, and what someone changed in the account. */
async function planTarget(
  context: CiContext,
  { environment, env, base: baseOf }: CiJob,
  { project, failOn }: { readonly project: Project; readonly failOn: readonly FailOn[] },
): Promise<Plan> {
  const base = await baseOf();
  const isReviewed = base !== undefined && (environment.isPullRequest || base.commit !== base.head);
  const loadBase = isReviewed ? () => baseOfTarget(context, project, base) : undefined;
  const plan = await ofTarget(context, project, (given, options, run) =>
    planAccount(given, { ...options, ...defined({ loadBase }), failOn }, run),
  );
  const reviews = reviewedBy(environment, env);
  return isReviewed ? { ...plan, ...defined({ reviews }) } : plan;
}

/** What the plan is a review of, if it is not a pull request. */
function reviewedBy({ provider }: CiEnvironment, env: Environment): Plan["reviews"] {
  if (provider === "gitlab") return "merge request";
  return env["GITHUB_EVENT_NAME"] === "merge_group" ? "merge group" : undefined;
}

/** An error if the pull request would be merged into another branch than apply watches: its author chose what it would be compared with. */
function wrongTarget({ environment: { targetBranch, appliedBranch } }: CiJob): DimsyncError | undefined {
  if (targetBranch === undefined || appliedBranch === undefined || targetBranch === appliedBranch) return undefined;
  return new DimsyncError(
    "E_TARGET_CHANGED",
    `The pull request would be merged into ${JSON.stringify(targetBranch)}, but apply watches ${JSON.stringify(appliedBranch)}. The manifests were only validated: no secret was read and there is no plan. The plan is made in the pull request into ${JSON.stringify(appliedBranch)}. If apply watches another branch, set DIMSYNC_APPLIED_BRANCH to its name.`,
  );
}

const noSecrets = "A pull request from a fork or from Dependabot has no secrets.";
const onlyValidated = "The manifests are only validated: nothing is compared with the account.";

/** Only validates, without any key. `failures`: why there is no plan, if that is a failure. */
async function validateJob(context: CiContext, job: CiJob, failures: readonly CommandFailure[]): Promise<ExitCode> {
  checkOutputs(context);
  const projects = await loadProjects(context, { interruptible: true });
  for (const { settings } of projects) await refuseTrackedState(settings.folder, job.env);
  // A fork brings no secret, and git needs none to read the base.
  const base = job.environment.isRestricted ? await job.base() : undefined;
  const documents = [await validateProjects(projects, async (project) => base && (await baseOfTarget(context, project, base)))];
  const touched = await touchedLines(context, job, { documents, failures });
  const notes =
    failures.length > 0 ? [] : [{ line: "not compared with the account", text: `## Not compared with the account\n\n${noSecrets}\n` }];
  await writeDocuments(context, jobDestinations(context, job), documents, touched);
  const code = await endJob(context, job, { documents, failures: failures.map((one) => ({ ...one, title: "No plan" })), touched, notes });
  const failed = projects.flatMap(({ settings: { target } }) => failures.map((failure) => ({ target, failure })));
  if (failed.length > 0 && context.flags.comment !== false)
    await commentPlans(job, { plans: [], failed, known: await listTargets(loadOptions(context, [])) });
  return code;
}

/** Whether the job has the key of a target. */
async function hasKey(context: CiContext): Promise<boolean> {
  const { env } = context.io;
  const isSet = (name: string | undefined): boolean => name !== undefined && (env[name] ?? "") !== "";
  if (isSet("DIMSYNC_API_KEY") || isSet("DIMSYNC_API_KEY_FILE")) return true;
  const projects = await loadProjects(context, { interruptible: true });
  return projects.some(({ settings }) => isSet(settings.apiKey?.$secret.env));
}

/** What decides which secrets a run reads, and where it sends them, in dimsync.yaml. */
const memberNames = ["baseUrl", "apiKey", "records", "notify"] as const;

/**
 * An error for a target that reaches other secrets or hosts than at `commit`, the tip of the branch that apply watches: the author of a pull request could have changed
 * it to get the API key, or to show the plan of another account. Undefined if it is unchanged. Throws E_BASE_UNREADABLE.
 */
async function targetChange(project: Project, commit: string): Promise<Problem | undefined> {
  const now = reachOf(project.settings);
  // Without a usable config there is no such target at the commit.
  const before = await atBase(project, commit, (there) => orUnusable(loadSettings(there).then(reachOf)));
  const changed =
    before === undefined
      ? ["it is new, or its configuration was not valid before"]
      : memberNames.filter((_, index) => before[index] !== now[index]);
  return changed.length === 0 ? undefined : problemOf(project, changed);
}

/** Undefined if the config cannot be used. */
async function orUnusable<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ProblemsError) return undefined;
    throw error;
  }
}

const reachOf = (settings: Project["settings"]): readonly string[] =>
  memberNames.map((name) => canonicalJson((settings[name] ?? null) as JsonValue)); // parts of dimsync.yaml are JSON

function problemOf({ settings: { target }, configFile, options: { cwd } }: Project, changed: readonly string[]): Problem {
  const member = changed.find((one) => memberNames.some((name) => name === one)) ?? "";
  const pointer = toPointer(["targets", target, ...(member === "" ? [] : [member])]);
  return {
    code: "E_TARGET_CHANGED",
    severity: "error",
    message: `Target ${JSON.stringify(target)} differs from the branch that apply watches: ${changed.join(", ")}. A pull request could send the API key elsewhere with it, or show the plan of another account, so no secret was read and there is no plan. Review this change. The plan is made after the merge; someone who has the key can make it now on their own machine with dimsync plan.`,
    ...(configFile === undefined ? {} : { place: { file: shownPath(cwd, configFile), document: 0, pointer, on: "key" } }),
  };
}

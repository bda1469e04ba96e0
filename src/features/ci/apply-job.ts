import { resolve } from "node:path";
import { ofTarget } from "../../cli/each-target.ts";
import { stepPieces, writeGithubStep } from "../../cli/github-outputs.ts";
import { checkOutputs, type Destination, writeDocuments } from "../../cli/output.ts";
import { applyOptions, failOnFlags, refuseReadOnly } from "../../cli/plan-options.ts";
import { withRun } from "../../cli/progress.ts";
import { loadOptions, loadProjects } from "../../cli/project.ts";
import { printError } from "../../cli/report-error.ts";
import { say } from "../../cli/say.ts";
import { allowGuards } from "../../core/apply/rounds.ts";
import { allowances } from "../../core/engine/checks/allow.ts";
import { planExit } from "../../core/engine/exit-codes.ts";
import type { Rest } from "../../core/forge/rest.ts";
import { gitText } from "../../core/git/process.ts";
import type { Project } from "../../core/manifests/project.ts";
import { DimsyncError } from "../../core/model/errors.ts";
import type { ExitCode } from "../../core/model/exit.ts";
import { isObject, own } from "../../core/model/json/json.ts";
import type { Plan, Result } from "../../core/model/plan.ts";
import type { Problem } from "../../core/model/problem.ts";
import { isLocal } from "../../core/model/settings/config.ts";
import { titles } from "../../core/model/titles.ts";
import { applyAccount, recordUnchanged } from "../../core/operations/apply.ts";
import { readSavedPlan } from "../../core/operations/saved-plan.ts";
import { shellWord } from "../../core/text/shell.ts";
import { commentMarker, sectionsIn } from "./comments.ts";
import { type CiContext, type CiJob, endJob, isStep, jobDestinations, planSinceApply, stdoutFormat, targetsOutput } from "./job.ts";
import { differenceFrom } from "./plan-comment.ts";
import { commentsOf, openJobProvider } from "./provider.ts";
import { originCredentials } from "./push-credentials.ts";

/**
 * `dimsync ci apply [FILE]`: makes a plan of each target, shows it and applies exactly that plan,
 * which also works for protected targets. With a file, applies that plan. Stops at the first target that
 * fails without a result.
 */
export async function applyJob(given: CiContext, job: CiJob, planFile: string | undefined): Promise<ExitCode> {
  const { flags, io, cwd } = given;
  if (flags.allTargets === true) throw new DimsyncError("E_USAGE", "dimsync ci apply takes each target by name. Name them with -t.");
  checkOutputs(given);
  refuseReadOnly(given);
  // Records are pushed to the remote of the checkout.
  const context = { ...given, io: { ...io, env: originCredentials(job.environment, io.env) } };
  // An unknown target is reported before the first one is written to.
  const projects = await loadProjects(context, { account: true, interruptible: true });
  if (planFile !== undefined && projects.length > 1) throw new DimsyncError("E_USAGE", "A saved plan is for one target. Name it with -t.");
  const saved = planFile === undefined ? undefined : await readSavedPlan(resolve(cwd, planFile), io.env);
  const log = openLog(context, job);
  const documents: (Plan | Result)[] = [];
  const failures: unknown[] = [];
  const attempt = (work: () => Promise<void>): Promise<void> => work().catch((error: unknown) => void failures.push(error));
  for (const project of projects) {
    warnOfLocalRecords(context, job, project);
    await attempt(() => applyTarget(context, project, { saved, log, job, onDocument: (document) => documents.push(document) }));
    if (failures.length > 0 || io.interrupted.aborted) break;
  }
  await attempt(() => log.end(documents));
  return await endJob(context, job, {
    documents,
    failures: io.interrupted.aborted ? [] : failures.map((error) => printError(context, error)),
    outputs: targetsOutput(job, projects),
    isSummarized: true,
  });
}

interface TargetApply {
  /** A plan that the user saved; undefined: make one. */
  readonly saved: Plan | undefined;
  readonly log: ApplyLog;
  readonly job: CiJob;
  /** Called with the result, or with a plan that has no changes or cannot be applied. */
  readonly onDocument: (document: Plan | Result) => void;
}

async function applyTarget(context: CiContext, project: Project, { saved, log, job, onDocument }: TargetApply): Promise<void> {
  const report = async (document: Plan | Result): Promise<void> => {
    onDocument(document);
    await log.document(document);
  };
  const failOn = failOnFlags(context.flags.failOn, "Plan");
  const made = saved ?? (await ofTarget(context, project, planSinceApply(context, failOn)));
  const { items, deferred, held = [] } = made;
  if (saved === undefined && (made.exit.code !== 0 || items.length + deferred.length + held.length === 0)) {
    if (made.exit.code === 0) await withRun(context, (run) => recordUnchanged(project, made, run));
    return await report(made);
  }
  const plan = saved ?? (await comparedWithReview(context, job, project, made));
  if (saved === undefined && plan.exit.code !== 0) return await report(plan);
  await log.plan(plan);
  const how = saved === undefined ? { isOwnPlan: true } : { sinceApply: loadOptions(context, []) };
  const options = { ...applyOptions(context), saved: plan, ...how };
  const { result } = await withRun(context, (run) => applyAccount(project, options, run));
  await report(result);
}

/** The log of the job, in which the targets follow one another, and the files of `-o`, which are written at the end. */
interface ApplyLog {
  /** Shows a plan before it is applied. */
  readonly plan: (plan: Plan) => Promise<void>;
  readonly document: (document: Plan | Result) => Promise<void>;
  /** Throws E_OUTPUT. */
  readonly end: (documents: readonly (Plan | Result)[]) => Promise<void>;
}

/** A file in the checkout would make the work tree of the next target's plan unclean, so files are written at the end. */
function openLog(context: CiContext, job: CiJob): ApplyLog {
  const { io } = context;
  const all = jobDestinations(context, job);
  const format = stdoutFormat(context, job);
  // One document for all targets can only be written at the end, and the log goes to stderr.
  const isLog = format === "human" || format === "github";
  const onStderr = { ...context, io: { ...io, stdout: io.stderr } };
  const summarize = (document: Plan | Result): void => {
    if (isStep(context, job)) writeGithubStep(io.env, { ...stepPieces(io.env, [document]), outputs: {} });
  };
  const show = async (document: Plan | Result, to: Destination): Promise<void> =>
    writeDocuments(to.format === "human" && !isLog ? onStderr : context, [to], [document]);
  return {
    plan: async (plan) => {
      await show(plan, { format: "human" });
      summarize(plan);
    },
    document: async (document) => {
      await show(document, { format: isLog ? format : "human" });
      summarize(document);
    },
    end: async (documents) => {
      if (documents.length === 0) return;
      const isWrittenAtEnd = (one: Destination): boolean => one.file !== undefined || !isLog;
      await writeDocuments(context, all.filter(isWrittenAtEnd), documents);
    },
  };
}

/** Records in files are lost with the machine of the job, and a later create could be the second one. */
function warnOfLocalRecords({ io }: CiContext, { environment }: CiJob, { settings: { records, target } }: Project): void {
  if (environment.provider === "none" || !isLocal(records)) return;
  say(
    io,
    `${target}: the records are files of this machine, so later jobs do not know what this one creates. Move them to the remote of the repository:`,
    `dimsync records migrate --to git -t ${shellWord(target)}`,
  );
}

/**
 * The plan of a job that applies, which says how it differs from the one that people read in the comment of the merged pull request: the account, a variable
 * or another pull request may have changed since. With the guard `planDiffers`, it is then refused.
 */
async function comparedWithReview(context: CiContext, job: CiJob, project: Project, plan: Plan): Promise<Plan> {
  if (!job.environment.isAppliedPush) return plan;
  const { guards, allow } = project.settings;
  const isRefused = guards.planDiffers === "refuse";
  const found = await differenceOf(job, plan, context.cwd).catch((error: unknown) => {
    if (!(error instanceof DimsyncError) || error.code === "E_INTERRUPTED") throw error;
    return { isKnown: false, message: `The comment that people reviewed could not be read: ${error.message}` };
  });
  if (found === undefined || !(found.isKnown || isRefused)) return plan;
  const { message } = found;
  const code = "W_PLAN_DIFFERS";
  const problem: Problem = { code, severity: "warning", message };
  const diagnostics = [{ ...problem, summary: titles[code] }, ...plan.diagnostics];
  if (!isRefused) return { ...plan, diagnostics };
  const entry = allowances(allow, plan.createdAt.slice(0, 10)).current.find(({ guard }) => guard === "planDiffers");
  const lifted = entry === undefined ? {} : { allowed: entry.reason, until: entry.until };
  const finding = { guard: "planDiffers" as const, message, ...lifted };
  const guarded = allowGuards({ ...plan, diagnostics, guards: [...plan.guards, finding] }, applyOptions(context).allow);
  return { ...guarded, exit: planExit(guarded) };
}

/** How the plan differs from the one in the comment; undefined if it does not. `isKnown`: whether there was something to compare it with. */
async function differenceOf(
  job: CiJob,
  plan: Plan,
  cwd: string,
): Promise<{ readonly isKnown: boolean; readonly message: string } | undefined> {
  const rest = openJobProvider(job);
  if (rest === undefined) return { isKnown: false, message: "There is no token to read the comment that people reviewed." };
  const commit = await gitText({ folder: cwd, env: job.env }, ["rev-parse", "HEAD"]);
  const number = await mergedRequest(rest, job, commit);
  if (number === undefined)
    return { isKnown: false, message: `No pull request was merged with commit ${commit.slice(0, 12)}, so nobody reviewed this plan.` };
  const comments = await commentsOf(job, rest, number).list();
  const sections = sectionsIn(comments, commentMarker(job.environment.folder));
  const section = sections.find(({ target }) => target === plan.target);
  const what = `The plan differs from the one that people read in pull request ${number}`;
  const difference = differenceFrom(section?.state ?? "", plan);
  return difference === undefined
    ? undefined
    : { isKnown: true, message: `${what}: ${difference}. Read it before you approve or repeat this job.` };
}

/** The number of the pull or merge request that was merged with the commit. */
async function mergedRequest(rest: Rest, { environment: { provider, repository } }: CiJob, commit: string): Promise<string | undefined> {
  const path =
    provider === "github"
      ? `/repos/${repository}/commits/${commit}/pulls?per_page=100`
      : `/projects/${encodeURIComponent(repository)}/repository/commits/${commit}/merge_requests?per_page=100`;
  const isMerged = (one: Readonly<Record<string, unknown>>): boolean => typeof own(one, "merged_at") === "string";
  const found = (await rest.list(path)).filter(isObject).filter(isMerged);
  const number = found.map((one) => own(one, provider === "github" ? "number" : "iid"))[0];
  return typeof number === "number" ? String(number) : undefined;
}

import { openProvider } from "../forge/open-provider.ts";
import type { Rest } from "../forge/rest.ts";
import { DimsyncError } from "../model/errors.ts";
import type { Plan } from "../model/plan.ts";
import { visible } from "../text/control-characters.ts";
import { workflowCommand, writeCommands } from "../text/workflow-commands.ts";
import { type Comments, markerOf, markerPrefix, noPlanComment, planComment, upsertComment, withdrawPlans } from "./comments.ts";
import { githubIssues, pullRequestComments } from "./github.ts";
import { gitlabIssues, mergeRequestComments } from "./gitlab.ts";
import { upsertDriftIssue } from "./issues.ts";
import type { CiJob, FailedTarget } from "./job.ts";

/** The label of drift issues, by which they are found. */
const driftLabel = "dimsync-drift";

/**
 * Puts each plan into its comment on the pull or merge request, and why there is none for the other targets. Throws only
 * E_INTERRUPTED.
 */
export async function commentPlans(job: CiJob, plans: readonly Plan[], failed: readonly FailedTarget[]): Promise<void> {
  const comments = openComments(job);
  if (comments === undefined) return;
  const footer = footerOf(job);
  const texts = [
    ...plans.map((plan) => ({ target: plan.target, ...planComment(plan, footer) })),
    ...failed.map((one) => ({ target: one.target, ...noPlanComment(one, footer) })),
  ];
  for (const { target, ...comment } of texts)
    await orWarn(job, "The plan is in the log and the summary of this job, but not in a comment.", async () => {
      const outcome = await upsertComment(comments, { marker: markerOf("plan", job.environment.folder, target), ...comment });
      job.log(`dimsync: comment for ${visible(target)}: ${outcome}\n`);
    });
}

/**
 * Replaces the plans in the comments of the targets after a run without a plan; without targets, in
 * those of all targets. Throws only E_INTERRUPTED.
 */
export async function withdrawComments(job: CiJob, targets: readonly string[]): Promise<void> {
  const comments = openComments(job);
  if (comments === undefined) return;
  const { folder } = job.environment;
  const prefixes = targets.length === 0 ? [markerPrefix("plan", folder)] : targets.map((target) => markerOf("plan", folder, target));
  await orWarn(job, "The comments still show the plans of an earlier run.", () => withdrawPlans(comments, prefixes, footerOf(job)));
}

/**
 * Keeps the issue of each report's target up to date. Returns whether every report is in an issue.
 * Throws only E_INTERRUPTED.
 */
export async function reportDrift(job: CiJob, reports: readonly Plan[]): Promise<boolean> {
  const rest = openJobProvider(job);
  if (rest === undefined) return false;
  const { provider, repository, folder } = job.environment;
  const issues = (provider === "github" ? githubIssues : gitlabIssues)(rest, repository, driftLabel);
  let areReported = true;
  for (const report of reports) {
    const isReported = await orWarn(job, "The report is in the log and the summary of this job, but not in an issue.", async () => {
      const outcome = await upsertDriftIssue(issues, report, { marker: markerOf("drift", folder, report.target), footer: footerOf(job) });
      job.log(`dimsync: issue for ${visible(report.target)}: ${outcome}\n`);
    });
    areReported &&= isReported;
  }
  return areReported;
}

function openComments(job: CiJob): Comments | undefined {
  const { provider, pullRequest, repository, isRestricted } = job.environment;
  if (pullRequest === undefined || isRestricted) return undefined;
  const rest = openJobProvider(job);
  if (rest === undefined) return undefined;
  return (provider === "github" ? pullRequestComments : mergeRequestComments)(rest, repository, pullRequest);
}

/** The REST interface of the job's provider; logs why there is none, if a token is missing. */
export function openJobProvider({ environment, env, signal, log }: CiJob): Rest | undefined {
  const { provider, token } = environment;
  if (provider !== "none" && token === undefined) {
    const [name, variable] = provider === "github" ? ["GitHub", "GITHUB_TOKEN"] : ["GitLab", "GITLAB_TOKEN"];
    log(`dimsync: ${variable} is not set, so dimsync writes nothing to ${name}.\n`);
  }
  return openProvider(environment, { env, signal });
}

/**
 * Logs a failure of the provider as a warning, which GitHub also shows as an annotation. Returns
 * whether there was none.
 */
export async function orWarn({ environment, log }: CiJob, consequence: string, work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (!(error instanceof DimsyncError) || error.code === "E_INTERRUPTED") throw error;
    const text = visible(`${error.message} ${consequence}`);
    if (environment.provider === "github")
      writeCommands(log, `${workflowCommand("warning", [["title", `dimsync: ${error.code}`]], text)}\n`);
    else log(`dimsync: ${error.code}: ${text}\n`);
    return false;
  }
}

/** The last line of everything that a job writes. */
export const footerOf = ({ environment: { runUrl } }: CiJob): string =>
  runUrl === undefined ? "Written by dimsync." : `Written by dimsync in [this run](${runUrl}).`;

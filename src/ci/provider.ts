import type { CiEnvironment } from "../forge/environment.ts";
import { openProvider } from "../forge/open-provider.ts";
import type { Rest } from "../forge/rest.ts";
import { DimsyncError } from "../model/errors.ts";
import type { Plan } from "../model/plan.ts";
import type { Environment } from "../model/settings/env.ts";
import { visible } from "../text/control-characters.ts";
import { type Write, workflowCommand, writeCommands } from "../text/workflow-commands.ts";
import { type Comments, markerOf, markerPrefix, planComment, upsertComment, withdrawPlans } from "./comments.ts";
import { githubIssues, pullRequestComments } from "./github.ts";
import { gitlabIssues, mergeRequestComments } from "./gitlab.ts";
import { upsertDriftIssue } from "./issues.ts";

/**
 * A job that writes to GitHub or GitLab. Nothing that it writes there decides whether the job
 * succeeds: a failure is only a warning.
 */
export interface CiJob {
  readonly environment: CiEnvironment;
  readonly env: Environment;
  readonly signal: AbortSignal;
  /** Takes whole lines. */
  readonly log: Write;
}

/** The label of drift issues, by which they are found. */
const driftLabel = "dimsync-drift";

/** Puts each plan into its comment on the pull or merge request. Throws only E_INTERRUPTED. */
export async function commentPlans(job: CiJob, plans: readonly Plan[]): Promise<void> {
  const comments = openComments(job);
  if (comments === undefined) return;
  for (const plan of plans)
    await orWarn(job, "The plan is in the log and the summary of this job, but not in a comment.", async () => {
      const marker = markerOf("plan", job.environment.folder, plan.target);
      const outcome = await upsertComment(comments, { marker, ...planComment(plan, footerOf(job)) });
      job.log(`dimsync: comment for ${visible(plan.target)}: ${outcome}\n`);
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

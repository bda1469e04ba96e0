import type { CommandFailure } from "../../cli/github-outputs.ts";
import { DimsyncError } from "../../core/base/model/errors.ts";
import { defined } from "../../core/base/model/json/json.ts";
import type { Plan } from "../../core/base/model/plan.ts";
import { visible } from "../../core/base/text/control-characters.ts";
import { workflowCommand, writeCommands } from "../../core/base/text/workflow-commands.ts";
import { openProvider, type Rest } from "../../core/operations/forge/index.ts";
import { type RenderOptions, targetPlace } from "../../core/render/index.ts";
import {
  type CommentOptions,
  type Comments,
  commentMarker,
  driftMarker,
  mostCharacters,
  type TargetSection,
  upsertComment,
} from "./comments.ts";
import { githubIssues, pullRequestComments } from "./github.ts";
import { gitlabIssues, mergeRequestComments } from "./gitlab.ts";
import { driftLinks, type Issues, openIssue, upsertDriftIssue } from "./issues.ts";
import type { CiJob, FailedTarget } from "./job.ts";
import { failedSection, notMade, planSection, unchangedSection } from "./plan-comment.ts";

/** The label of drift issues, by which they are found. */
const driftLabel = "dimsync-drift";

/** What a job planned. */
export interface PlannedTargets {
  readonly plans: readonly Plan[];
  readonly failed: readonly FailedTarget[];
  /** Targets without a plan, because no file of the project changed. */
  readonly unchanged?: readonly string[];
  /** All targets of the project, in its order: other jobs may plan those that are missing here. */
  readonly known: readonly string[];
  /** Whether the pull request changes a line. */
  readonly touches?: RenderOptions["touches"];
}

/** The targets that share the room of a comment equally. */
const mostWithRoom = 8;

/** The characters that a section may take. The rest is for the markers and the footer; the author of a pull request names its targets. */
export const roomOf = (targets: readonly string[]): number => Math.floor((mostCharacters - 1000) / Math.min(targets.length, mostWithRoom));

/** Longer than a job needs between reading a comment and writing it. */
export const recheckMs = 700;

/**
 * Puts each plan into its section of the comment on the pull or merge request, and why there is none for the other targets. Throws
 * only E_INTERRUPTED.
 */
export async function commentPlans(job: CiJob, { plans, failed, unchanged = [], known, touches }: PlannedTargets): Promise<void> {
  const places = { head: job.environment.head, filePrefix: prefixOf(job) };
  const targets = [...[...plans, ...failed].map(({ target }) => target), ...unchanged];
  const order = [...known, ...targets.filter((target) => !known.includes(target))];
  const room = roomOf(order);
  await withComments(job, "The plan is in the log and the summary of this job, but not in a comment.", async (comments) => {
    const options = { ...commentOptions(job), recheckMs: order.length > targets.length ? recheckMs : undefined };
    const mine = [
      ...plans.map((plan) => ({ target: plan.target, ...planSection(plan, { ...places, room, touches }) })),
      ...failed.map((one) => ({
        target: one.target,
        ...failedSection(notMade("plan", targetPlace(one.target, places.filePrefix)), one.failure, places.head),
      })),
      ...unchanged.map((target) => ({ target, ...unchangedSection(target, places) })),
    ];
    const outcome = await upsertComment(comments, options, (sections) => {
      const others = sections.filter(({ target }) => known.includes(target) && !targets.includes(target));
      // Without a comment, empty plans need none.
      if (sections.length === 0 && mine.every(({ isEmpty }) => isEmpty)) return [];
      return [...others, ...mine].sort((a, b) => order.indexOf(a.target) - order.indexOf(b.target));
    });
    job.log(`dimsync: comment for ${visible(targets.join(", "))}: ${outcome}\n`);
  });
}

/**
 * Replaces the plans of the targets in the comment after a run without a plan; without targets, those of all targets: an old plan
 * next to new manifests would mislead. Throws only E_INTERRUPTED.
 */
export async function withdrawComments(job: CiJob, targets: readonly string[], failure: CommandFailure): Promise<void> {
  const isOld = ({ target }: TargetSection): boolean => targets.length === 0 || targets.includes(target);
  await withComments(job, "The comment still shows the plans of an earlier run.", async (comments) => {
    const options = { ...commentOptions(job), recheckMs: targets.length === 0 ? undefined : recheckMs };
    await upsertComment(comments, options, (sections) =>
      sections.map((one) => {
        const title = notMade("plan", targetPlace(one.target, prefixOf(job)));
        return isOld(one) ? { target: one.target, ...failedSection(title, failure, job.environment.head) } : one;
      }),
    );
  });
}

export const commentOptions = (job: CiJob): Omit<CommentOptions, "recheckMs"> => ({
  marker: commentMarker(job.environment.folder),
  footer: footerOf(job),
  signal: job.signal,
});

interface DriftReports {
  readonly reports: readonly Plan[];
  readonly failed: readonly FailedTarget[];
  /** All targets of the project, in its order. */
  readonly known: readonly string[];
}

/**
 * Keeps the issue of each report's target up to date, and opens one for a target without a report. Returns whether every report is in an issue.
 * Throws only E_INTERRUPTED.
 */
export async function reportDrift(job: CiJob, { reports, failed, known }: DriftReports): Promise<boolean> {
  const rest = openJobProvider(job);
  if (rest === undefined) return false;
  const { provider, repository, folder } = job.environment;
  const [footer, filePrefix] = [footerOf(job), prefixOf(job)];
  const write = async (target: string, work: (issues: Issues, marker: string) => Promise<string>): Promise<boolean> =>
    await orWarn(job, "The report is in the log and the summary of this job, but not in an issue.", async () => {
      const marker = driftMarker(folder, target);
      const issues = (provider === "github" ? githubIssues : gitlabIssues)(rest, repository, { label: driftLabel, marker });
      job.log(`dimsync: issue for ${visible(target)}: ${await work(issues, marker)}\n`);
    });
  let areReported = true;
  for (const report of reports) {
    const links = driftLinks(job, report.target, known);
    const isReported = await write(report.target, (issues, marker) =>
      upsertDriftIssue(issues, report, { marker, footer, filePrefix, ...defined({ links }) }),
    );
    areReported &&= isReported;
  }
  for (const { target, failure } of failed) {
    const place = targetPlace(target, filePrefix);
    const { text } = failedSection(notMade("drift report", place), failure);
    await write(target, (issues, marker) =>
      openIssue(issues, { title: visible(`${place}: no drift report (${failure.code})`), body: `${marker}\n${text}\n\n${footer}` }),
    );
  }
  return areReported;
}

/** Runs `work` with the comments of the pull or merge request, if the job may write there, and the request has no newer commits and no result of apply. */
async function withComments(job: CiJob, consequence: string, work: (comments: Comments) => Promise<void>): Promise<void> {
  const comments = openComments(job);
  if (comments === undefined) return;
  await orWarn(job, consequence, async () => {
    const { head } = job.environment;
    const now = head === undefined ? undefined : await comments.request();
    const isCurrent = now?.head === undefined || now.head === head;
    if (isCurrent && now?.isMerged !== true) return await work(comments);
    const state = isCurrent ? "merged" : `at ${visible(now?.head?.slice(0, 7) ?? "")} now`;
    job.log(`dimsync: the ${requestWord(job)} is ${state}, so this job does not write its comment\n`);
  });
}

function openComments(job: CiJob): Comments | undefined {
  const { provider, repository, pullRequest, isRestricted } = job.environment;
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

export const requestWord = ({ environment: { provider } }: CiJob): string => (provider === "gitlab" ? "merge request" : "pull request");

/** From the root of the repository to the project: "" or "deploy/eu/". */
export const prefixOf = ({ environment: { folder } }: CiJob): string => (folder === "" ? "" : `${folder}/`);

/** The last line of everything that a job writes. */
const footerOf = ({ environment: { runUrl } }: CiJob): string =>
  runUrl === undefined ? "Written by dimsync." : `Written by dimsync in [this run](${runUrl}).`;

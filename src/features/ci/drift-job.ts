import { createHash } from "node:crypto";
import { relative } from "node:path";
import { ofTarget } from "../../cli/each-target.ts";
import { withSignalsCaught } from "../../cli/io.ts";
import { checkOutputs, writeDocuments, writeMetricsFlag } from "../../cli/output.ts";
import { failOnFlags } from "../../cli/plan-options.ts";
import { loadOptions, loadProjects } from "../../cli/project.ts";
import { say } from "../../cli/say.ts";
import { gitText } from "../../core/git/process.ts";
import type { LoadOptions, Project } from "../../core/manifests/project.ts";
import { DimsyncError } from "../../core/model/errors.ts";
import type { ExitCode } from "../../core/model/exit.ts";
import type { Plan } from "../../core/model/plan.ts";
import { acceptedDrift } from "../../core/operations/accept.ts";
import { driftAccount } from "../../core/operations/drift.ts";
import { notifyDrift } from "../../core/operations/notify-drift.ts";
import { hasChanges, summaryLine } from "../../core/render/report/totals.ts";
import { visible } from "../../core/text/control-characters.ts";
import { ownersOf } from "./code-owners.ts";
import { type BranchOptions, checkDriftBranch, deleteDriftBranch, pushDriftBranch } from "./drift-branch.ts";
import { githubPullRequests } from "./github.ts";
import { gitlabMergeRequests } from "./gitlab.ts";
import { type Branches, closeIssue, type Issues, upsertIssue } from "./issues.ts";
import { type CiContext, type CiJob, eachJobTarget, endJob, jobDestinations } from "./job.ts";
import { notMade } from "./plan-comment.ts";
import { footerOf, openJobProvider, orWarn, reportDrift } from "./provider.ts";
import { pullRequestBody, pullRequestTitle } from "./pull-requests.ts";
import { pushCredentials } from "./push-credentials.ts";
import { commitAuthor } from "./push-file.ts";

/**
 * `dimsync ci drift`: reports the drift of each target in an issue, and with `--pull-request` in a pull request that accepts it. If
 * every report is in one of them, the job succeeds despite drift: exit 2 becomes 0. So does exit 3, for what violates a policy, if every
 * report is in an issue. The output `exit_code` stays.
 */
export async function driftJob(context: CiContext, job: CiJob): Promise<ExitCode> {
  const { io, flags } = context;
  checkOutputs(context);
  const failOn = failOnFlags(flags.failOn, "DriftReport");
  const isWhole = flags.only.length + flags.exclude.length === 0;
  const projects = await loadProjects(context, { account: true, interruptible: true });
  const { made, failed } = await eachJobTarget(context, projects, async (project) => {
    // What a merge wants and no apply has sent yet must not be accepted as drift.
    const sinceApply = loadOptions(context, []);
    const { report } = await ofTarget(context, project, (of, options, run) => driftAccount(of, { ...options, sinceApply, failOn }, run));
    const webhook = isWhole ? project.settings.notify : undefined;
    const warn = (text: string): void => say(io, text);
    if (webhook !== undefined) await notifyDrift(project, report, { webhook, warn }, { env: io.env, signal: io.interrupted });
    return report;
  });
  const reports = made.map(({ document }) => document);
  if (reports.length > 0) await writeDocuments(context, jobDestinations(context, job), reports);
  await writeMetricsFlag(context, reports);
  const code = await endJob(context, job, {
    documents: reports,
    failures: failed.map(({ target, failure }) => ({ ...failure, title: notMade("drift report", target) })),
  });
  const isInIssue = flags.issue !== false && (await reportDrift(job, reports));
  const isInPull =
    flags.pullRequest === true && (await withSignalsCaught(io, () => requestDriftPulls(job, made, loadOptions(context, []))));
  // A pull request does not fix what violates a policy.
  return (code === 2 && (isInIssue || isInPull)) || (code === 3 && isInIssue) ? 0 : code;
}

/** The drift report of a project. */
interface Reported {
  readonly project: Project;
  readonly document: Plan;
}

/**
 * `dimsync ci drift --pull-request`: keeps one pull request for each target, with the edits that accept
 * its drift. Returns whether the drift of every report is in one. Failures are warnings. Throws only
 * E_INTERRUPTED.
 */
async function requestDriftPulls(job: CiJob, reported: readonly Reported[], load: LoadOptions): Promise<boolean> {
  const { provider, repository } = job.environment;
  const rest = openJobProvider(job);
  if (rest === undefined) return false;
  const openPull = (branches: Branches): Issues =>
    (provider === "github" ? githubPullRequests : gitlabMergeRequests)(rest, repository, branches);
  let areReported = true;
  for (const { project, document: report } of reported) {
    let isReported = false;
    await orWarn(job, "The report is in the log and the summary of this job, but not in a pull request.", async () => {
      const outcome = await updatePullRequest({ job, openPull, project, report, load });
      isReported = ["created", "updated", "same"].includes(outcome) || !hasChanges(report);
      job.log(`dimsync: pull request for ${visible(report.target)}: ${outcome}\n`);
    });
    areReported &&= isReported;
  }
  return areReported;
}

interface Request {
  readonly job: CiJob;
  readonly openPull: (branches: Branches) => Issues;
  readonly project: Project;
  readonly report: Plan;
  readonly load: LoadOptions;
}

type Outcome = Awaited<ReturnType<typeof upsertIssue> | ReturnType<typeof closeIssue>> | "left as it is";

async function updatePullRequest({ job, openPull, project, report, load }: Request): Promise<Outcome> {
  const { environment } = job;
  const base = environment.branch;
  if (base === undefined)
    throw new DimsyncError(
      "E_NO_BRANCH",
      "A pull request with drift needs a job on a branch, such as a scheduled one: this job has none to merge into.",
    );
  // What was not read is not over.
  if (report.exit.code === 1 || !report.complete) return "left as it is";
  const { files, ...content } = await acceptedDrift(project, report, load);
  const options = branchOptions(project, job, report.target);
  const pull = openPull({ branch: options.branch, base });
  if (files.length === 0) {
    await checkDriftBranch(options);
    const why = hasChanges(report) ? "No difference that is left can be accepted by an edit." : summaryLine(report);
    const outcome = await closeIssue(pull, `${why}\n\n${footerOf(job)}`);
    await deleteDriftBranch(options);
    return outcome;
  }
  const title = pullRequestTitle(report);
  await pushDriftBranch(options, { files, subject: title });
  const root = await gitText({ folder: project.settings.folder, env: job.env }, ["rev-parse", "--show-toplevel"]);
  const owners = await ownersOf(
    root,
    files.map(({ path }) => relative(root, path)),
  );
  const body = pullRequestBody({ ...content, report, owners, footer: footerOf(job) });
  return await upsertIssue(pull, { title, body });
}

function branchOptions({ settings }: Project, { environment, env }: CiJob, target: string): BranchOptions {
  return {
    folder: settings.folder,
    remote: environment.pushUrl ?? "origin",
    branch: branchName(environment.folder, target),
    author: commitAuthor(environment, env),
    env: pushCredentials(environment, env),
  };
}

/** "dimsync/drift-prod"; with a digest if the project is in a folder or the target has unusual characters. */
export function branchName(folder: string, target: string): string {
  const isPlain = folder === "" && /^[a-z0-9]+(?:[._-][a-z0-9]+)*$/u.test(target) && !target.endsWith(".lock");
  if (isPlain) return `dimsync/drift-${target}`;
  const digest = createHash("sha256")
    .update(JSON.stringify([folder, target]))
    .digest("hex")
    .slice(0, 8);
  return `dimsync/drift-${target
    .replaceAll(/[^a-z0-9]+/gu, "-")
    .replaceAll(/^-|-$/gu, "")
    .slice(0, 40)}-${digest}`;
}

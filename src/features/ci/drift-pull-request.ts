import { createHash } from "node:crypto";
import { relative } from "node:path";
import { gitText } from "../../core/git/process.ts";
import type { LoadOptions, Project } from "../../core/manifests/project.ts";
import { DimsyncError } from "../../core/model/errors.ts";
import type { Plan } from "../../core/model/plan.ts";
import { acceptedDrift } from "../../core/operations/accept.ts";
import { hasChanges, summaryLine } from "../../core/render/report/totals.ts";
import { visible } from "../../core/text/control-characters.ts";
import { ownersOf } from "./code-owners.ts";
import { type BranchOptions, checkDriftBranch, deleteDriftBranch, pushDriftBranch } from "./drift-branch.ts";
import { githubPullRequests } from "./github.ts";
import { gitlabMergeRequests } from "./gitlab.ts";
import { type Branches, closeIssue, type Issues, upsertIssue } from "./issues.ts";
import type { CiJob } from "./job.ts";
import { footerOf, openJobProvider, orWarn } from "./provider.ts";
import { pullRequestBody, pullRequestTitle } from "./pull-requests.ts";
import { pushCredentials } from "./push-credentials.ts";
import { commitAuthor } from "./push-file.ts";

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
export async function requestDriftPulls(job: CiJob, reported: readonly Reported[], load: LoadOptions): Promise<boolean> {
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

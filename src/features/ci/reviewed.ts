import { applyOptions } from "../../cli/plan-options.ts";
import { allowGuards } from "../../core/apply/rounds.ts";
import { allowances } from "../../core/engine/checks/allow.ts";
import { planExit } from "../../core/engine/exit-codes.ts";
import type { Rest } from "../../core/forge/rest.ts";
import { gitText } from "../../core/git/process.ts";
import type { Project } from "../../core/manifests/project.ts";
import { DimsyncError } from "../../core/model/errors.ts";
import { isObject, own } from "../../core/model/json/json.ts";
import type { Plan } from "../../core/model/plan.ts";
import type { Problem } from "../../core/model/problem.ts";
import { titles } from "../../core/model/titles.ts";
import { commentMarker, sectionsIn } from "./comments.ts";
import type { CiContext, CiJob } from "./job.ts";
import { differenceFrom } from "./plan-comment.ts";
import { commentsOf, openJobProvider } from "./provider.ts";

/**
 * The plan of a job that applies, which says how it differs from the one that people read in the comment of the merged pull request: the account, a variable
 * or another pull request may have changed since. With the guard `planDiffers`, it is then refused.
 */
export async function comparedWithReview(context: CiContext, job: CiJob, project: Project, plan: Plan): Promise<Plan> {
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

import { markerOf, markerPrefix, type Notes, planComment, putNote } from "../../ci/comments.ts";
import type { CiEnvironment } from "../../ci/environment.ts";
import { labelledIssues, pullRequestNotes } from "../../ci/github.ts";
import { mergeRequestNotes, projectIssues } from "../../ci/gitlab.ts";
import { putDriftIssue } from "../../ci/issues.ts";
import { openRest, type Rest } from "../../ci/rest.ts";
import { DimsyncError } from "../../model/errors.ts";
import type { Plan } from "../../model/plan.ts";
import type { Context } from "../shared/context.ts";
import type { CiFlags } from "../shared/flags.ts";

/** The label that drift issues bear, and by which they are found. */
const driftLabel = "dimsync-drift";

/** Puts each plan into its comment on the pull or merge request. A job that may not write is told so; it has the summary. Throws E_FORGE. */
export async function commentPlans(context: Context<CiFlags>, run: CiEnvironment, plans: readonly Plan[]): Promise<void> {
  const notes = notesOf(context, run);
  if (notes === undefined) return;
  await unlessForbidden(context, "The plan is in this job's log and summary, not in a comment.", async () => {
    await eachTarget(plans, async (plan) => {
      const marker = markerOf("plan", run.folder, plan.target);
      const outcome = await putNote(notes, { marker, ...planComment(plan, footerOf(run)) });
      context.io.stderr(`dimsync: comment of ${plan.target}: ${outcome}\n`);
    });
  });
}

/**
 * Where there was a plan before, its comments say that there is none now: an old plan beside new manifests would mislead. Those of targets that this
 * run is not about are another job's. Never throws.
 */
export async function commentFailure(context: Context<CiFlags>, run: CiEnvironment): Promise<void> {
  const notes = notesOf(context, run);
  if (notes === undefined) return;
  const { target } = context.flags;
  const beginnings = target.length === 0 ? [markerPrefix("plan", run.folder)] : target.map((one) => markerOf("plan", run.folder, one));
  try {
    for (const note of await notes.list()) {
      const marker = note.isTrusted && beginnings.some((text) => note.body.startsWith(text)) ? (note.body.split("\n")[0] ?? "").trim() : "";
      if (marker !== "")
        await notes.update(
          note.id,
          `${marker}\n## No plan\n\nThe last run of \`dimsync plan\` failed before it had one.\n\n${footerOf(run)}`,
        );
    }
  } catch (error) {
    context.io.stderr(`dimsync: the comments could not be updated: ${error instanceof DimsyncError ? error.message : "unknown"}\n`);
  }
}

/** Keeps the issue of each report's target; returns whether every report is told in one. Throws E_FORGE. */
export async function reportDrift(context: Context<CiFlags>, run: CiEnvironment, reports: readonly Plan[]): Promise<boolean> {
  const { flags, io } = context;
  if (flags.issue === false) return false;
  const rest = restOf(context, run);
  if (rest === undefined) return false;
  return await unlessForbidden(context, "The report is in this job's log and summary, not in an issue.", async () => {
    const issues = (run.forge === "github" ? labelledIssues : projectIssues)(rest, run.repository, driftLabel);
    await eachTarget(reports, async (report) => {
      const outcome = await putDriftIssue(issues, report, {
        marker: markerOf("drift", run.folder, report.target),
        footer: footerOf(run),
      });
      io.stderr(`dimsync: issue about ${report.target}: ${outcome}\n`);
    });
  });
}

function notesOf(context: Context<CiFlags>, run: CiEnvironment): Notes | undefined {
  const { forge, request, repository, isFork } = run;
  if (context.flags.comment === false || request === undefined || isFork) return undefined;
  const rest = restOf(context, run);
  if (rest === undefined) return undefined;
  return forge === "github" ? pullRequestNotes(rest, repository, Number(request)) : mergeRequestNotes(rest, repository, request);
}

function restOf({ io }: Context, { forge, token, apiUrl }: CiEnvironment): Rest | undefined {
  if (forge === "none") return undefined;
  const name = forge === "github" ? "GitHub" : "GitLab";
  if (token === undefined) {
    io.stderr(`dimsync: ${forge === "github" ? "GITHUB_TOKEN" : "GITLAB_TOKEN"} is not set, so nothing is written to ${name}.\n`);
    return undefined;
  }
  const headers =
    forge === "github"
      ? { authorization: `Bearer ${token}`, accept: "application/vnd.github+json", "x-github-api-version": "2022-11-28" }
      : { "private-token": token };
  return openRest({ name, baseUrl: apiUrl, headers, signal: io.interrupted });
}

/** One after the other, also where one fails; then throws what failed first. */
async function eachTarget(plans: readonly Plan[], write: (plan: Plan) => Promise<void>): Promise<void> {
  const failures: unknown[] = [];
  for (const plan of plans) await write(plan).catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

async function unlessForbidden({ io }: Context, instead: string, write: () => Promise<void>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    if (!(error instanceof DimsyncError) || error.code !== "E_FORGE_FORBIDDEN") throw error;
    io.stderr(`dimsync: ${error.message} ${instead}\n`);
    return false;
  }
}

const footerOf = ({ runUrl }: CiEnvironment): string =>
  runUrl === undefined ? "Written by dimsync." : `Written by dimsync in [this run](${runUrl}).`;

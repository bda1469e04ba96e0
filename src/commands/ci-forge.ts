import { putDriftIssue } from "../ci/drift-issue.ts";
import { labelledIssues, pullRequestNotes } from "../ci/github.ts";
import { mergeRequestNotes, projectIssues } from "../ci/gitlab.ts";
import { type Notes, putNote } from "../ci/notes.ts";
import { markerOf, markerPrefix, planComment } from "../ci/plan-comment.ts";
import { openRest, type Rest } from "../ci/rest.ts";
import type { CiSurroundings } from "../ci/surroundings.ts";
import { DimsyncError } from "../model/errors.ts";
import type { Plan } from "../model/plan.ts";
import type { Context } from "./context.ts";
import type { CiFlags } from "./flags.ts";

/** The label that drift issues bear, and by which they are found. */
export const driftLabel = "dimsync-drift";

/** Puts each plan into its comment on the pull or merge request. A job that may not write is told so; it has the summary. Throws E_FORGE. */
export async function commentPlans(context: Context<CiFlags>, around: CiSurroundings, plans: readonly Plan[]): Promise<void> {
  const notes = notesOf(context, around);
  if (notes === undefined) return;
  await unlessForbidden(context, "The plan is in this job's log and summary, not in a comment.", async () => {
    await eachTarget(plans, async (plan) => {
      const marker = markerOf("plan", around.folder, plan.target);
      const outcome = await putNote(notes, { marker, ...planComment(plan, footerOf(around)) });
      context.io.stderr(`dimsync: comment of ${plan.target}: ${outcome}\n`);
    });
  });
}

/**
 * Where there was a plan before, its comments say that there is none now: an old plan beside new manifests would mislead. Those of targets that this
 * run is not about are another job's. Never throws.
 */
export async function commentFailure(context: Context<CiFlags>, around: CiSurroundings): Promise<void> {
  const notes = notesOf(context, around);
  if (notes === undefined) return;
  const { target } = context.flags;
  const beginnings =
    target.length === 0 ? [markerPrefix("plan", around.folder)] : target.map((one) => markerOf("plan", around.folder, one));
  try {
    for (const note of await notes.list()) {
      const marker = note.isTrusted && beginnings.some((text) => note.body.startsWith(text)) ? (note.body.split("\n")[0] ?? "").trim() : "";
      if (marker !== "")
        await notes.update(
          note.id,
          `${marker}\n## No plan\n\nThe last run of \`dimsync plan\` failed before it had one.\n\n${footerOf(around)}`,
        );
    }
  } catch (error) {
    context.io.stderr(`dimsync: the comments could not be updated: ${error instanceof DimsyncError ? error.message : "unknown"}\n`);
  }
}

/** Keeps the issue of each report's target; returns whether every report is told in one. Throws E_FORGE. */
export async function reportDrift(context: Context<CiFlags>, around: CiSurroundings, reports: readonly Plan[]): Promise<boolean> {
  const { flags, io } = context;
  if (flags.issue === false) return false;
  const rest = restOf(context, around);
  if (rest === undefined) return false;
  return await unlessForbidden(context, "The report is in this job's log and summary, not in an issue.", async () => {
    const issues = (around.forge === "github" ? labelledIssues : projectIssues)(rest, around.repository, driftLabel);
    await eachTarget(reports, async (report) => {
      const outcome = await putDriftIssue(issues, report, {
        marker: markerOf("drift", around.folder, report.target),
        footer: footerOf(around),
      });
      io.stderr(`dimsync: issue about ${report.target}: ${outcome}\n`);
    });
  });
}

function notesOf(context: Context<CiFlags>, around: CiSurroundings): Notes | undefined {
  const { forge, request, repository, isFork } = around;
  if (context.flags.comment === false || request === undefined || isFork) return undefined;
  const rest = restOf(context, around);
  if (rest === undefined) return undefined;
  return forge === "github" ? pullRequestNotes(rest, repository, Number(request)) : mergeRequestNotes(rest, repository, request);
}

function restOf({ io }: Context, { forge, token, apiUrl }: CiSurroundings): Rest | undefined {
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

const footerOf = ({ runUrl }: CiSurroundings): string =>
  runUrl === undefined ? "Written by dimsync." : `Written by dimsync in [this run](${runUrl}).`;

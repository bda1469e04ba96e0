import type { Plan } from "../../core/base/model/plan.ts";
import { cutMiddle } from "../../core/base/text/values.ts";
import { namesOf } from "../../core/operations/forge/index.ts";
import { type DriftLinks, hasChanges, type RenderOptions, summaryLine } from "../../core/render/index.ts";
import { renderMarkdown } from "../../core/render/markdown/index.ts";
import type { CiJob } from "./job.ts";

/** An issue of the repository. */
export interface Issue {
  readonly id: string;
  readonly title: string;
  readonly body: string;
}

/** The one issue that dimsync keeps about something. */
export interface Issues {
  /** Undefined if none is open. */
  readonly find: () => Promise<Issue | undefined>;
  /** `isCreated`: looks up whether an attempt without a response created it. */
  readonly create: (title: string, body: string, isCreated: () => Promise<boolean>) => Promise<void>;
  readonly update: (id: string, title: string, body: string) => Promise<void>;
  readonly comment: (id: string, body: string) => Promise<void>;
  readonly close: (id: string) => Promise<void>;
}

/** Opens it, or updates it in place. */
async function upsertIssue(issues: Issues, { title, body }: Omit<Issue, "id">): Promise<"created" | "updated" | "same"> {
  const found = await issues.find();
  if (found === undefined) {
    await issues.create(title, body, async () => (await issues.find()) !== undefined);
    return "created";
  }
  if (found.title === title && withoutFooter(found.body) === withoutFooter(body)) return "same";
  await issues.update(found.id, title, body);
  return "updated";
}

/** Closes it, if one is open, and says why. */
async function closeIssue(issues: Issues, why: string): Promise<"closed" | "none"> {
  const found = await issues.find();
  if (found === undefined) return "none";
  await issues.comment(found.id, why);
  await issues.close(found.id);
  return "closed";
}

/** The last line links the run, which is a new one each day. */
const withoutFooter = (body: string): string => body.replaceAll("\r\n", "\n").trim().split("\n").slice(0, -1).join("\n").trim();

const maxTitleCharacters = 200;

interface IssueOptions extends Pick<RenderOptions, "filePrefix" | "links"> {
  /** The hidden first line. */
  readonly marker: string;
  readonly footer: string;
}

/**
 * Keeps the issue of a target in line with its drift report: opens it if the account differs,
 * updates it while it does, and closes it afterwards. An incomplete report does not show that the
 * drift is resolved, so it does not close the issue; it opens one, because nobody looks at a job that failed at night.
 */
export async function upsertDriftIssue(
  issues: Issues,
  report: Plan,
  { marker, footer, ...options }: IssueOptions,
): Promise<"created" | "updated" | "same" | "closed" | "none"> {
  const isDrift = hasChanges(report) || report.exit.code === 2 || report.exit.code === 3;
  if (isDrift) return await upsertIssue(issues, textOf(report, { marker, footer, ...options }));
  if (report.complete && report.exit.code === 0) return await closeIssue(issues, `${summaryLine(report, options.filePrefix)}\n\n${footer}`);
  return await openIssue(issues, textOf(report, { marker, footer, ...options }));
}

const textOf = (report: Plan, { marker, footer, ...options }: IssueOptions): Omit<Issue, "id"> => ({
  title: cutMiddle(summaryLine(report, options.filePrefix), maxTitleCharacters),
  body: `${marker}\n${renderMarkdown(report, { color: false, verbose: false, ...options })}\n${footer}`,
});

/** Opens it, unless one is open: what that says of an earlier time is worth more than a failure. */
export async function openIssue(issues: Issues, { title, body }: Omit<Issue, "id">): Promise<"created" | "none"> {
  if ((await issues.find()) !== undefined) return "none";
  await issues.create(title, body, async () => (await issues.find()) !== undefined);
  return "created";
}

/**
 * Where a reader of the issue of a target acts: the page that runs apply by hand, and the pull request that accepts the drift, which the
 * job opens after the issue. Undefined if the job does not say the page of the repository. `known`: all targets of the project, in its order.
 */
export function driftLinks(
  { environment, env }: Pick<CiJob, "environment" | "env">,
  target: string,
  known: readonly string[],
): DriftLinks | undefined {
  const { provider, projectUrl, folder } = environment;
  if (provider === "none" || projectUrl === undefined) return undefined;
  const { workflow, file, job, branch } = namesOf({ targets: known, folder }, target);
  if (provider === "github")
    return {
      apply: {
        text: `run the workflow ${workflow} by hand`,
        href: `${projectUrl}/actions/workflows/${applyFile(env["GITHUB_WORKFLOW_REF"]) ?? file}`,
      },
      accept: { text: "the pull request that accepts it", href: `${projectUrl}/pulls?q=is%3Aopen+head%3A${encodeURIComponent(branch)}` },
    };
  return {
    apply: { text: `start the job ${job}`, href: env["CI_PIPELINE_URL"] ?? `${projectUrl}/-/pipelines` },
    accept: {
      text: "the merge request that accepts it",
      href: `${projectUrl}/-/merge_requests?state=opened&source_branch=${encodeURIComponent(branch)}`,
    },
  };
}

/** The workflow beside that of this job: "dimsync-apply.yml" of "example/data/.github/workflows/dimsync-drift.yml@refs/heads/main". */
function applyFile(ref = ""): string | undefined {
  const [, own = ""] = /\/([\w.-]*drift[\w.-]*\.ya?ml)@/u.exec(ref) ?? [];
  return own === "" ? undefined : own.replace("drift", "apply");
}

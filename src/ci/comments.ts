import { failureReasons } from "../cli/github-outputs.ts";
import type { Plan } from "../model/plan.ts";
import { code, details, prose } from "../render/markdown/escape.ts";
import { renderMarkdown } from "../render/markdown/index.ts";
import { isEmpty, summaryLine } from "../render/report/totals.ts";
import { cutMiddle } from "../text/values.ts";
import type { FailedTarget } from "./job.ts";

/** A comment on a pull or merge request. */
export interface Comment {
  readonly id: string;
  readonly body: string;
  /** False if the author could be anyone: then the marker in it may be a copy of ours. */
  readonly isTrusted: boolean;
}

/** The comments of one pull or merge request. */
export interface Comments {
  readonly list: () => Promise<readonly Comment[]>;
  /** `isCreated`: looks up whether an attempt without a response created the comment. */
  readonly create: (body: string, isCreated: () => Promise<boolean>) => Promise<void>;
  readonly update: (id: string, body: string) => Promise<void>;
}

/**
 * Updates the comment that begins with the marker. If there is none, creates it, unless the text is
 * that of an empty plan.
 */
export async function upsertComment(
  comments: Comments,
  { marker, text, isEmpty }: { readonly marker: string; readonly text: string; readonly isEmpty: boolean },
): Promise<"created" | "updated" | "same" | "none"> {
  const body = `${marker}\n${text}`;
  const findOurs = async (): Promise<Comment | undefined> =>
    (await comments.list()).find((comment) => comment.isTrusted && comment.body.startsWith(marker));
  const create = async (): Promise<"created" | "none"> => {
    if (isEmpty) return "none";
    await comments.create(body, async () => (await findOurs()) !== undefined);
    return "created";
  };
  const found = await findOurs();
  if (found === undefined) return await create();
  // GitHub and GitLab change line endings and trim. Every edit is shown, so an equal text is not
  // written again.
  if (plainText(found.body) === plainText(body)) return "same";
  try {
    await comments.update(found.id, body);
    return "updated";
  } catch (error) {
    // The comment may have been deleted after the list was read.
    if ((await comments.list()).some(({ id }) => id === found.id)) throw error;
    return await create();
  }
}

const plainText = (text: string): string => text.replaceAll("\r\n", "\n").trim();

/**
 * The hidden first line by which a comment or an issue is found again: one per target of a folder
 * of the repository.
 */
export function markerOf(subject: "plan" | "drift", folder: string, target: string): string {
  return `${markerPrefix(subject, folder)}${part(target)} -->`;
}

/** The start of the markers of all targets of a folder. */
export function markerPrefix(subject: "plan" | "drift", folder: string): string {
  return `<!-- dimsync:${subject}:${part(folder)}:`;
}

/** Hyphens too, because two of them end an HTML comment. */
const part = (text: string): string => encodeURIComponent(text).replaceAll("-", "%2D");

/** The text of a plan's comment; an empty plan is collapsed. */
export function planComment(plan: Plan, footer: string): { readonly text: string; readonly isEmpty: boolean } {
  const text = renderMarkdown(plan, { color: false, verbose: false });
  const empty = isEmpty(plan);
  return { text: `${empty ? details(prose(summaryLine(plan)), text) : text}\n${footer}`, isEmpty: empty };
}

/** The text of a comment for a target that could not be planned: which one, and why. */
export function noPlanComment({ target, failure }: FailedTarget, footer: string): { readonly text: string; readonly isEmpty: boolean } {
  return { text: [`## ${notMade("plan", target)}`, ...failureReasons(failure), footer].join("\n\n"), isEmpty: false };
}

/** "No plan for `prod`", in Markdown. */
export const notMade = (what: "plan" | "drift report", target: string): string => `No ${what} for ${code(cutMiddle(target, 80))}`;

/**
 * Replaces the plans in the comments that begin with one of `prefixes`: an old plan next to new
 * manifests would mislead. Comments of other targets belong to other jobs.
 */
export async function withdrawPlans(comments: Comments, prefixes: readonly string[], footer: string): Promise<void> {
  for (const { id, body, isTrusted } of await comments.list()) {
    if (!isTrusted || !prefixes.some((prefix) => body.startsWith(prefix))) continue;
    const marker = (body.split("\n")[0] ?? "").trim();
    await comments.update(id, `${marker}\n## No plan\n\nThe last run of \`dimsync plan\` failed before it made one.\n\n${footer}`);
  }
}

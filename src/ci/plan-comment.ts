import type { Plan } from "../model/plan.ts";
import { summaryLine } from "../render/github.ts";
import { details, prose } from "../render/markdown/escape.ts";
import { renderMarkdown } from "../render/markdown/index.ts";
import { isEmpty } from "../render/totals.ts";

/** What finds a comment or an issue again: invisible in the page, one per target of one folder of the repository. */
export function markerOf(subject: "plan" | "drift", folder: string, target: string): string {
  return `${markerPrefix(subject, folder)}${part(target)} -->`;
}

/** What the markers of all targets of a folder begin with. */
export function markerPrefix(subject: "plan" | "drift", folder: string): string {
  return `<!-- dimsync:${subject}:${part(folder)}:`;
}

/** Hyphens too, since two of them end a comment of HTML. */
const part = (text: string): string => encodeURIComponent(text).replaceAll("-", "%2D");

/** The comment on a pull request; an empty plan is folded away. */
export function planComment(plan: Plan, footer: string): { readonly text: string; readonly isEmpty: boolean } {
  const text = renderMarkdown(plan, { color: false, verbose: false });
  const empty = isEmpty(plan);
  return { text: `${empty ? details(prose(summaryLine(plan)), text) : text}\n${footer}`, isEmpty: empty };
}

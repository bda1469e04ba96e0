import type { Plan } from "../model/plan.ts";
import { summaryLine } from "../render/machine/github.ts";
import { details, prose } from "../render/markdown/escape.ts";
import { renderMarkdown } from "../render/markdown/index.ts";
import { isEmpty } from "../render/report/totals.ts";

/** A comment on a pull or merge request. */
export interface Note {
  readonly id: string;
  readonly body: string;
  /** Whether its author is to be trusted not to have put our marker there to be overwritten, or to change the text afterwards. */
  readonly isTrusted: boolean;
}

/** The comments of one pull or merge request. */
export interface Notes {
  readonly list: () => Promise<readonly Note[]>;
  readonly create: (body: string) => Promise<void>;
  readonly update: (id: string, body: string) => Promise<void>;
}

/** The comment that begins with the marker is given the text; where there is none it is created, unless there is nothing to say. */
export async function putNote(
  notes: Notes,
  { marker, text, isEmpty }: { readonly marker: string; readonly text: string; readonly isEmpty: boolean },
): Promise<"created" | "updated" | "same" | "none"> {
  const body = `${marker}\n${text}`;
  const [found] = (await notes.list()).filter((note) => note.isTrusted && note.body.startsWith(marker));
  if (found === undefined) {
    if (isEmpty) return "none";
    await notes.create(body);
    return "created";
  }
  // Forges change line ends and trim; the same text is not written again, since each edit shows.
  if (plainText(found.body) === plainText(body)) return "same";
  try {
    await notes.update(found.id, body);
    return "updated";
  } catch (error) {
    // Deleted since the list was read? Anything else is what it says.
    if ((await notes.list()).some(({ id }) => id === found.id)) throw error;
    if (isEmpty) return "none";
    await notes.create(body);
    return "created";
  }
}

const plainText = (text: string): string => text.replaceAll("\r\n", "\n").trim();

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

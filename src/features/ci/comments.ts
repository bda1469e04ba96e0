import { DimsyncError, interruptedError } from "../../core/base/model/errors.ts";
import { type Clock, systemClock } from "../../core/base/model/runtime/clock.ts";
import { moreOf } from "../../core/base/text/lists.ts";

/** A comment on a pull or merge request. */
interface Comment {
  readonly id: string;
  readonly body: string;
}

interface RequestState {
  /** The commit that it would merge now; undefined if the forge does not say. */
  readonly head: string | undefined;
  readonly isMerged: boolean;
}

/** The comments of one pull or merge request. */
export interface Comments {
  /** Those of the token's own user, from the oldest to the newest: others could copy the marker. */
  readonly list: () => Promise<readonly Comment[]>;
  /** `isCreated`: looks up whether an attempt without a response created the comment. */
  readonly create: (body: string, isCreated: () => Promise<boolean>) => Promise<void>;
  readonly update: (id: string, body: string) => Promise<void>;
  readonly remove: (id: string) => Promise<void>;
  readonly request: () => Promise<RequestState>;
}

// All targets of a pull request share one comment, with a section for each. The jobs of a matrix write it at the
// same time, and no forge can refuse an edit of an older text. So a job replaces only its own sections in the
// newest text, and reads the comment again a moment later: if another job has overwritten them meanwhile, it
// writes them once more. If two jobs create the comment, the older one stays, with the sections of both.

/** The part of a comment about one target. */
export interface TargetSection {
  /** Raw. */
  readonly target: string;
  /** Markdown. */
  readonly text: string;
}

/** The sections that a comment should have, from those that it has. Applied to its own result, it changes nothing. */
type Edit = (sections: readonly TargetSection[]) => readonly TargetSection[];

export interface CommentOptions {
  /** Its hidden first line. */
  readonly marker: string;
  readonly footer: string;
  /** In milliseconds; until the comment is read again. Undefined if no other job writes it. */
  readonly recheckMs?: number | undefined;
  readonly signal?: AbortSignal;
  /** Default: the time of the system. */
  readonly clock?: Pick<Clock, "sleep"> | undefined;
}

/**
 * Edits the comment that begins with the marker. If there is none, creates it, unless it would have no section. Throws E_FORGE if other jobs overwrite them again and again.
 */
export async function upsertComment(
  comments: Comments,
  options: CommentOptions,
  edit: Edit,
): Promise<"created" | "updated" | "same" | "none"> {
  const { recheckMs, signal, clock = systemClock } = options;
  let found = await ours(comments, options);
  let outcome = await write(comments, options, { found, edit });
  if (recheckMs === undefined || outcome === "none") return outcome;
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    await clock.sleep(recheckMs * (1 + Math.random()), signal);
    if (signal?.aborted === true) throw interruptedError();
    found = await ours(comments, options);
    const sections = sectionsOf(found);
    if (found.length === 1 && bodyOf(edit(sections), options) === bodyOf(sections, options)) return outcome;
    const again = await write(comments, options, { found, edit });
    if (outcome === "same") outcome = again;
  }
  throw new DimsyncError("E_FORGE", "Other jobs overwrote the comment again and again. Run the job again.");
}

const attempts = 5;

const ours = async (comments: Comments, { marker }: CommentOptions): Promise<readonly Comment[]> =>
  (await comments.list()).filter(({ body }) => body.startsWith(marker));

/** Those of the first comment, and of others what it lacks. */
function sectionsOf(found: readonly Comment[]): readonly TargetSection[] {
  const all = found.flatMap(({ body }) => parsed(body));
  return all.filter(({ target }, index) => all.findIndex((one) => one.target === target) === index);
}

interface Writing {
  readonly found: readonly Comment[];
  readonly edit: Edit;
}

/** Writes the oldest comment, and removes the others. */
async function write(
  comments: Comments,
  options: CommentOptions,
  { found, edit }: Writing,
): Promise<"created" | "updated" | "same" | "none"> {
  const body = bodyOf(edit(sectionsOf(found)), options);
  const [first, ...others] = found;
  const create = async (): Promise<"created" | "none"> => {
    const sections = edit([]);
    if (sections.length === 0) return "none";
    await comments.create(bodyOf(sections, options), async () => (await ours(comments, options)).length > 0);
    return "created";
  };
  if (first === undefined) return await create();
  // GitHub and GitLab change line endings and trim. Every edit is shown, so an equal text is not written again.
  const isSame = plainText(first.body) === plainText(body);
  try {
    if (!isSame) await comments.update(first.id, body);
  } catch (error) {
    // The comment may have been deleted after the list was read.
    if ((await comments.list()).some(({ id }) => id === first.id)) throw error;
    return await create();
  }
  for (const { id } of others)
    await comments.remove(id).catch(async (error: unknown) => {
      // Another job may have removed it.
      if ((await comments.list()).some((one) => one.id === id)) throw error;
    });
  return isSame && others.length === 0 ? "same" : "updated";
}

const plainText = (text: string): string => text.replaceAll("\r\n", "\n").trim();

/** Of the body of a comment. GitHub refuses more than 65,536. */
export const mostCharacters = 65_000;
const end = "<!-- dimsync:end -->";

/** If it would be too long, only the beginnings of the longest sections are left, and then not those that say least. */
function bodyOf(sections: readonly TargetSection[], { marker, footer }: CommentOptions): string {
  let shown = sections;
  const left = (): string => (shown.length === sections.length ? "" : `${moreOf(sections.length - shown.length, "target")}.\n`);
  const draw = (): string => [marker, textOf(shown), `${end}\n${left()}${footer}`].join("\n");
  while (draw().length > mostCharacters) {
    const [longest, ...others] = shown.toSorted((a, b) => b.text.length - a.text.length);
    const least = others.at(-1);
    if (longest === undefined) break;
    if (longest.text.length > mostShortened + 200)
      shown = shown.map((one) => (one === longest ? { ...one, text: beginning(one.text) } : one));
    else if (least === undefined) break;
    else shown = shown.filter((one) => one !== least);
  }
  return draw();
}

const mostShortened = 7_000;

/** Whole paragraphs, with what they leave open ended. What a review gives up is in the first ones. */
function beginning(text: string): string {
  const shown = text.slice(0, Math.max(text.lastIndexOf("\n\n", mostShortened), text.indexOf("\n")));
  const isFenced = (shown.match(/^ *```/gmu) ?? []).length % 2 === 1;
  const open = (shown.match(/<details>/gu) ?? []).length - (shown.match(/<\/details>/gu) ?? []).length;
  const ends = `${isFenced ? "\n```" : ""}${"\n\n</details>".repeat(Math.max(open, 0))}`;
  return `${shown}${ends}\n\n**Shortened:** the log and the summary of the job have the whole plan.`;
}

const textOf = (sections: readonly TargetSection[]): string =>
  sections.map(({ target, text }) => `<!-- dimsync:target:${part(target)} -->\n${plain(text)}`).join("\n");

/** No line of a section can begin another one. */
const plain = (text: string): string => plainText(text).replace(/^<!-- dimsync:/gmu, " $&");

function parsed(body: string): readonly TargetSection[] {
  const found = plainText(body).matchAll(/(?<=\n)<!-- dimsync:target:(\S+) -->\n([\s\S]*?)(?=\n<!-- dimsync:(?:target:|end ))/gu);
  return [...found].flatMap(([, target = "", text = ""]) => {
    try {
      return [{ target: decodeURIComponent(target), text }];
    } catch {
      return [];
    }
  });
}

/** The hidden first line by which the issue of a target is found again. */
export const driftMarker = (folder: string, target: string): string => `<!-- dimsync:drift:${part(folder)}:${part(target)} -->`;

/** The hidden first line of the comment of a folder of the repository. */
export const commentMarker = (folder: string): string => `<!-- dimsync:plan:${part(folder)} -->`;

/** Hyphens too, because two of them end an HTML comment. */
const part = (text: string): string => encodeURIComponent(text).replaceAll("-", "%2D");

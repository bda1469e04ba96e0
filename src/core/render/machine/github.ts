import { combineExits } from "../../base/model/exit.ts";
import { defined } from "../../base/model/json/json.ts";
import { placeText, type Severity } from "../../base/model/problem.ts";
import { visible } from "../../base/text/control-characters.ts";
import { grouped, moreOf } from "../../base/text/lists.ts";
import { errorsFirst, severities } from "../../base/text/signs.ts";
import { withoutCommands, workflowCommand } from "../../base/text/workflow-commands.ts";
import type { Document, RenderOptions } from "../document.ts";
import { renderMarkdown } from "../markdown/index.ts";
import { type Annotation, annotationsOf } from "../report/annotations.ts";
import { targetPlace } from "../report/from-root.ts";
import { hasChanges, summaryLine } from "../report/totals.ts";
import { renderHuman } from "../terminal/index.ts";

/** Maximum size of a step summary in bytes. GitHub drops summaries above 1 MiB. */
export const summaryLimitBytes = 1_000_000;

/** Files for a step of GitHub Actions, in addition to its log. */
interface GithubPieces {
  /** Markdown for $GITHUB_STEP_SUMMARY, within the size limit. */
  readonly summary: string;
  /** Values for $GITHUB_OUTPUT, by name. */
  readonly outputs: Readonly<Record<"has_changes" | "exit_code" | "plan_file" | "summary_line", string>>;
}

/**
 * For the log of a step: the human text of each target in a folded group, then the annotations, whose limit applies to all targets
 * together. The text contains no workflow commands, whatever names it contains.
 */
export function renderGithub(documents: readonly Document[], options: RenderOptions): string {
  const groups = documents.flatMap((document) => [
    workflowCommand("group", [], visible(summaryLine(document, options.filePrefix))),
    withoutCommands(renderHuman(document, options)).trimEnd(),
    "::endgroup::",
  ]);
  const entries = documents.flatMap(annotationsOf);
  return `${[...groups, ...annotations(entries, options)].join("\n")}\n`;
}

interface GithubPiecesOptions extends Pick<RenderOptions, "filePrefix"> {
  /** The free bytes of the step summary. */
  readonly room?: number;
  readonly planFile?: string;
}

export function githubPieces(
  documents: readonly Document[],
  { room = summaryLimitBytes, planFile = "", filePrefix = "" }: GithubPiecesOptions = {},
): GithubPieces {
  const exit = combineExits(documents.map((document) => document.exit));
  return {
    summary: summaryOf(documents, { room: Math.min(room, summaryLimitBytes), filePrefix }),
    outputs: {
      has_changes: String(documents.some(hasChanges)),
      exit_code: String(exit.code),
      plan_file: planFile,
      summary_line: visible(documents.map((document) => summaryLine(document, filePrefix)).join(" · ")),
    },
  };
}

/**
 * Each document gets an equal part. The budget of Markdown is in characters, the limit in bytes, so
 * a text with too many bytes is made again with a smaller budget.
 */
function summaryOf(documents: readonly Document[], { room, filePrefix }: { readonly room: number; readonly filePrefix: string }): string {
  const part = Math.floor(room / Math.max(1, documents.length)) - 1;
  const texts = documents.map((document) => {
    let budget = part;
    for (let attempt = 0; attempt < 4; attempt += 1) {
      const text = renderMarkdown(document, { color: false, verbose: false, budget, filePrefix });
      const bytes = byteLength(text);
      if (bytes <= part) return text;
      budget = Math.floor((budget * part) / bytes / 1.02);
    }
    return "";
  });
  return texts.filter((text) => text !== "").join("\n");
}

const byteLength = (text: string): number => new TextEncoder().encode(text).length;

// GitHub shows this many of each severity per step, and silently drops the rest.
const mostPerSeverity = 10;
const mostCharacters = 2_000;
const commands: Readonly<Record<Severity, string>> = { error: "error", warning: "warning", info: "notice" };

/**
 * Annotations as workflow commands: one for each line and code, at most ten per severity, new ones before existing ones, which are
 * notices. With `touches`, no line gets one that the pull request does not touch, unless a guard refuses because of it: what fails
 * the job says its place in the message instead, and the rest is left out.
 */
export function annotations(entries: readonly Annotation[], { filePrefix = "", touches }: AnnotationOptions = {}): readonly string[] {
  const shown = entries
    .map((entry): Annotation => (entry.effect === "existing" ? { ...entry, severity: "info" } : entry))
    .flatMap((entry) => placed(entry, touches));
  const all = onePerLine(shown);
  return severities.flatMap((severity) => {
    const some = all.filter((entry) => entry.severity === severity);
    // GitHub shows annotations with a line beside the code.
    const sorted = [...some].sort((a, b) => rank(a) - rank(b));
    return sorted.slice(0, mostPerSeverity).map((entry) => annotation(entry, filePrefix));
  });
}

/** How annotations name files, and which lines they may be at. */
export type AnnotationOptions = Pick<RenderOptions, "filePrefix" | "touches">;

const rank = ({ effect, file }: Annotation): number => (effect === "existing" ? 2 : 0) + (file === undefined ? 1 : 0);

/** The finding with or without its place, or nothing. */
function placed(entry: Annotation, touches: AnnotationOptions["touches"]): readonly Annotation[] {
  const { file, line, column: _, ...rest } = entry;
  if (touches === undefined || file === undefined || entry.effect === "refuses" || touches(file, line)) return [entry];
  if (entry.severity !== "error" && entry.effect !== "blocks") return [];
  return [{ ...rest, message: `${placeText({ file, line })}: ${entry.message}` }];
}

const mostMessages = 3;

/** Findings of one rule at one line as one, with their messages. Those without a line are there once. */
function onePerLine(entries: readonly Annotation[]): readonly Annotation[] {
  const isAtLine = ({ file }: Annotation): boolean => file !== undefined;
  const groups = grouped(errorsFirst(entries.filter(isAtLine)), ({ rule, file, line }) => JSON.stringify([rule, file, line]));
  const merged = groups.map(([first, ...others]): Annotation => {
    // Targets that share a manifest have the same ones.
    const messages = [...new Set(others.map(({ message }) => message))].filter((message) => message !== first.message);
    const left = messages.length - mostMessages;
    const more = [...messages.slice(0, mostMessages), ...(left > 0 ? [`… ${moreOf(left, "message")}.`] : [])];
    return { ...first, more: [...more, ...(first.more ?? [])] };
  });
  // Targets that share a manifest have the same ones here, too.
  const others = grouped(
    entries.filter((entry) => !isAtLine(entry)),
    ({ rule, message }) => JSON.stringify([rule, message]),
  );
  return [...merged, ...others.map(([first]) => first)];
}

function annotation({ rule, title, severity, message, more = [], file, line, column }: Annotation, prefix: string): string {
  const properties = defined({
    // A file says the folder of its project.
    title: `${visible(file === undefined ? targetPlace(rule, prefix) : rule)}: ${visible(title)}`,
    file: file === undefined ? undefined : visible(file.startsWith("/") ? file : `${prefix}${file}`),
    line: file === undefined ? undefined : line,
    col: file === undefined || line === undefined ? undefined : column,
  });
  const text = [message, ...more].map(visible).join("\n");
  const cut = text.length > mostCharacters ? `${text.slice(0, mostCharacters)} …` : text;
  return workflowCommand(
    commands[severity],
    Object.entries(properties).map(([name, value]) => [name, String(value)] as const),
    cut,
  );
}

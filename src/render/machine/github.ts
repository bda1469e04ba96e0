import { combineExits } from "../../model/exit.ts";
import type { Severity } from "../../model/problem.ts";
import { visible } from "../../text/control-characters.ts";
import { severities } from "../../text/severity.ts";
import { withoutCommands, workflowCommand } from "../../text/workflow-commands.ts";
import type { Document, RenderOptions } from "../document.ts";
import { renderMarkdown } from "../markdown/index.ts";
import { type Finding, findingsOf } from "../report/findings.ts";
import { hasChanges, summaryLine } from "../report/totals.ts";
import { renderHuman } from "../terminal/index.ts";

/** Maximum size of a step summary in bytes. GitHub drops summaries above 1 MiB. */
export const summaryLimitBytes = 1_000_000;

/** Files for a step of GitHub Actions, in addition to its log. */
export interface GithubPieces {
  /** Markdown for $GITHUB_STEP_SUMMARY, within the size limit. */
  readonly summary: string;
  /** Values for $GITHUB_OUTPUT, by name. */
  readonly outputs: Readonly<Record<"has_changes" | "exit_code" | "plan_file" | "summary_line", string>>;
}

/**
 * For the log of a step: the human text in a folded group, then the annotations. The text contains
 * no workflow commands, whatever names it contains.
 */
export function renderGithub(document: Document, options: RenderOptions): string {
  return renderGithubAll([document], options);
}

/**
 * Like `renderGithub`, for several targets. The limit of annotations applies to all targets
 * together.
 */
export function renderGithubAll(documents: readonly Document[], options: RenderOptions): string {
  const groups = documents.flatMap((document) => [
    workflowCommand("group", [], visible(summaryLine(document))),
    withoutCommands(renderHuman(document, options)).trimEnd(),
    "::endgroup::",
  ]);
  const entries = documents.flatMap(findingsOf);
  return `${[...groups, ...annotations(entries, options.filePrefix ?? "")].join("\n")}\n`;
}

/** `room`: the free bytes of the step summary. */
export function githubPieces(
  documents: readonly Document[],
  { room = summaryLimitBytes, planFile = "" }: { readonly room?: number; readonly planFile?: string } = {},
): GithubPieces {
  const exit = combineExits(documents.map((document) => document.exit));
  return {
    summary: summaryOf(documents, Math.min(room, summaryLimitBytes)),
    outputs: {
      has_changes: String(documents.some(hasChanges)),
      exit_code: String(exit.code),
      plan_file: planFile,
      summary_line: visible(documents.map(summaryLine).join(" · ")),
    },
  };
}

/**
 * Each document gets an equal part. The budget of Markdown is in characters, the limit in bytes, so
 * a text with too many bytes is made again with a smaller budget.
 */
function summaryOf(documents: readonly Document[], room: number): string {
  const part = Math.floor(room / Math.max(1, documents.length)) - 1;
  const texts = documents.map((document) => {
    let budget = part;
    for (let attempt = 0; attempt < 4; attempt += 1) {
      const text = renderMarkdown(document, { color: false, verbose: false, budget });
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
 * Annotations as workflow commands, at most ten per severity. `prefix` is the path from the root of
 * the repository to the folder that files are relative to: "" or "deploy/".
 */
export function annotations(entries: readonly Finding[], prefix: string): readonly string[] {
  return severities.flatMap((severity) => {
    const some = entries.filter((entry) => entry.severity === severity);
    // GitHub shows annotations with a line beside the code.
    const sorted = [...some.filter(({ file }) => file !== undefined), ...some.filter(({ file }) => file === undefined)];
    return sorted.slice(0, mostPerSeverity).map((entry) => annotation(entry, prefix));
  });
}

function annotation({ rule, title, severity, message, more, file, line, column }: Finding, prefix: string): string {
  const properties: readonly (readonly [string, string | number | undefined])[] = [
    ["title", `${visible(rule)}: ${visible(title)}`],
    ["file", file === undefined ? undefined : visible(file.startsWith("/") ? file : `${prefix}${file}`)],
    ["line", file === undefined ? undefined : line],
    ["col", file === undefined || line === undefined ? undefined : column],
  ];
  const text = [message, ...more].map(visible).join("\n");
  const cut = text.length > mostCharacters ? `${text.slice(0, mostCharacters)} …` : text;
  return workflowCommand(
    commands[severity],
    properties.flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)] as const])),
    cut,
  );
}

import { combineExits } from "../../model/exit.ts";
import type { Severity } from "../../model/problem.ts";
import { visible, visibleLines } from "../../text/control-characters.ts";
import type { Document, RenderOptions } from "../document.ts";
import { renderMarkdown } from "../markdown/index.ts";
import { type Finding, findingsOf } from "../report/findings.ts";
import { outcomesText } from "../report/outcomes.ts";
import { diagnosticsTotal, emptyText, isEmpty, totalsText } from "../report/totals.ts";
import { wordingOf } from "../report/wording.ts";
import { renderHuman } from "../terminal/index.ts";

/** Most bytes of a step summary (product §4.2); GitHub drops the whole summary above 1 MiB. */
export const summaryLimitBytes = 1_000_000;

/** What a step of GitHub Actions takes beside its log. */
export interface GithubPieces {
  /** Markdown for $GITHUB_STEP_SUMMARY, within the given bytes. */
  readonly summary: string;
  /** For $GITHUB_OUTPUT, by name. */
  readonly outputs: Readonly<Record<"has_changes" | "exit_code" | "plan_file" | "summary_line", string>>;
}

/** For the log of a step: the human text folded into a group, in which no name is taken for a workflow command, then the annotations. */
export function renderGithub(document: Document, options: RenderOptions): string {
  return renderGithubAll([document], options);
}

/** As `renderGithub`, for the documents of several targets: the limit of annotations counts for all together. */
export function renderGithubAll(documents: readonly Document[], options: RenderOptions): string {
  const groups = documents.flatMap((document) => [
    workflowCommand("group", [], summaryLine(document)),
    withoutCommands(renderHuman(document, options)).trimEnd(),
    "::endgroup::",
  ]);
  const entries = documents.flatMap(findingsOf);
  return `${[...groups, ...annotations(entries, options.filePrefix ?? "")].join("\n")}\n`;
}

/** `room`: how many bytes of the step's summary are still free. */
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
      summary_line: documents.map(summaryLine).join(" · "),
    },
  };
}

/** Each document gets an equal part. The budget of Markdown counts characters and the limit bytes, so a text of many bytes is drawn again, smaller. */
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

/** "Plan for prod: 1 to create, 2 to update; 3 protect, 0 expose": one line without line breaks or controls. */
export function summaryLine(document: Document): string {
  if (document.kind === "Validation") return diagnosticsTotal(document);
  const target = visible(document.target);
  if (document.kind === "Result")
    return `Apply on ${target}: ${document.items.length === 0 ? "nothing to apply" : outcomesText(document.items)}`;
  return `${wordingOf(document).title} for ${target}: ${isEmpty(document) ? emptyText(document) : totalsText(document)}`;
}

/** Whether a plan would change something, a report found a difference, or apply did something. A bind alone is no change (product §4). */
export function hasChanges(document: Document): boolean {
  if (document.kind === "Validation") return false;
  if (document.kind === "Result") return document.items.some(({ outcome }) => outcome === "done" || outcome === "recovered");
  const { items, deferred, manual } = document;
  return items.some(({ action }) => action !== "bind") || deferred.length > 0 || (document.kind === "DriftReport" && manual.length > 0);
}

// GitHub shows so many of each severity per step, and drops the rest without a word.
const mostPerSeverity = 10;
const mostCharacters = 2_000;
const commands: Readonly<Record<Severity, string>> = { error: "error", warning: "warning", info: "notice" };

/**
 * Annotations as workflow commands, at most ten per severity. `prefix` leads from the repository's root to the folder that files are relative to
 * ("" or "deploy/").
 */
export function annotations(entries: readonly Finding[], prefix: string): readonly string[] {
  return (["error", "warning", "info"] as const).flatMap((severity) => {
    const some = entries.filter((entry) => entry.severity === severity);
    // What stands at a line is worth more than what only names an address.
    const sorted = [...some.filter(({ file }) => file !== undefined), ...some.filter(({ file }) => file === undefined)];
    return sorted.slice(0, mostPerSeverity).map((entry) => annotation(entry, prefix));
  });
}

function annotation({ rule, title, severity, message, file, line, column }: Finding, prefix: string): string {
  const properties: readonly (readonly [string, string | number | undefined])[] = [
    ["title", `${visible(rule)}: ${visible(title)}`],
    ["file", file === undefined ? undefined : file.startsWith("/") ? file : `${prefix}${file}`],
    ["line", file === undefined ? undefined : line],
    ["col", file === undefined || line === undefined ? undefined : column],
  ];
  const text = visibleLines(message).join("\n");
  const cut = text.length > mostCharacters ? `${text.slice(0, mostCharacters)} …` : text;
  return workflowCommand(
    commands[severity],
    properties.flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)] as const])),
    cut,
  );
}

/** One line, `::name key=value,key=value::message`, escaped as GitHub's own toolkit does it. */
export function workflowCommand(name: string, properties: readonly (readonly [string, string])[], message: string): string {
  const list = properties.map(([key, value]) => `${key}=${escapedProperty(value)}`).join(",");
  return `::${name}${list === "" ? "" : ` ${list}`}::${escapedData(message)}`;
}

/** Text for the log in which no line is taken for a workflow command, whatever names it holds: the runner reads `::` at a line's beginning and `##[` anywhere. */
export function withoutCommands(text: string): string {
  return text.replace(/^(\s*):(?=:)/gmu, "$1: ").replaceAll("##[", "## [");
}

function escapedData(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function escapedProperty(text: string): string {
  return escapedData(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

import { combineExits } from "../model/exit.ts";
import { diagnosticsTotal } from "./diagnostics-total.ts";
import type { Document, RenderOptions } from "./document.ts";
import { annotations, withoutCommands, workflowCommand } from "./github-commands.ts";
import { renderHuman } from "./human/index.ts";
import { renderMarkdown } from "./markdown/index.ts";
import { noteworthy } from "./noteworthy.ts";
import { outcomesText } from "./outcomes.ts";
import { emptyText, isEmpty, totalsText } from "./totals.ts";
import { visible } from "./visible.ts";
import { wordingOf } from "./wording.ts";

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
  const entries = documents.flatMap(noteworthy);
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

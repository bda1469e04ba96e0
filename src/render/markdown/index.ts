import { joinParts } from "../../text/lists.ts";
import { cutMiddle } from "../../text/values.ts";
import type { Document, RenderOptions } from "../document.ts";
import { timeText } from "../report/attribution.ts";
import type { ReportOutcome } from "../report/outcomes.ts";
import { renderedOf, targetRows } from "../report/targets.ts";
import { groupedText } from "../report/words.ts";
import { type Report, reportOf } from "../report.ts";
import { type Detail, fitted, shortenedText } from "./budget.ts";
import { groupBlocks } from "./changes.ts";
import { code, prose, table } from "./escape.ts";
import {
  blockedSection,
  columnsSection,
  deferredSection,
  heldSection,
  manualSections,
  outsideSection,
  policySections,
  problemSections,
  refusalBlock,
  releasedSection,
  unmanagedSection,
  unverifiableSection,
} from "./findings.ts";

/**
 * For pull requests, issues and job summaries (GitHub-flavoured), within the budget: the totals, why
 * apply refuses, findings, then the changes and everything else.
 */
export function renderMarkdown(document: Document, options: RenderOptions): string {
  const target = document.kind === "Validation" ? "" : document.target;
  return fitted(
    (detail) => draw(reportOf(document, options, options.byRule === true || detail !== "full"), target, detail),
    options.budget,
  );
}

/** The documents of several targets: a table of the targets, then each of them. */
export function renderMarkdownAll(documents: readonly Document[], options: RenderOptions): string {
  const each = documents.map((document) => renderMarkdown(document, options));
  // A validation has no state of an account.
  if (documents.every(({ kind }) => kind === "Validation")) return each.join("\n");
  const [head = [], ...rows] = targetRows(renderedOf(documents, options), timeText);
  const targets = table(
    head,
    rows.map(([target = "", ...cells]) => [code(target), ...cells.map(prose)]),
  );
  return [`${targets}\n`, ...each].join("\n");
}

function draw(report: Report, target: string, detail: Detail): string {
  const { words, next, problems, policies } = report;
  const [first = "", ...rest] = report.verdict.text.replace(/\.$/u, "").split("; ");
  const { isSentence } = report.verdict;
  const name = target === "" ? words.title : `${words.title} ${words.kind === "Result" ? "on" : "for"} ${code(cutMiddle(target, 80))}`;
  const title = joinParts([name, prose(report.refusalTitle)], " ");
  const blocks = [
    `## ${title}: ${isSentence ? report.verdict.word : first}`,
    isSentence ? report.verdict.text : rest.length === 0 ? "" : `**${rest.join("; ")}.**`,
    shortenedText(detail, words.kind === "Result" ? "dimsync show FILE" : `${words.command}${words.kind === "Validation" ? "" : " -v"}`),
    refusalBlock(report, detail),
    nextSection(next, detail),
    outcomes(report, detail),
    policySections(policies, detail),
    problemSections(problems, detail),
    outsideSection(report, detail),
    releasedSection(report, detail),
    columnsSection(report.columns, detail),
    changes(report, detail),
    manualSections(report, detail),
    blockedSection(report.blocked, detail),
    deferredSection(report.deferred, detail),
    heldSection(report.held, detail),
    unverifiableSection(report.unverifiable, detail),
    unmanagedSection(report, detail),
    closing(report),
  ];
  return `${joinParts(blocks, "\n\n")}\n`;
}

/** What to do about drift. */
function nextSection(next: Report["next"], detail: Detail): string {
  if (next.length === 0 || detail === "counts") return "";
  const lines = next.map(({ text, commands }) => `- ${[prose(text), ...commands.map(code)].join(" ")}`);
  return `### What to do next\n\n${lines.join("\n")}`;
}

function changes({ groups, words, isGrouped, changes: count }: Report, detail: Detail): string {
  if (groups.length === 0 || detail === "counts") return "";
  const title = words.kind === "DriftReport" ? "Differences" : "Changes";
  const hint = `${groupedText(count, words)} \`${words.command} -v\``;
  return joinParts([`### ${title}`, groupBlocks(groups, detail, words), isGrouped && detail === "full" ? hint : ""], "\n\n");
}

const mostOutcomes: Readonly<Record<Detail, number>> = { full: Number.POSITIVE_INFINITY, "by rule": 1000, "by object": 20, counts: 0 };

/** Items that need attention come first. The shorter forms leave out finished items. */
function outcomes({ outcomes: all }: Report, detail: Detail): string {
  const wanted = detail === "full" ? all : all.filter(({ isDone }) => !isDone);
  const shown = wanted.slice(0, mostOutcomes[detail]);
  if (shown.length === 0) return "";
  const left = all.length - shown.length;
  const rows = table(
    ["Object", "Outcome", "Id", "Why"],
    shown.map((one) => outcomeRow(one, detail)),
  );
  return `${rows}${left === 0 ? "" : `\n\n… and ${left} more.`}`;
}

function outcomeRow({ item, text, isDone, commands, count, names }: ReportOutcome, detail: Detail): readonly string[] {
  const { address, liveId, code: name, message = "" } = item;
  return [
    count === "" ? code(address) : `${prose(count)}<br>${prose(names)}`,
    isDone ? text : `**${text}**`,
    liveId === undefined || count !== "" ? "" : code(liveId),
    joinParts([name === undefined ? "" : code(name), detail === "by object" ? "" : prose(message), ...commands.map(code)], "<br>"),
  ];
}

function closing({ calls, about, exit }: Report): string {
  const commit = about.commit === undefined ? "" : `${about.commit[0]?.toUpperCase()}${about.commit.slice(1)}.`;
  const text = joinParts([...calls, prose(commit), prose(exit)], " ");
  return text === "" ? "" : `---\n\n${text}`;
}

import type { GuardFinding } from "../../base/model/findings.ts";
import { capitalized } from "../../base/text/describe.ts";
import { joinParts, moreOf } from "../../base/text/lists.ts";
import { spaced } from "../../base/text/paths.ts";
import { cutMiddle } from "../../base/text/values.ts";
import { isBelow, type Section } from "../blocks.ts";
import type { Document, RenderOptions } from "../document.ts";
import { guardText, liftReason } from "../report/refusals.ts";
import { hasTargets, targetTable } from "../report/targets.ts";
import { type Report, reportOf } from "../report.ts";
import { sectionBlock, tableBlock } from "./blocks.ts";
import { type Detail, fitted, shortenedText } from "./budget.ts";
import { code, fenced, prose } from "./escape.ts";

export { code, details, prose } from "./escape.ts";

/**
 * For pull requests, issues and job summaries (GitHub-flavoured), within the budget: the totals, why
 * apply refuses, findings, then the changes and everything else.
 */
export function renderMarkdown(document: Document, options: RenderOptions): string {
  return fitted((detail) => drawMarkdown(reportOf(document, options), detail), options.budget);
}

/** Documents of several targets begin with a table of the targets. */
export function renderMarkdownAll(documents: readonly Document[], options: RenderOptions): string {
  const reports = documents.map((document) => reportOf(document, options));
  const targets = hasTargets(reports) ? [`${tableBlock(targetTable(reports))}\n`] : [];
  return [...targets, ...documents.map((document) => renderMarkdown(document, options))].join("\n");
}

/** With so much detail. */
export function drawMarkdown(report: Report, detail: Detail): string {
  const { words, target } = report;
  const place = target === "" ? words.title : code(cutMiddle(target, 80));
  const name = words.kind === "Result" ? `${words.title} ${words.preposition} ${place}` : place;
  const title = joinParts([name, prose(report.refusalTitle)], " ");
  // Alerts are part of the refusal.
  const plain = report.sections.filter(({ isAlert }) => isAlert !== true);
  const drawn = (isIn: (section: Section) => boolean) => plain.filter(isIn).map((section) => sectionBlock(section, detail));
  const blocks = [
    `## ${title}: ${prose(report.headline.text.replace(/\.$/u, ""))}`,
    shortenedText(detail, words.kind === "Result" ? "dimsync show FILE" : `${words.command}${words.kind === "Validation" ? "" : " -v"}`),
    ...drawn(({ part }) => part === "first"),
    refusalBlock(report, detail),
    report.changes.entries.length === 0 ? "" : sectionBlock(report.changes, detail),
    ...drawn((section) => section.part !== "first" && !isBelow(section)),
    ...drawn(isBelow),
    closing(report),
  ];
  return `${joinParts(blocks, "\n\n")}\n`;
}

/** Why apply refuses, how to lift guards, and what a report may lack. It is short and never left out. */
function refusalBlock(report: Report, detail: Detail): string {
  const { refusals, refusal, limits, guards, waysOut, words } = report;
  const line = (guard: GuardFinding): string => guardLine(guard, words.kind, detail);
  const lifted = guards.filter(({ guard }) => guard.allowed !== undefined).map((guard) => alert("NOTE", [line(guard)]));
  const refusing = guards.filter(({ guard }) => guard.allowed === undefined);
  const guardLines = [
    ...refusing.slice(0, mostGuards).map(line),
    ...(refusing.length > mostGuards ? [`… ${moreOf(refusing.length - mostGuards, "guard")}.`] : []),
  ];
  const reasons = refusals.filter(({ isGuard }) => !isGuard).map(({ text }) => prose(text));
  const cautions =
    words.kind === "DriftReport" ? limits.map(prose) : [...(refusal === "" ? [] : [`**${refusal}.**`]), ...reasons, ...guardLines];
  const ways = detail === "counts" ? [] : waysOut.map(({ intro, yaml }) => `${prose(intro)}\n\n${fenced(yaml, "yaml")}`);
  const notes = words.kind === "DriftReport" && guardLines.length > 0 ? [alert("NOTE", guardLines)] : [];
  return [...(cautions.length === 0 ? [] : [alert("CAUTION", cautions)]), ...ways, ...notes, ...lifted].join("\n\n");
}

const alert = (type: "CAUTION" | "NOTE", lines: readonly string[]): string => `> [!${type}]\n> ${lines.join("<br>\n> ")}`;

const mostGuards = 10;

function guardLine(guard: GuardFinding, kind: Report["words"]["kind"], detail: Detail): string {
  const { message } = guard;
  const isLong = detail === "full" || detail === "short";
  return spaced(`**${prose(guardText(guard, kind))}.**`, isLong ? prose(message) : "", liftText(guard, kind, detail));
}

/** The entry that lifts it is printed below, if there is space for it. */
function liftText(finding: GuardFinding, kind: Report["words"]["kind"], detail: Detail): string {
  if (finding.guard.allowed !== undefined) return `Reason: ${prose(liftReason(finding))}`;
  return kind === "DriftReport" || detail !== "counts" ? "" : `To lift it, give a reason: ${code(`--allow ${finding.rule}="reason"`)}`;
}

function closing({ calls, about, exit }: Report): string {
  const commit = about.commit === undefined ? "" : `${capitalized(about.commit)}.`;
  const text = joinParts([...calls, prose(commit), prose(exit)], " ");
  return text === "" ? "" : `---\n\n${text}`;
}

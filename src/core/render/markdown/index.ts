import type { GuardFinding } from "../../model/findings.ts";
import { capitalized } from "../../text/describe.ts";
import { andMore, joinParts, moreOf } from "../../text/lists.ts";
import { spaced } from "../../text/paths.ts";
import { cutMiddle } from "../../text/values.ts";
import { besideHead, type ChangeBlock, type ChangeWhy, filledColumns, isBelow, type RuleChanges } from "../blocks.ts";
import type { Document, RenderOptions } from "../document.ts";
import { attributionText, originText, traceText } from "../report/attribution.ts";
import { causeText, countsText } from "../report/changes/changes.ts";
import { guardText, liftReason } from "../report/refusals.ts";
import { hasTargets, targetTable } from "../report/targets.ts";
import { groupedText, type Words } from "../report/words.ts";
import { type Report, reportOf } from "../report.ts";
import { headText, sectionBlock, tableBlock } from "./blocks.ts";
import { type Detail, fitted, shortenedText } from "./budget.ts";
import { code, fenced, prose, table } from "./escape.ts";

/**
 * For pull requests, issues and job summaries (GitHub-flavoured), within the budget: the totals, why
 * apply refuses, findings, then the changes and everything else.
 */
export function renderMarkdown(document: Document, options: RenderOptions): string {
  return fitted(
    (detail) => drawMarkdown(reportOf(document, options, options.byRule === true || detail !== "full"), detail),
    options.budget,
  );
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
  const [first = "", ...rest] = report.headline.text.replace(/\.$/u, "").split("; ");
  const { isSentence } = report.headline;
  const name = target === "" ? words.title : `${words.title} ${words.preposition} ${code(cutMiddle(target, 80))}`;
  const title = joinParts([name, prose(report.refusalTitle)], " ");
  // Alerts are part of the refusal.
  const plain = report.sections.filter(({ isAlert }) => isAlert !== true);
  const [before, sections] = [plain.filter(({ isFirst }) => isFirst === true), plain.filter(({ isFirst }) => isFirst !== true)];
  const blocks = [
    `## ${title}: ${isSentence ? report.headline.word : first}`,
    isSentence ? report.headline.text : rest.length === 0 ? "" : `**${rest.join("; ")}.**`,
    shortenedText(detail, words.kind === "Result" ? "dimsync show FILE" : `${words.command}${words.kind === "Validation" ? "" : " -v"}`),
    ...before.map((section) => sectionBlock(section, detail)),
    refusalBlock(report, detail),
    ...sections.filter((section) => !isBelow(section)).map((section) => sectionBlock(section, detail)),
    changes(report, detail),
    ...sections.filter(isBelow).map((section) => sectionBlock(section, detail)),
    closing(report),
  ];
  return `${joinParts(blocks, "\n\n")}\n`;
}

/** Why apply refuses, how to lift guards, and what a report may lack. It is short and never left out. */
function refusalBlock(report: Report, detail: Detail): string {
  const { refusals, refusalTitle, limits, guards, waysOut, words } = report;
  const line = (guard: GuardFinding): string => guardLine(guard, words.kind, detail);
  const lifted = guards.filter(({ allowed }) => allowed !== undefined).map((guard) => alert("NOTE", [line(guard)]));
  const refusing = guards.filter(({ allowed }) => allowed === undefined);
  const guardLines = [
    ...refusing.slice(0, mostGuards).map(line),
    ...(refusing.length > mostGuards ? [`… ${moreOf(refusing.length - mostGuards, "guard")}.`] : []),
  ];
  const reasons = refusals.filter(({ isGuard }) => !isGuard).map(({ text }) => prose(text));
  const cautions =
    words.kind === "DriftReport"
      ? limits.map(prose)
      : [...(refusalTitle === "" ? [] : ["**Apply will refuse this plan.**"]), ...reasons, ...guardLines];
  const ways = detail === "counts" ? [] : waysOut.map(({ intro, yaml }) => `${prose(intro)}\n\n${fenced(yaml, "yaml")}`);
  const notes = words.kind === "DriftReport" && guardLines.length > 0 ? [alert("NOTE", guardLines)] : [];
  return [...(cautions.length === 0 ? [] : [alert("CAUTION", cautions)]), ...ways, ...notes, ...lifted].join("\n\n");
}

const alert = (type: "CAUTION" | "NOTE", lines: readonly string[]): string => `> [!${type}]\n> ${lines.join("<br>\n> ")}`;

const mostGuards = 10;

function guardLine(guard: GuardFinding, kind: Report["words"]["kind"], detail: Detail): string {
  const { message } = guard;
  const isLong = detail === "full" || detail === "by rule";
  return spaced(`**${prose(guardText(guard, kind))}.**`, isLong ? prose(message) : "", liftText(guard, kind, detail));
}

/** The entry that lifts it is printed below, if there is space for it. */
function liftText(finding: GuardFinding, kind: Report["words"]["kind"], detail: Detail): string {
  if (finding.allowed !== undefined) return `Reason: ${prose(liftReason(finding))}`;
  return kind === "DriftReport" || detail !== "counts" ? "" : `To lift it, give a reason: ${code(`--allow ${finding.guard}="reason"`)}`;
}

function changes({ changeBlocks: all, words, grouping, changes: count }: Report, detail: Detail): string {
  if (all.length === 0 || detail === "counts") return "";
  const title = words.change === "difference" ? "Differences" : "Changes";
  const hint = `${groupedText(count, grouping, words)} \`${words.command} -v\``;
  return joinParts([`### ${title}`, changeBlocks(all, detail, words), grouping !== "none" && detail === "full" ? hint : ""], "\n\n");
}

function closing({ calls, about, exit }: Report): string {
  const commit = about.commit === undefined ? "" : `${capitalized(about.commit)}.`;
  const text = joinParts([...calls, prose(commit), prose(exit)], " ");
  return text === "" ? "" : `---\n\n${text}`;
}

// Maximum rules to show. The rest is counted.
const mostRules: Readonly<Record<Detail, number>> = { full: 100, "by rule": 100, "by object": 20, counts: 0 };

/** The changes. Blocks that fit on one line have no blank line between them. */
function changeBlocks(blocks: readonly ChangeBlock[], detail: Detail, words: Words): string {
  let text = "";
  let wasLine = false;
  for (const block of blocks) {
    const isLine = block.isShort || (detail === "by object" && !block.isSummary);
    const drawn = isLine ? lineOf(block, detail, words) : wholeOf(block, detail, words);
    text += text === "" ? drawn : (wasLine && isLine ? "\n" : "\n\n") + drawn;
    wasLine = isLine;
  }
  return text;
}

const titleOf = (block: ChangeBlock): string => headText({ ...block, head: [...block.head, besideHead(block)] });

function lineOf(block: ChangeBlock, detail: Detail, words: Words): string {
  const { cause, reason, trace, names, noun, lines, isShort, alert, event } = block;
  const more = names.length > 0 ? andMore(names.map(code), noun) : isShort ? "" : countsText(lines, words);
  const head = spaced(titleOf(block), cause === "" ? "" : `(${code(cause)})`);
  const why = detail === "by object" ? "" : prose(reason);
  return `- ${joinParts([joinParts([head, more], ": "), why, prose(traceText(trace)), prose(event), alertText(isShort ? alert : "")], "; ")}`;
}

const alertText = (text: string): string => (text === "" ? "" : `⚠️ **${prose(text)}**`);

function wholeOf(block: ChangeBlock, detail: Detail, words: Words): string {
  const { rules, alert, calls, after, event } = block;
  const shown = mostRules[detail];
  const requests = calls.map(({ times, text }) => spaced(times, code(text)));
  const first = after.length === 0 ? [] : [`after ${andMore(after.map(code), "object")}`];
  return joinParts(
    [
      `#### ${titleOf(block)}`,
      prose(event),
      changeTable({ ...block, rules: rules.slice(0, shown) }, detail, words),
      rules.length > shown ? `… ${moreOf(rules.length - shown, "rule")}.` : "",
      alertText(alert),
      requests.length === 0 ? "" : `Requests: ${[...requests.slice(0, 1), ...first, ...requests.slice(1)].join(", ")}`,
    ],
    "\n\n",
  );
}

/** Every change, or the changes of each rule, as a row. Columns that are empty in all rows are left out. */
function changeTable({ lines, rules }: ChangeBlock, detail: Detail, words: Words): string {
  if (lines.length + rules.length === 0) return "";
  const heads = [rules.length > 0 ? "What" : "Path", words.before, words.after, "Risk", "Origin", "Who", "Why"];
  const rows = [
    ...lines.map((line) => [code(spaced(line.path.node, line.path.leaf)), code(line.live), code(line.desired), ...whyCells(line, detail)]),
    ...rules.map((rule) => [whatCell(rule, detail), "", "", ...whyCells(rule, detail)]),
  ];
  const filled = filledColumns(rows, (cell) => cell === "");
  return table(filled(heads), rows.map(filled));
}

function whatCell({ what, examples, count, level }: RuleChanges, detail: Detail): string {
  const some = detail === "by object" ? "" : andMore(examples.map(code), level, { shown: examples.length, total: count });
  return joinParts([prose(what), some], "<br>");
}

function whyCells(why: ChangeWhy, detail: Detail): readonly string[] {
  const { risk, isAlarm, trace, reason } = why;
  return [
    isAlarm ? `⚠️ **${risk}**` : risk,
    originText(trace.origin),
    prose(attributionText(trace)),
    joinParts([code(causeText(why)), detail === "by object" ? "" : prose(reason)], "<br>"),
  ];
}

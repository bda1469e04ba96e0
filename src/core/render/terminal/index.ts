import { visible } from "../../text/control-characters.ts";
import { joinParts } from "../../text/lists.ts";
import type { Section } from "../blocks.ts";
import type { Document, RenderOptions } from "../document.ts";
import { hasTargets, targetTable } from "../report/targets.ts";
import { groupedText } from "../report/words.ts";
import { type Report, reportOf } from "../report.ts";
import { apart, changeBlock, commandLines, inOrder, sectionBlocks, stacked, tableText } from "./blocks.ts";
import { type Cell, cell, joined, type Screen, screenOf, tableLines, wrap } from "./layout.ts";

/** For a terminal. The result is last, because the end stays on the screen. */
export const renderHuman = (document: Document, options: RenderOptions): string => drawHuman(reportOf(document, options), options);

export function drawHuman(report: Report, options: RenderOptions): string {
  const screen = screenOf(options);
  const { words } = report;
  const sections = inOrder(report.sections);
  const blocks = (some: readonly Section[]) => some.flatMap((section) => sectionBlocks(section, words, screen));
  return stacked([
    apart(titleLines(report, screen)),
    ...blocks(sections.filter(({ isFirst }) => isFirst === true)),
    ...blocks(sections.filter(({ part }) => part === "cause")),
    ...report.changeBlocks.map((block) => changeBlock(block, words, screen)),
    apart(report.grouping !== "none" ? [] : reasonLines(report, screen)),
    ...blocks(sections.filter(({ part, isFirst }) => part !== "cause" && isFirst !== true)),
    apart(closing(report, screen)),
  ]);
}

/** Documents of several targets begin with a table of the targets. */
export function renderHumanAll(documents: readonly Document[], options: RenderOptions): string {
  const reports = documents.map((document) => reportOf(document, options));
  const targets = hasTargets(reports) ? [tableText(targetTable(reports), options)] : [];
  return [...targets, ...reports.map((report) => drawHuman(report, options))].join("\n");
}

/** "Plan for prod (https://api.example.com), commit 4f2c1ab"; on two lines if apply will refuse the plan. */
function titleLines({ title, refusalTitle, about, words }: Report, { paint, width, verbose }: Screen): readonly string[] {
  if (words.kind === "Validation") return [];
  const id = verbose || words.kind === "Result" ? (about.id ?? "") : "";
  const facts = [about.commit ?? "", id].map(visible);
  const account = visible(about.account ?? "");
  const beside = joinParts([account === "" ? "" : `(${account})`, ...facts], ", ");
  const name = cell(visible(title), paint.bold);
  if (refusalTitle === "") return tableLines([[joined(name, cell(beside === "" ? "" : ` ${beside}`, paint.dim))]], "", width);
  const strong = (text: string): string => paint.bold(paint.red(text));
  return [
    ...tableLines([[joined(name, cell(` ${refusalTitle}`, strong))]], "", width),
    ...tableLines([[cell(joinParts([account, ...facts], ", "), paint.dim)]], "", width),
  ];
}

/**
 * The reasons of rules, each once, in the order in which the rules appear. Reasons of exposing
 * changes are beside them.
 */
function reasonLines({ changeBlocks }: Report, { paint, verbose, width }: Screen): readonly string[] {
  if (verbose) return [];
  const reasons = new Map<string, readonly Cell[]>();
  for (const { lines } of changeBlocks)
    for (const { reason, risk, rule } of lines)
      if (reason !== "" && rule !== "" && risk !== "exposes") reasons.set(`${rule} ${reason}`, [cell(rule), cell(reason, paint.dim)]);
  return reasons.size === 0 ? [] : ["Reasons of the rules:", ...tableLines([...reasons.values()], "    ", width)];
}

function closing(report: Report, screen: Screen): readonly string[] {
  const { words, headline, calls, exit, grouping, changes } = report;
  const { paint, width } = screen;
  const text = headline.isSentence ? headline.text : `${words.title}: ${headline.text}`;
  const color = { good: paint.green, bad: paint.red, warn: (plain: string) => plain, info: (plain: string) => plain }[headline.tone];
  const [send = "", read = ""] = calls.length === 1 ? ["", ...calls] : calls;
  return [
    ...(grouping !== "none" ? [groupedText(changes, grouping, words), ...commandLines(`${words.command} -v`, screen, "    "), ""] : []),
    ...wrap(text, "", width).map((line) => paint.bold(color(line))),
    ...wrap(send, "", width),
    ...wrap(read, "", width).map(paint.dim),
    ...refusalLines(report, screen),
    ...wrap(exit, "", width),
  ];
}

/** Why apply refuses the plan, or what a report may lack. */
function refusalLines({ refusals, refusalTitle, limits }: Report, { paint, width }: Screen): readonly string[] {
  const strong = (line: string): string => paint.bold(paint.red(line));
  const reasons = refusals.flatMap(({ text }) => wrap(text, "    ", width)).map(paint.red);
  return [
    ...limits.flatMap((text) => wrap(text, "", width)).map(strong),
    ...(refusalTitle === ""
      ? []
      : [strong(reasons.length === 0 ? "Apply will refuse this plan." : "Apply will refuse this plan:"), ...reasons]),
  ];
}

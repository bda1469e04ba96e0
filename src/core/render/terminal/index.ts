import { visible } from "../../base/text/control-characters.ts";
import { joinParts } from "../../base/text/lists.ts";
import type { Section } from "../blocks.ts";
import type { Document, RenderOptions } from "../document.ts";
import { hasTargets, targetTable } from "../report/targets.ts";
import { type Report, reportOf } from "../report.ts";
import { apart, inOrder, sectionBlocks, stacked, tableText } from "./blocks.ts";
import { type Screen, screenOf, wrap } from "./layout.ts";

export { diagnosticLines, headedTable, sectionsText, shortTable, tableText } from "./blocks.ts";
export { type Screen, screenOf, wrap } from "./layout.ts";

/** For a terminal: what changes, then what is left to do, then what apply sends. The end stays on the screen. */
export const renderHuman = (document: Document, options: RenderOptions): string => drawHuman(reportOf(document, options), options);

export function drawHuman(report: Report, options: RenderOptions): string {
  const screen = screenOf(options);
  const { words, changes, details, sections } = report;
  const { heads: _, ...section } = changes;
  const each: Section = { ...section, notes: [], entries: screen.verbose ? details : [] };
  const shown = [changes, each].filter(({ entries }) => entries.length > 0);
  return stacked([
    apart(headingLines(report, screen)),
    ...inOrder([...shown, ...sections]).flatMap((one) => sectionBlocks(one, words, screen)),
    apart(closing(report, screen)),
  ]);
}

/** Documents of several targets begin with a table of the targets. */
export function renderHumanAll(documents: readonly Document[], options: RenderOptions): string {
  const reports = documents.map((document) => reportOf(document, options));
  const targets = hasTargets(reports) ? [tableText(targetTable(reports), options)] : [];
  return [...targets, ...reports.map((report) => drawHuman(report, options))].join("\n");
}

/** "prod: 6 changes, all protect."; with -v also the account and the commit. */
function headingLines({ target, refusalTitle, headline, about, words }: Report, { paint, width, verbose }: Screen): readonly string[] {
  const place = visible(words.kind === "Result" ? `${words.title} ${words.preposition} ${target}` : target);
  const title = joinParts([joinParts([place, refusalTitle], " "), headline.text], ": ");
  const color = { good: paint.green, bad: paint.red, warn: String, info: String }[refusalTitle === "" ? headline.tone : "bad"];
  const facts = verbose || words.kind === "Result" ? [about.account ?? "", about.commit ?? "", about.id ?? ""] : [];
  return [
    ...wrap(title, "", width).map((line) => paint.bold(color(line))),
    ...wrap(joinParts(facts.map(visible), ", "), "", width).map(paint.dim),
  ];
}

/** What apply sends, why it refuses the plan, and what a report may lack. */
function closing({ calls, exit, refusals, refusal, limits }: Report, { paint, width }: Screen): readonly string[] {
  const strong = (line: string): string => paint.bold(paint.red(line));
  // Guards are above, with how to lift them.
  const reasons = refusals.flatMap(({ text, isGuard }) => (isGuard ? [] : wrap(text, "    ", width))).map(paint.red);
  const refused = `${refusal}${reasons.length === 0 ? "." : ":"}`;
  return [
    ...calls.flatMap((text) => wrap(text, "", width)),
    ...limits.flatMap((text) => wrap(text, "", width)).map(strong),
    ...(refusal === "" ? [] : [strong(refused), ...reasons]),
    ...wrap(exit, "", width),
  ];
}

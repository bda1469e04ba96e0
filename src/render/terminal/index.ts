import type { Diagnostic } from "../../model/problem.ts";
import { visible } from "../../text/control-characters.ts";
import { joinParts } from "../../text/lists.ts";
import { outcomeSigns } from "../../text/signs.ts";
import type { Document, RenderOptions } from "../document.ts";
import { timeText } from "../report/attribution.ts";
import { blockedGroups } from "../report/blocked.ts";
import { changeLines } from "../report/changes/changes.ts";
import type { ReportOutcome } from "../report/outcomes.ts";
import { renderedOf, targetRows } from "../report/targets.ts";
import { groupedText, type Words } from "../report/words.ts";
import { type Report, reportOf } from "../report.ts";
import { changeRows } from "./changes.ts";
import { diagnosticLines } from "./diagnostics.ts";
import {
  blockedLines,
  columnLines,
  commandLines,
  deferredLines,
  guardLines,
  heldLines,
  manualLines,
  outsideLines,
  policyBlocks,
  releasedLines,
  unmanagedLines,
  unverifiableLines,
} from "./findings.ts";
import { apart, groupBlock, stacked } from "./groups.ts";
import { type Cell, cell, joined, type Row, type Screen, screenOf, tableLines, wrap } from "./layout.ts";

/** For a terminal. The result is last, because the end stays on the screen. */
export function renderHuman(document: Document, options: RenderOptions): string {
  const screen = screenOf(options);
  const report = reportOf(document, options);
  const { words } = report;
  const isFailedRead = ({ code }: Diagnostic): boolean => code === "E_READ_FAILED";
  const problemBlocks = (problems: readonly Diagnostic[]) => problems.map((problem) => apart(diagnosticLines(problem, screen)));
  return stacked([
    apart(titleLines(report, screen)),
    // The cause of blocked or missing entries below.
    ...problemBlocks(report.problems.filter(isFailedRead)),
    ...report.groups.map((group) => groupBlock(group, words, screen)),
    apart(report.isGrouped ? [] : reasonLines(report, screen)),
    apart(outcomeLines(report, screen)),
    ...report.deferred.map((deferred) => apart(deferredLines(deferred, screen))),
    apart(heldLines(report, screen)),
    ...blockedGroups(report.blocked).map((blocked) => apart(blockedLines(blocked, screen))),
    apart(manualLines(report, screen)),
    apart(report.unverifiable.flatMap((one) => unverifiableLines(one, screen))),
    apart(unmanagedLines(report, screen)),
    apart(releasedLines(report, screen)),
    apart(outsideLines(report, screen)),
    apart(columnLines(report, screen)),
    ...problemBlocks(report.problems.filter((problem) => !isFailedRead(problem))),
    ...policyBlocks(report.policies, screen).map(apart),
    ...report.guards.map((guard) => apart(guardLines(guard, words, screen))),
    apart(idLines(report, screen)),
    apart(nextLines(report, screen)),
    apart(closing(report, screen)),
  ]);
}

/** The documents of several targets: a table of the targets, then each of them. */
export function renderHumanAll(documents: readonly Document[], options: RenderOptions): string {
  const { paint, width } = screenOf(options);
  const each = documents.map((document) => renderHuman(document, options));
  // A validation has no state of an account.
  if (documents.every(({ kind }) => kind === "Validation")) return each.join("\n");
  const [head = [], ...rows] = targetRows(renderedOf(documents, options), timeText);
  const table = tableLines(
    [head.map((text) => cell(text, paint.bold)), ...rows.map((row) => row.map((text) => cell(visible(text))))],
    "",
    width,
  );
  return [`${table.join("\n")}\n`, ...each].join("\n");
}

/** "Plan for prod (https://api.example.com), commit 4f2c1ab"; on two lines if apply will refuse the plan. */
function titleLines({ title, refusalTitle, about, words }: Report, { paint, width, verbose }: Screen): readonly string[] {
  if (words.kind === "Validation") return [];
  const id = verbose || words.kind === "Result" ? (about.id ?? "") : "";
  const facts = [about.commit ?? "", id].map(visible);
  const account = visible(about.account ?? "");
  const name = cell(visible(title), paint.bold);
  if (refusalTitle === "")
    return tableLines([[joined(name, cell(` ${joinParts([`(${account})`, ...facts], ", ")}`, paint.dim))]], "", width);
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
function reasonLines({ groups }: Report, { paint, verbose, width }: Screen): readonly string[] {
  if (verbose) return [];
  const reasons = new Map<string, readonly Cell[]>();
  for (const group of groups)
    for (const { reason, risk, rule } of group.type === "item" ? group.lines : [])
      if (reason !== "" && rule !== "" && risk !== "exposes") reasons.set(`${rule} ${reason}`, [cell(rule), cell(reason, paint.dim)]);
  return reasons.size === 0 ? [] : ["Reasons of the rules:", ...tableLines([...reasons.values()], "    ", width)];
}

/** The outcome of every item, aligned. Items that need attention are separate. */
function outcomeLines({ outcomes, words }: Report, screen: Screen): readonly string[] {
  const { paint, width } = screen;
  const colors = {
    ...{ done: paint.green, recovered: paint.green, failed: paint.red, "not-converged": paint.red, blocked: paint.red },
    ...{ unknown: paint.magenta, skipped: paint.dim, deferred: paint.blue },
  };
  let wasLong = false;
  const rows = outcomes.flatMap((one, index): readonly Row[] => {
    const { item, text, count, names } = one;
    const color = colors[item.outcome];
    const details = outcomeDetails(one, words, screen);
    const isApart = index > 0 && (details.length > 0 || wasLong);
    wasLong = details.length > 0;
    return [
      ...(isApart ? [""] : []),
      [
        joined(cell(`${outcomeSigns[item.outcome]} `, color), cell(count === "" ? visible(item.address) : count, paint.bold)),
        cell(text, color),
        cell(names === "" ? visible(item.liveId ?? "") : names, paint.dim),
        cell(visible(item.code ?? ""), color),
      ],
      ...details,
    ];
  });
  return tableLines(rows, "", width);
}

function outcomeDetails({ item, commands }: ReportOutcome, words: Words, screen: Screen): readonly string[] {
  const { message, outcome, action = "update" } = item;
  const lines = screen.verbose || outcome === "not-converged" ? changeLines(item, words) : [];
  return [
    ...(message === undefined ? [] : wrap(message, "    ", screen.width)),
    ...changeRows(lines, action, words, screen),
    ...commands.flatMap((command) => commandLines(command, screen)),
  ];
}

/** The ids that this run recorded; with -v every binding. */
function idLines({ ids }: Report, { paint, verbose, width }: Screen): readonly string[] {
  if (ids.length === 0) return [];
  const rows = ids.map(([address, id]) => [cell(visible(address)), cell(visible(id))]);
  return [paint.bold(verbose ? "Recorded ids:" : "Ids recorded in this run:"), ...tableLines(rows, "    ", width)];
}

/** What to do about drift. */
function nextLines({ next }: Report, screen: Screen): readonly string[] {
  return next.flatMap(({ text, commands }) => [
    ...wrap(text, "", screen.width),
    ...commands.flatMap((command) => commandLines(command, screen, "    ")),
  ]);
}

function closing(report: Report, screen: Screen): readonly string[] {
  const { words, verdict, calls, exit, isGrouped, changes } = report;
  const { paint, width } = screen;
  const text = verdict.isSentence ? verdict.text : `${words.title}: ${verdict.text}`;
  const color = { good: paint.green, bad: paint.red, warn: (plain: string) => plain, info: (plain: string) => plain }[verdict.tone];
  const [send = "", read = ""] = calls.length === 1 ? ["", ...calls] : calls;
  return [
    ...(isGrouped ? [groupedText(changes, words), ...commandLines(`${words.command} -v`, screen, "    "), ""] : []),
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

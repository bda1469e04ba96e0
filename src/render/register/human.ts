import { type Register, type RegisterDiff, type RegisterRow, stateText } from "../../model/register.ts";
import { visible } from "../../text/control-characters.ts";
import { counted } from "../../text/counts.ts";
import { joinParts } from "../../text/lists.ts";
import { cutMiddle } from "../../text/values.ts";
import { widthOf } from "../../text/width.ts";
import type { RenderOptions } from "../document.ts";
import { type Cell, cell, headedLines, type Screen, screenOf, tableLines, textOf, wrap } from "../terminal/layout.ts";
import { changeText, destinationPath, noChanges, sourcePath, summaryCells, summaryHeads, totalText, verdictText } from "./texts.ts";

/** The totals, then the columns of each integration. One integration is in memory at a time. */
export function* registerText(register: Register, options: RenderOptions): Iterable<string> {
  const screen = screenOf(options);
  const { paint, width } = screen;
  const { target, summary, rows } = register;
  yield `${paint.bold(`Register of ${visible(target)}`)}   ${paint.dim(register.at)}\n${wrap(totalText(register), "", width).join("\n")}\n`;
  if (summary.length === 0) return;
  const heads = summaryHeads.map((head) => cell(head.toLowerCase(), paint.dim));
  const cells = summary.map((one) => summaryCells(one).map((text) => cell(visible(text))));
  yield `\n${headedLines(heads, cells, "  ", width).join("\n")}\n`;
  let group: RegisterRow[] = [];
  let isCut = false;
  const drawn = (): string => {
    const { text, leavesOut } = integrationText(group, screen);
    isCut ||= leavesOut;
    group = [];
    return text;
  };
  for (const row of rows()) {
    if (group.length > 0 && group[0]?.integrationId !== row.integrationId) yield drawn();
    group.push(row);
  }
  if (group.length > 0) yield drawn();
  if (isCut) yield `\n${wrap("The terminal is too narrow for everything: -v shows it.", "", width).join("\n")}\n`;
}

/** `leavesOut`: whether a narrow terminal leaves something out. */
function integrationText(rows: readonly RegisterRow[], screen: Screen): { readonly text: string; readonly leavesOut: boolean } {
  const { paint } = screen;
  const [first] = rows;
  if (first === undefined) return { text: "", leavesOut: false };
  const head = `${paint.bold(visible(first.integration))}   ${paint.dim(visible(`${first.source} → ${first.destination}`))}`;
  const lines = rows.map(
    (row): RegisterCells => ({
      name: cell(visible(sourcePath(row))),
      label: cell(visible(row.label), paint.cyan),
      state: stateCell(row, screen),
      since: cell(`${row.atLeast ? "at least since" : "since"} ${row.since.replace(/T.*$/u, "")}`, paint.dim),
      verdict: cell(visible(verdictText(row)), row.breaks.length > 0 ? paint.red : paint.yellow),
      rule: cell(visible(joinParts([row.rule, row.reason === "" ? "" : `(${row.reason})`, destinationText(row)], " ")), paint.dim),
    }),
  );
  const { shown, leavesOut } = onOneLine(lines, screen);
  return { text: `\n${head}\n${shown.join("\n")}\n`, leavesOut };
}

type RegisterCells = Readonly<Record<"name" | "label" | "state" | "since" | "verdict" | "rule", Cell>>;

/** What a narrow terminal leaves out, in this order; `-v` shows everything. */
const leftOut = [[], ["rule"], ["rule", "since"], ["rule", "since", "label"], ["rule", "since", "label", "verdict"]] as const;
const shortestRule = 16;

/** One line for each column, also if the terminal is narrow: long rules are cut. Only a name may be wider than the terminal. */
function onOneLine(
  rows: readonly RegisterCells[],
  { width, verbose }: Screen,
): { readonly shown: readonly string[]; readonly leavesOut: boolean } {
  const all = rows.map((row) => Object.values(row));
  if (verbose) return { shown: tableLines(all, indent, width), leavesOut: false };
  const used = ["name", "label", "state", "since", "verdict"] as const;
  const before = used.reduce((sum, part) => sum + widest(rows.map((row) => row[part])), indent.length);
  const cut = rows.map((row) => ({ ...row, rule: cutCell(row.rule, Math.max(shortestRule, width - before)) }));
  for (const without of leftOut as readonly (readonly string[])[]) {
    const cells = cut.map((row) => Object.entries(row).flatMap(([part, one]) => (without.includes(part) ? [] : [one])));
    const lines = tableLines(cells, indent, width);
    const isEmpty = (part: string): boolean => rows.every((row) => textOf(row[part as keyof RegisterCells]) === "");
    if (lines.length === rows.length) return { shown: lines, leavesOut: !without.every(isEmpty) };
  }
  return { shown: rows.map(({ name, state }) => `${indent}${textOf(name)}  ${textOf(state)}`), leavesOut: true };
}

const indent = "  ";

/** With the gap after it. */
const widest = (cells: readonly Cell[]): number => {
  const width = cells.reduce((most, one) => Math.max(most, widthOf(textOf(one))), 0);
  return width === 0 ? 0 : width + 3;
};

const cutCell = (one: Cell, most: number): Cell => one.map(([text, paint]) => [cutMiddle(text, most), paint] as const);

const destinationText = (row: RegisterRow): string => (destinationPath(row) === "" ? "" : `→ ${destinationPath(row)}`);

function stateCell(row: RegisterRow, { paint }: Screen): Cell {
  const text = stateText(row);
  return cell(text, text === "readable" ? (shown) => paint.bold(paint.red(shown)) : text === "hashed" ? paint.green : paint.dim);
}

export function registerDiffText({ target, from, to, changes }: RegisterDiff, options: RenderOptions): string {
  const { paint, width } = screenOf(options);
  const head = `${paint.bold(`Register of ${visible(target)}`)}   ${paint.dim(`${from} → ${to}`)}\n`;
  if (changes.length === 0) return `${head}${noChanges}\n`;
  const rows = changes.map((one) => [
    cell({ added: "+", removed: "-", changed: "~" }[one.change]),
    cell(visible(one.row.integration)),
    cell(visible(sourcePath(one.row))),
    cell(visible(one.row.label), paint.cyan),
    cell(visible(changeText(one))),
  ]);
  return `${head}${counted(changes.length, "change")}.\n\n${tableLines(rows, "  ", width).join("\n")}\n`;
}

import { type Register, type RegisterDiff, type RegisterRow, sinceText, stateText, timeText } from "../../model/register.ts";
import { visible } from "../../text/control-characters.ts";
import { counted } from "../../text/counts.ts";
import { joinParts } from "../../text/lists.ts";
import type { RenderOptions } from "../document.ts";
import { type Cell, cell, type Screen, screenOf, tableLines, wrap } from "../terminal/layout.ts";
import { changeText, destinationPath, noChanges, sourcePath, summaryCells, summaryHeads, totalText, verdictText } from "./texts.ts";

/** The totals, then the columns of each integration. One integration is in memory at a time. */
export function* registerText(register: Register, options: RenderOptions): Iterable<string> {
  const screen = screenOf(options);
  const { paint, width } = screen;
  const { target, summary, rows } = register;
  yield `${paint.bold(`Register of ${visible(target)}`)}   ${paint.dim(timeText(register))}\n${wrap(totalText(register), "", width).join("\n")}\n`;
  if (summary.length === 0) return;
  const cells = [
    summaryHeads.map((head) => cell(head.toLowerCase(), paint.dim)),
    ...summary.map((one) => summaryCells(one).map((text) => cell(visible(text)))),
  ];
  yield `\n${tableLines(cells, "  ", width).join("\n")}\n`;
  let group: RegisterRow[] = [];
  for (const row of rows()) {
    if (group.length > 0 && group[0]?.integrationId !== row.integrationId) {
      yield integrationText(group, screen);
      group = [];
    }
    group.push(row);
  }
  if (group.length > 0) yield integrationText(group, screen);
}

function integrationText(rows: readonly RegisterRow[], screen: Screen): string {
  const { paint, width } = screen;
  const [first] = rows;
  if (first === undefined) return "";
  const head = `${paint.bold(visible(first.integration))}   ${paint.dim(visible(`${first.source} → ${first.destination}`))}`;
  const lines = rows.map((row) => [
    cell(visible(sourcePath(row))),
    cell(visible(row.label), paint.cyan),
    stateCell(row, screen),
    cell(sinceText(row).replace(/T.*$/u, ""), paint.dim),
    cell(visible(verdictText(row)), row.breaks.length > 0 ? paint.red : paint.yellow),
    cell(visible(joinParts([row.rule, row.reason === "" ? "" : `(${row.reason})`, destinationText(row)], " ")), paint.dim),
  ]);
  return `\n${head}\n${tableLines(lines, "  ", width).join("\n")}\n`;
}

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

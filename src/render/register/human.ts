import type { Register, RegisterDiff, RegisterRow } from "../../model/register.ts";
import { visible } from "../../text/control-characters.ts";
import { counted } from "../../text/counts.ts";
import { joinParts } from "../../text/lists.ts";
import { cutMiddle } from "../../text/values.ts";
import { widthOf } from "../../text/width.ts";
import { code, muted, word } from "../blocks.ts";
import type { RenderOptions } from "../document.ts";
import { headedTable, lineCell } from "../terminal/blocks.ts";
import { type Cell, type Screen, screenOf, tableLines, textOf, wrap } from "../terminal/layout.ts";
import { changeTable, destinationPath, noChanges, sourcePath, stateSpan, summaryTable, totalText, verdictText } from "./texts.ts";

/** The totals, then the columns of each integration. One integration is in memory at a time. */
export function* registerText(register: Register, options: RenderOptions): Iterable<string> {
  const screen = screenOf(options);
  const { paint, width } = screen;
  const { target, summary, rows } = register;
  yield `${paint.bold(`Register of ${visible(target)}`)}   ${paint.dim(register.at)}\n${wrap(totalText(register), "", width).join("\n")}\n`;
  if (summary.length === 0) return;
  yield `\n${headedTable(summaryTable(register), screen, indent).join("\n")}\n`;
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
  const cells = rows.map((row) =>
    [
      [sourcePath(row)],
      [code(row.label)],
      [stateSpan(row)],
      [muted(`${row.atLeast ? "at least since" : "since"} ${row.since.replace(/T.*$/u, "")}`)],
      [word(verdictText(row), row.breaks.length > 0 ? "bad" : "warn")],
      [muted(joinParts([row.rule, row.reason === "" ? "" : `(${row.reason})`, destinationText(row)], " "))],
    ].map((line) => lineCell(line, screen)),
  );
  const { shown, leavesOut } = onOneLine(cells, screen);
  return { text: `\n${head}\n${shown.join("\n")}\n`, leavesOut };
}

// A narrow terminal shows the name and the state, and of the others what fits, in this order: exemption, label, since, rule.
const always = [0, 2];
const ifRoom = [4, 1, 3, 5];
const rule = 5;
const shortestRule = 16;

/** One line for each row, also if the terminal is narrow: long rules are cut. Only a name may be wider than the terminal. */
function onOneLine(
  rows: readonly (readonly Cell[])[],
  { width, verbose }: Screen,
): { readonly shown: readonly string[]; readonly leavesOut: boolean } {
  if (verbose) return { shown: tableLines(rows, indent, width), leavesOut: false };
  const widths = rows[0]?.map((_, column) => rows.reduce((most, row) => Math.max(most, widthOf(textOf(row[column] ?? []))), 0)) ?? [];
  const linesOf = (columns: readonly number[]): readonly string[] => {
    const room = columns.reduce((left, column) => left - (column === rule || widths[column] === 0 ? 0 : (widths[column] ?? 0) + 3), width);
    const shown = rows.map((row) => row.map((one, column) => (column === rule ? cutCell(one, Math.max(shortestRule, room - 2)) : one)));
    return tableLines(
      shown.map((row) => row.filter((_, column) => columns.includes(column))),
      indent,
      width,
    );
  };
  let columns = always;
  for (const column of ifRoom) if (linesOf([...columns, column]).length === rows.length) columns = [...columns, column];
  const lines = linesOf(columns);
  return {
    shown: lines.length === rows.length ? lines : rows.map(([name = [], , state = []]) => `${indent}${textOf(name)}  ${textOf(state)}`),
    leavesOut: ifRoom.some((column) => widths[column] !== 0 && !columns.includes(column)),
  };
}

const indent = "  ";

const cutCell = (one: Cell, most: number): Cell => one.map(([text, paint]) => [cutMiddle(text, most), paint] as const);

const destinationText = (row: RegisterRow): string => (destinationPath(row) === "" ? "" : `→ ${destinationPath(row)}`);

export function registerDiffText(diff: RegisterDiff, options: RenderOptions): string {
  const { target, from, to, changes } = diff;
  const screen = screenOf(options);
  const { paint } = screen;
  const head = `${paint.bold(`Register of ${visible(target)}`)}   ${paint.dim(visible(`${from} → ${to}`))}\n`;
  if (changes.length === 0) return `${head}${noChanges}\n`;
  return `${head}${counted(changes.length, "change")}.\n\n${headedTable(changeTable(diff), screen, indent).join("\n")}\n`;
}

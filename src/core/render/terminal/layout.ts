import picocolors from "picocolors";
import stringWidth from "string-width";
import { visible } from "../../base/text/control-characters.ts";
import type { RenderOptions } from "../document.ts";

/** The properties of the terminal. */
export interface Screen {
  readonly paint: ReturnType<typeof picocolors.createColors>;
  /** Columns, at least 40. */
  readonly width: number;
  readonly verbose: boolean;
}

export function screenOf({ color, width = 100, verbose }: RenderOptions): Screen {
  return { paint: picocolors.createColors(color), width: Math.max(width, 40), verbose };
}

type Paint = (text: string) => string;
const unpainted: Paint = (text) => text;

/** One cell of a table, without line breaks. A cell can have several parts, each with its paint. */
export type Cell = readonly (readonly [text: string, paint: Paint])[];

export const cell = (text: string, paint: Paint = unpainted): Cell => [[text, paint]];
export const joined = (...cells: readonly Cell[]): Cell => cells.flat();

/** Without its colour. */
export const textOf = (parts: Cell): string => parts.map(([text]) => text).join("");
const painted = (parts: Cell): string => parts.map(([text, paint]) => (text === "" ? "" : paint(text))).join("");

/** A row of cells, or lines between rows. */
export type LayoutRow = readonly Cell[] | string;

/** Columns between two cells. */
export const gap = 3;
// A cell of the last column is wrapped if it has at least this width. Columns up to this width are
// always aligned.
const narrow = 24;
// Wide columns fit this fraction of their cells. Wider cells push the rest of their row.
const quantiles = [1, 0.9, 0.75] as const;
// The last column fits this fraction of its cells, or has a third of the line.
const lastQuantile = 0.75;

/**
 * The rows as lines within the width. Columns are aligned, and the words of the last one wrapped. Cells that do not fit are below
 * their row, indented, so that each row can be read alone. Words are never broken, so a long name can be wider than the screen.
 */
export const tableLines = (rows: readonly LayoutRow[], indent: string, width: number): readonly string[] => {
  const table = { ...columnsOf(rows, width - indent.length), indent, width };
  return rows.flatMap((row) => (typeof row === "string" ? [row] : rowLines(row, table)));
};

/** The same below a row of headings. A cell that does not fit beside the others is below its row, after its heading. */
export function headedLines(heads: readonly Cell[], rows: readonly (readonly Cell[])[], indent: string, width: number): readonly string[] {
  const table = { ...columnsOf([heads, ...rows], width - indent.length), indent, width };
  const names = heads.map((head) => cell(`${textOf(head).toLowerCase()}: `));
  return [...rowLines(heads.slice(0, table.beside), table), ...rows.flatMap((row) => rowLines(row, table, names))];
}

interface Columns {
  /** Their widths; 0 for one that is empty in all rows. */
  readonly widths: readonly number[];
  /** How many columns are beside each other; the others are below. */
  readonly beside: number;
}

function columnsOf(rows: readonly LayoutRow[], width: number): Columns {
  const cells: number[][] = [];
  for (const row of rows)
    for (const [column, parts] of typeof row === "string" ? [] : row.entries()) {
      const cellWidth = widthOf(textOf(parts));
      cells[column] ??= [];
      if (cellWidth > 0) cells[column].push(cellWidth);
    }
  const sorted = cells.map((column) => column.sort((a, b) => a - b));
  const widthsAt = (quantile: number, last: number): readonly number[] =>
    sorted.map((column, index) =>
      index === last ? Math.min(widthOfColumn(column, lastQuantile), Math.floor(width / 3)) : widthOfColumn(column, quantile),
    );
  for (let beside = sorted.length; beside > 1; beside -= 1)
    for (const quantile of quantiles) {
      const widths = widthsAt(quantile, beside - 1);
      const used = widths.slice(0, beside).filter((columnWidth) => columnWidth > 0);
      if (used.reduce((sum, columnWidth) => sum + columnWidth + gap, -gap) <= width) return { widths, beside };
    }
  return { widths: widthsAt(1, -1), beside: 1 };
}

/** The width that fits a fraction of the cells; `sorted` has the widths of the cells. */
function widthOfColumn(sorted: readonly number[], quantile: number): number {
  const widest = sorted.at(-1) ?? 0;
  return widest <= narrow ? widest : (sorted[Math.ceil(sorted.length * quantile) - 1] ?? widest);
}

/** `names`: what to write before the cells that have no room beside the others. */
function rowLines(
  row: readonly Cell[],
  { indent, width, widths, beside }: Columns & { readonly indent: string; readonly width: number },
  names: readonly Cell[] = [],
): readonly string[] {
  const last = row.findLastIndex((parts, index) => index < beside && textOf(parts) !== "");
  let lines: readonly string[] = [];
  let line = indent;
  let end = indent.length;
  let target = indent.length;
  let placed = 0;
  for (const [index, parts] of row.slice(0, beside).entries()) {
    const textWidth = widthOf(textOf(parts));
    if (textWidth > 0) {
      const start = end === indent.length ? target : Math.max(target, end + gap);
      if (end > indent.length && start + textWidth > width && (index < last || width - start < narrow)) break;
      const [first = "", ...more] = start + textWidth > width ? wrapCell(parts, width - start) : [painted(parts)];
      line += " ".repeat(start - end) + first;
      lines = more.map((next) => " ".repeat(start) + next);
      end = start + textWidth;
    }
    placed = index + 1;
    if (lines.length > 0) break;
    target += (widths[index] ?? 0) === 0 ? 0 : (widths[index] ?? 0) + gap;
  }
  const rest = row.flatMap((parts, index) =>
    index < placed || ["", "-"].includes(textOf(parts)) ? [] : [joined(names[index] ?? [], parts)],
  );
  const deeper = `${indent}    `;
  const inOne = rest.flatMap((parts, index) => (index === 0 ? parts : joined(cell(" ".repeat(gap)), parts)));
  const below = (names.length > 0 ? rest : [inOne]).flatMap((parts) => wrapCell(parts, width - deeper.length));
  return [...(line.trim() === "" ? lines : [line, ...lines]), ...below.map((text) => deeper + text)];
}

/** The cell as painted lines of at most `width` columns, broken between words. */
function wrapCell(parts: Cell, width: number): readonly string[] {
  const lines: [text: string, paint: Paint][][] = [];
  let left = 0;
  for (const [text, paint] of parts)
    for (const [index, word] of text.split(/(?<= )(?=[^ ])/u).entries()) {
      const current = lines.at(-1);
      const isFull = left + widthOf(word.trimEnd()) > width;
      if (current === undefined || isFull) lines.push([[word, paint]]);
      else if (index === 0) current.push([word, paint]);
      else current.push([`${current.pop()?.[0] ?? ""}${word}`, paint]);
      left = (current === undefined || isFull ? 0 : left) + widthOf(word);
    }
  return lines.map((line) =>
    painted(line.map(([text, paint], index) => [index === line.length - 1 ? text.trimEnd() : text, paint] as const)),
  );
}

/** A message as indented lines within the width; none if it is empty. It is one paragraph: line breaks in it are shown as escapes. Words are never broken. */
export const wrap = (message: string, indent: string, width: number): readonly string[] =>
  message === "" ? [] : wrapCell(cell(visible(message)), width - indent.length).map((text) => indent + text);

// Printable ASCII and the signs of dimsync: the most common characters, each one column wide.
const plain = /^[ -~←→…✓✗≠↳×·]*$/u;

/**
 * The width of a text in terminal columns. The text must not contain line breaks or escape
 * sequences. Only the beginning of a text that is longer than a line is measured, because
 * measuring a megabyte takes minutes: the rest counts as one column for each UTF-16 unit.
 */
export function widthOf(text: string): number {
  // string-width costs 20 ms when it is first used.
  if (plain.test(text)) return text.length;
  return text.length <= longest ? stringWidth(text) : stringWidth(text.slice(0, longest)) + text.length - longest;
}

const longest = 300;

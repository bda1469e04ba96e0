import picocolors from "picocolors";
import { visibleLines } from "../../text/control-characters.ts";
import type { RenderOptions } from "../document.ts";

/** One cell of a row: `text` is measured, `painted` printed. */
export interface Cell {
  readonly text: string;
  readonly painted: string;
}

export function cell(text: string, paint: (text: string) => string = (plain) => plain): Cell {
  return { text, painted: text === "" ? "" : paint(text) };
}

/** Cells one after another without a gap. */
export function joined(...cells: readonly Cell[]): Cell {
  return { text: cells.map(({ text }) => text).join(""), painted: cells.map(({ painted }) => painted).join("") };
}

/** A row of cells, or a line that stands among rows as it is. */
export type Row = readonly Cell[] | string;

// A cell wider than this stands out of its column instead of pushing all others to the right.
const widestColumn = 56;

/** The rows as lines, each column as wide as its widest cell, three spaces apart. */
export function alignRows(rows: readonly Row[], indent: string): readonly string[] {
  const widths: number[] = [];
  for (const row of rows) {
    if (typeof row === "string") continue;
    row.forEach(({ text }, column) => {
      const width = widthOf(text);
      if (width <= widestColumn) widths[column] = Math.max(widths[column] ?? 0, width);
    });
  }
  const empty = new Set(widths.flatMap((width, column) => (width === 0 ? [column] : [])));
  return rows.map((row) => {
    if (typeof row === "string") return row;
    const last = row.findLastIndex(({ text }) => text !== "");
    const cells = row.slice(0, last + 1).filter((_, column) => !empty.has(column));
    const wanted = widths.filter((width) => width > 0);
    const texts = cells.map(({ text, painted }, column) =>
      column === cells.length - 1 ? painted : painted + " ".repeat(Math.max(0, (wanted[column] ?? 0) - widthOf(text))),
    );
    return indent + texts.join("   ");
  });
}

/** Columns that a text takes; marks sit on the letter before them. */
export function widthOf(text: string): number {
  return [...text.replace(/\p{M}/gu, "")].length;
}

/** A message as indented lines that fit the width where its words do; its own line breaks stay. */
export function wrap(message: string, indent: string, width: number): readonly string[] {
  return visibleLines(message).flatMap((line) => wrapLine(line, indent, width - indent.length));
}

function wrapLine(line: string, indent: string, room: number): readonly string[] {
  const lines: string[] = [];
  let current = "";
  for (const word of line.split(" ")) {
    if (current !== "" && widthOf(current) + 1 + widthOf(word) > room) {
      lines.push(indent + current);
      current = word;
    } else {
      current = current === "" ? word : `${current} ${word}`;
    }
  }
  return [...lines, current === "" ? "" : indent + current];
}

/** What human output is drawn on. */
export interface Screen {
  readonly paint: ReturnType<typeof picocolors.createColors>;
  readonly width: number;
  readonly verbose: boolean;
}

export function screenOf({ color, width = 100, verbose }: RenderOptions): Screen {
  return { paint: picocolors.createColors(color), width: Math.max(width, 40), verbose };
}

import type { Range } from "./text-positions.ts";

const maxWidth = 160;

/** A source line with `***` for what is masked, cut around the column to 160 characters, and a line with a caret under the column (from 0). */
export function makeExcerpt(line: string, column: number, masks: readonly Range[]): readonly [source: string, caret: string] {
  const masked = maskLine(line, column, masks);
  const { text, at } = cut(masked.text, masked.at);
  // Tabs stay, so that the caret stands under its character whatever the width of a tab.
  const indent = text.slice(0, at).replaceAll(/[^\t]/gu, " ");
  return [text, `${indent}^`];
}

interface Marked {
  readonly text: string;
  readonly at: number;
}

function maskLine(line: string, column: number, masks: readonly Range[]): Marked {
  let text = "";
  let at = column;
  let done = 0;
  for (const [start, end] of [...masks].sort(([a], [b]) => a - b)) {
    const from = Math.max(start, done);
    if (end <= from) continue;
    text += `${line.slice(done, from)}***`;
    if (column >= end) at += 3 - (end - from);
    else if (column > from) at -= column - from;
    done = end;
  }
  return { text: text + line.slice(done), at };
}

function cut(text: string, at: number): Marked {
  if (text.length <= maxWidth) return { text, at };
  const room = maxWidth - 2;
  const start = Math.min(Math.max(0, at - Math.floor(room / 2)), text.length - room);
  const end = start + room;
  const before = start === 0 ? "" : "…";
  return { text: `${before}${text.slice(start, end)}${end === text.length ? "" : "…"}`, at: at - start + before.length };
}

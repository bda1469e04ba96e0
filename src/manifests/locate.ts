import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Locate } from "../model/problem.ts";
import { plainPositions, type Range, type TextPositions } from "../yaml/fast/positions.ts";
import { yamlPositions } from "../yaml/positions.ts";
import { maskBySight } from "./secrets/mask.ts";

interface LocatedText {
  readonly lines: readonly string[];
  readonly plain: TextPositions | undefined;
  /** The library's answers, for where the others end. */
  readonly any: () => TextPositions;
}

/**
 * Looks places up, parsing each file that is asked for once. `textOf` gives the text that was loaded; other files are read. A pointer that
 * begins with `@` is an offset in the text, for mistakes that stand in no value. Never throws.
 */
export function makeLocate(cwd: string, textOf: (file: string) => string | undefined): Locate {
  const cache = new Map<string, LocatedText | undefined>();
  const located = (file: string): LocatedText | undefined => {
    if (!cache.has(file)) cache.set(file, locateText(textOf(file) ?? readText(resolve(cwd, file))));
    return cache.get(file);
  };
  return (place) => {
    const text = located(place.file);
    if (text === undefined) return { file: place.file };
    const known = text.plain?.offsetOf(place);
    const positions = known === undefined || text.plain === undefined ? text.any() : text.plain;
    const offset = known ?? positions.offsetOf(place);
    if (offset === undefined) return { file: place.file };
    const line = lineOf(positions.lineStarts, offset);
    const column = offset - (positions.lineStarts[line - 1] ?? 0) + 1;
    return { file: place.file, line, column, excerpt: excerptAt(text.lines, positions, place.document, line, column) };
  };
}

function locateText(text: string | undefined): LocatedText | undefined {
  if (text === undefined) return undefined;
  let any: TextPositions | undefined;
  return {
    lines: text.split(/\r?\n/u),
    plain: plainPositions(text),
    any: () => {
      any ??= yamlPositions(text);
      return any;
    },
  };
}

/** From 1. */
function lineOf(lineStarts: readonly number[], offset: number): number {
  let low = 0;
  let high = lineStarts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((lineStarts[middle] ?? 0) <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

function excerptAt(
  lines: readonly string[],
  positions: TextPositions,
  document: number,
  line: number,
  column: number,
): readonly [string, string] {
  const source = lines[line - 1] ?? "";
  const start = positions.lineStarts[line - 1] ?? 0;
  const indent = source.length - source.trimStart().length;
  const masks = positions
    .masksIn(start, start + source.length)
    .map(([from, to]): Range => [Math.max(from - start, indent), Math.min(to - start, source.length)]);
  const inUrls = [...source.matchAll(/(?<=:\/\/)[^/\s@"']*(?=@)/gu)].map((found): Range => [found.index, found.index + found[0].length]);
  const bySight = positions.isBroken(document) ? maskBySight(lines, line - 1) : undefined;
  return makeCodeFrame(source, Math.min(column - 1, source.length), [...masks, ...inUrls, ...(bySight === undefined ? [] : [bySight])]);
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").replace(/^\ufeff/u, "");
  } catch {
    return undefined;
  }
}

const maxWidth = 160;

/** A source line with `***` for what is masked, cut around the column to 160 characters, and a line with a caret under the column (from 0). */
export function makeCodeFrame(line: string, column: number, masks: readonly Range[]): readonly [source: string, caret: string] {
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

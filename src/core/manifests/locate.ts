import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { once } from "../base/model/maps.ts";
import type { Locate } from "../base/model/problem.ts";
import { lineAndColumn } from "../base/text/file-text.ts";
import { maskBySight, type Range } from "../base/yaml/mask.ts";
import { type Positions, positionsIn } from "../base/yaml/positions.ts";
import { isSecretMember } from "./secrets/secret-members.ts";

interface LocatedText {
  readonly lines: () => readonly string[];
  readonly positions: Positions;
  readonly isOwn: boolean;
}

/** Of so many files, the positions stay in memory: they need ten times as much as the text. */
const mostFiles = 32;

/**
 * Finds the line of a place. A file is parsed when it is asked for, and again if many others were asked for since.
 * `textOf` returns the text that was loaded; other files are read. A pointer that begins with `@` is an offset in the text,
 * for problems that are not at a value. `isOwn`: whether lines of a file may be quoted. Never throws.
 */
export function makeLocate(
  cwd: string,
  textOf: (file: string) => string | undefined,
  { isOwn = () => true }: { readonly isOwn?: (path: string) => boolean } = {},
): Locate {
  const cache = new Map<string, LocatedText | undefined>();
  const located = (file: string): LocatedText | undefined => {
    const found = cache.has(file) ? cache.get(file) : locateText(textOf(file) ?? readText(resolve(cwd, file)), isOwn(resolve(cwd, file)));
    // The file that was asked for last is the last one of the map.
    cache.delete(file);
    cache.set(file, found);
    for (const first of cache.keys()) if (cache.size > mostFiles) cache.delete(first);
    return found;
  };
  return (place) => {
    const text = located(place.file);
    const offset = text?.positions.offsetOf(place);
    if (text === undefined || offset === undefined) return { file: place.file };
    const at = lineAndColumn(text.positions.lineStarts, offset);
    if (!text.isOwn) return { file: place.file, ...at };
    return {
      file: place.file,
      ...at,
      // The line of a change is looked up for every change, and its text only for problems.
      get excerpt() {
        return excerptAt(text, place.document, at);
      },
    };
  };
}

function locateText(text: string | undefined, isOwn: boolean): LocatedText | undefined {
  if (text === undefined) return undefined;
  return { lines: once(() => text.split(/\r?\n/u)), positions: positionsIn(text, isSecretMember), isOwn };
}

function excerptAt(
  { lines: linesOf, positions }: LocatedText,
  document: number,
  { line, column }: { readonly line: number; readonly column: number },
): readonly [string, string] {
  const lines = linesOf();
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

/**
 * A source line with `***` for masked parts, cut to 160 characters around the column (from 0), and
 * a line with a caret under that column.
 */
export function makeCodeFrame(line: string, column: number, masks: readonly Range[]): readonly [source: string, caret: string] {
  const masked = maskLine(line, column, masks);
  const { text, at } = cut(masked.text, masked.at);
  // Tabs stay, so that the caret is under its character at any tab width.
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
  const width = maxWidth - 2;
  const start = Math.min(Math.max(0, at - Math.floor(width / 2)), text.length - width);
  const end = start + width;
  const before = start === 0 ? "" : "…";
  return { text: `${before}${text.slice(start, end)}${end === text.length ? "" : "…"}`, at: at - start + before.length };
}

import { isObject, own } from "../../model/json/json.ts";
import type { LogEntry } from "../files/append-log.ts";
import type { Files } from "./tree.ts";

// The journal is kept in segments of 64 lines, so that no write rewrites a large file. The last 16
// segments stay as they are. Older ones are reduced to the lines of open intents when a new segment
// begins. So an intent is never kept longer than the line that settles it.

const linesPerSegment = 64;
const keptSegments = 16;

export interface Segment {
  readonly number: number;
  readonly path: string;
}

/** The segments in order. */
export function segmentsIn(files: Files): readonly Segment[] {
  return [...files.keys()]
    .map((path) => ({ path, number: Number(/^journal\/(\d+)\.ndjson$/u.exec(path)?.[1] ?? Number.NaN) }))
    .filter(({ number }) => !Number.isNaN(number))
    .sort((a, b) => a.number - b.number);
}

/** Appends lines to the journal, and reduces old segments when a new one begins. `openIds`: the entries that are open afterwards. */
export function appendJournal(files: Map<string, string>, lines: readonly LogEntry[], openIds: ReadonlySet<string>): void {
  const before = segmentsIn(files).at(-1)?.number ?? 1;
  let last = before;
  let count = lineCount(files.get(pathOf(last)));
  for (const line of lines) {
    if (count >= linesPerSegment) {
      last += 1;
      count = 0;
    }
    files.set(pathOf(last), `${files.get(pathOf(last)) ?? ""}${JSON.stringify(line)}\n`);
    count += 1;
  }
  if (last === before) return;
  for (const { number, path } of segmentsIn(files)) if (number <= last - keptSegments) reduce(files, path, openIds);
}

function reduce(files: Map<string, string>, path: string, openIds: ReadonlySet<string>): void {
  const kept = (files.get(path) ?? "").split("\n").filter((line) => line !== "" && openIds.has(entryIdOf(line)));
  if (kept.length === 0) files.delete(path);
  else files.set(path, kept.map((line) => `${line}\n`).join(""));
}

function entryIdOf(line: string): string {
  const value: unknown = JSON.parse(line);
  return isObject(value) ? String(own(value, "entryId")) : "";
}

const pathOf = (number: number): string => `journal/${String(number).padStart(6, "0")}.ndjson`;

const lineCount = (text: string | undefined): number => (text === undefined ? 0 : text.split("\n").length - 1);

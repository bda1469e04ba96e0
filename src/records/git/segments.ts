import { isObject } from "../../model/json.ts";
import type { LogEntry } from "../append-log.ts";
import { parseJournalLine } from "../journal-line.ts";
import type { Files } from "./tree.ts";

// The journal is kept in segments of 64 lines, so that no write rewrites a large file. Old segments
// are dropped: the last 16 stay, and each with an open intent. A segment that settles an intent of
// one that stays has to stay too, or that intent would look open again.

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

/** Appends lines to the journal, and drops old segments when a new one begins. `openIds`: the entries that are open afterwards. */
export function appendJournal(files: Map<string, string>, lines: readonly LogEntry[], openIds: ReadonlySet<string>): void {
  let last = segmentsIn(files).at(-1)?.number ?? 1;
  let count = lineCount(files.get(pathOf(last)));
  const before = last;
  for (const line of lines) {
    if (count >= linesPerSegment) {
      last += 1;
      count = 0;
    }
    files.set(pathOf(last), `${files.get(pathOf(last)) ?? ""}${JSON.stringify(line)}\n`);
    count += 1;
  }
  if (last !== before) dropOld(files, last, openIds);
}

function dropOld(files: Map<string, string>, last: number, openIds: ReadonlySet<string>): void {
  const segments = segmentsIn(files).map((segment) => ({ ...segment, ...entriesOf(files.get(segment.path) ?? "") }));
  const kept = new Set(segments.filter(({ number, intended }) => number > last - keptSegments || intended.some((id) => openIds.has(id))));
  for (let grown = true; grown; ) {
    const needed = new Set([...kept].flatMap(({ intended }) => intended));
    const more = segments.filter((segment) => !kept.has(segment) && segment.settled.some((id) => needed.has(id)));
    for (const segment of more) kept.add(segment);
    grown = more.length > 0;
  }
  for (const segment of segments) if (!kept.has(segment)) files.delete(segment.path);
}

function entriesOf(text: string): { readonly intended: readonly string[]; readonly settled: readonly string[] } {
  const lines = text
    .split("\n")
    .filter((line) => line !== "")
    .map((line): unknown => JSON.parse(line))
    .map((value) => (isObject(value) ? parseJournalLine(value) : undefined))
    .filter((line) => line !== undefined);
  return {
    intended: lines.filter(({ type }) => type === "intend").map(({ entryId }) => entryId),
    settled: lines.filter(({ type }) => type === "settle").map(({ entryId }) => entryId),
  };
}

const pathOf = (number: number): string => `journal/${String(number).padStart(6, "0")}.ndjson`;

const lineCount = (text: string | undefined): number => (text === undefined ? 0 : text.split("\n").length - 1);

import { readFile } from "node:fs/promises";
import { isObject } from "../../model/json/json.ts";
import { parseJson } from "../../model/json/parse.ts";
import { isErrno } from "./fs-errors.ts";

// An append-only file with one JSON object per line. A line counts once it is fsynced with its line
// feed. So nothing relies on a last line without a line feed: the process was killed, or the disk was
// full, during the write.

type LogEntry = Readonly<Record<string, unknown>>;

interface LogLine {
  /** Counted from 1. */
  readonly number: number;
  readonly entry: LogEntry;
}

/** A line that is not a JSON object, counted from 1. */
interface BrokenLine {
  readonly broken: number;
}

/** The lines of the log in order; empty if there is no file. An incomplete last line is left out. Throws what Node's calls throw. */
export async function readLog(file: string): Promise<readonly LogLine[] | BrokenLine> {
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (error) {
    if (isErrno(error, "ENOENT")) return [];
    throw error;
  }
  const { lines, tail } = split(bytes);
  const found: LogLine[] = [];
  for (const [index, line] of lines.entries()) {
    const entry = parse(line);
    if (entry !== undefined) found.push({ number: index + 1, entry });
    else if (line.toString("latin1").trim() !== "") return { broken: index + 1 };
  }
  // Complete except for its line feed, which an editor may have removed. It counts.
  const last = parse(tail);
  if (last !== undefined) found.push({ number: lines.length + 1, entry: last });
  return found;
}

function split(bytes: Buffer): { readonly lines: readonly Buffer[]; readonly tail: Buffer } {
  const lines: Buffer[] = [];
  let start = 0;
  for (let end = bytes.indexOf(0x0a); end >= 0; end = bytes.indexOf(0x0a, start)) {
    lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return { lines, tail: bytes.subarray(start) };
}

/** Undefined if it is not a JSON object in UTF-8. An incomplete number or string can be valid JSON by chance. */
function parse(line: Buffer): LogEntry | undefined {
  try {
    const value: unknown = parseJson(strictUtf8.decode(line));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const strictUtf8 = new TextDecoder("utf-8", { fatal: true });

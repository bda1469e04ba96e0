import { type FileHandle, open, readFile, truncate } from "node:fs/promises";
import { dirname } from "node:path";
import { isObject } from "../../model/json/json.ts";
import { parseJson } from "../../model/json/parse.ts";
import { syncFile, syncFolder, writeAtomic } from "./atomic.ts";
import { withFileLock } from "./file-lock.ts";
import { isErrno } from "./fs-errors.ts";

// An append-only file with one JSON object per line. A line counts once it is fsynced with its line
// feed, and no request is sent before that. So nothing relies on a last line without a line feed:
// the process was killed, or the disk was full, during the write.

export type LogEntry = Readonly<Record<string, unknown>>;

export interface LogLine {
  /** Counted from 1. */
  readonly number: number;
  readonly entry: LogEntry;
}

/** A line that is not a JSON object, counted from 1. */
export interface BrokenLine {
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

/** Appends one line, as `appendLines` does. */
export const appendLog = (file: string, entry: LogEntry): Promise<void> => appendLines(file, [entry]);

/**
 * Appends lines and returns when the lines and the name of the file are on disk. Processes take
 * turns. First, an incomplete last line is moved to `FILE.torn`. Then `before` is called with the size of
 * the file, and returns how many of the last lines to keep, or undefined for all. Throws what `before`
 * and Node's calls throw, or an Error. Some of the lines may then be in the file, but the next one starts on a new line.
 */
export async function appendLines(
  file: string,
  entries: readonly LogEntry[],
  before?: (bytes: number) => Promise<number | undefined>,
): Promise<void> {
  if (entries.length === 0) return;
  await withFileLock(`${file}.lock`, async () => {
    const size = await repairTail(file);
    const keep = await before?.(size);
    if (keep !== undefined) await writeAtomic(file, await lastLines(file, keep), { mode: 0o600 });
    const bytes = Buffer.from(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
    const handle = await open(file, "a", 0o600);
    try {
      // One call, so that lines of two processes never mix even if the lock fails. A short count means a full disk.
      const { bytesWritten } = await handle.write(bytes);
      if (bytesWritten < bytes.length)
        throw new Error(`only ${bytesWritten} of ${bytes.length} bytes could be written; the disk may be full`);
      await syncFile(handle);
    } finally {
      await handle.close();
    }
    if (size === 0) await syncFolder(dirname(file));
  });
}

/** Makes the file end with a line feed, or empty, and returns its size. */
async function repairTail(file: string): Promise<number> {
  let handle: FileHandle;
  try {
    handle = await open(file, "r");
  } catch (error) {
    if (isErrno(error, "ENOENT")) return 0;
    throw error;
  }
  let bytes: Buffer;
  try {
    const { size } = await handle.stat();
    if (size === 0) return 0;
    const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
    if (buffer[0] === 0x0a) return size;
    bytes = await handle.readFile();
  } finally {
    await handle.close();
  }
  const { tail } = split(bytes);
  if (parse(tail) !== undefined) {
    await append(file, "\n");
    return bytes.length + 1;
  }
  await append(`${file}.torn`, Buffer.concat([tail, Buffer.from("\n")]));
  const whole = bytes.length - tail.length;
  await truncate(file, whole);
  return whole;
}

async function append(file: string, content: string | Uint8Array): Promise<void> {
  const handle = await open(file, "a", 0o600);
  try {
    await handle.writeFile(content);
    await syncFile(handle);
  } finally {
    await handle.close();
  }
}

async function lastLines(file: string, count: number): Promise<Buffer> {
  const { lines } = split(await readFile(file));
  const lineFeed = Buffer.from("\n");
  return Buffer.concat(lines.slice(-count).flatMap((line) => [line, lineFeed]));
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

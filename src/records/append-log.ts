import { type FileHandle, open, readFile, truncate } from "node:fs/promises";
import { dirname } from "node:path";
import { isObject } from "../model/json.ts";
import { syncFolder, writeAtomic } from "./atomic.ts";
import { withFileLock } from "./file-lock.ts";
import { isErrno } from "./fs-errors.ts";

// A file of one JSON value a line that is only appended to. A line counts once it is fsynced with its line feed, and nothing is done in the world before
// that. So a last line without one was never relied on: the process was killed, or the disk full, in mid-write.

export type LogEntry = Readonly<Record<string, unknown>>;

export interface LogLine {
  /** Counted from 1. */
  readonly number: number;
  readonly entry: LogEntry;
}

/** A line that is no JSON object, counted from 1. */
export interface BrokenLine {
  readonly broken: number;
}

/** The lines of the log in order; empty where there is no file. A torn last line is left out. Throws what Node's calls throw. */
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
  // Whole, and only its line feed is missing: an editor may have dropped that, so it counts.
  const last = parse(tail);
  if (last !== undefined) found.push({ number: lines.length + 1, entry: last });
  return found;
}

/**
 * Appends one line and returns when it is on the disk, as is the file's name in its folder. Processes take turns. A torn last line is moved to
 * `FILE.torn` first. Then `before` runs with the size of the file: it may throw to refuse, and returns how many of the last lines to keep, or undefined
 * for all. Throws what `before` and Node's calls throw, or an Error: the line may then be there or not, but what comes after it starts on a fresh line.
 */
export async function appendLog(file: string, entry: LogEntry, before?: (bytes: number) => Promise<number | undefined>): Promise<void> {
  await withFileLock(`${file}.lock`, async () => {
    const size = await mendTail(file);
    const keep = await before?.(size);
    if (keep !== undefined) await writeAtomic(file, await lastLines(file, keep), { mode: 0o600 });
    const bytes = Buffer.from(`${JSON.stringify(entry)}\n`);
    const handle = await open(file, "a", 0o600);
    try {
      // One call, so that lines of two processes never mix even where the lock fails; a short count means a full disk.
      const { bytesWritten } = await handle.write(bytes);
      if (bytesWritten < bytes.length)
        throw new Error(`only ${bytesWritten} of ${bytes.length} bytes could be written; the disk may be full`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (size === 0) await syncFolder(dirname(file));
  });
}

/** Brings the file to an end in a line feed, or to no bytes at all, and returns its size. */
async function mendTail(file: string): Promise<number> {
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
    await handle.sync();
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

/** Undefined where it is no JSON object in UTF-8: a torn number or string can be JSON by chance. */
function parse(line: Buffer): LogEntry | undefined {
  try {
    const value: unknown = JSON.parse(strictUtf8.decode(line));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const strictUtf8 = new TextDecoder("utf-8", { fatal: true });

import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isObject, own } from "../../model/json/json.ts";
import type { Read } from "./responses.ts";

/** What is kept of a plan that had nothing to report. */
export interface Memo {
  /** Of its inputs. "" after the first such plan: nothing else is kept then. */
  readonly inputs: string;
  /** In the order in which the responses arrived. */
  readonly reads: readonly Read[];
  readonly output: string;
}

/** Undefined if there is no such file, or if it was not written completely. */
export function readMemo(file: string): Memo | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(file, "utf8"));
    return isObject(value) && own(value, "format") === format ? (value as unknown as Memo) : undefined;
  } catch {
    return undefined;
  }
}

const format = 1;
const keptForMs = 30 * 24 * 3_600_000;

/** Without effect if it cannot be written. Removes memos that were not written for 30 days. */
export function writeMemo(folder: string, name: string, memo: Memo): void {
  const file = join(folder, name);
  const temporary = `${file}.${process.pid}`;
  try {
    writeFileSync(temporary, JSON.stringify({ format, ...memo }), { mode: 0o600 });
    renameSync(temporary, file);
    for (const other of readdirSync(folder)) {
      const path = join(folder, other);
      if (Date.now() - statSync(path).mtimeMs > keptForMs) rmSync(path, { force: true });
    }
  } catch {
    rmSync(temporary, { force: true });
  }
}

import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { isObject, own } from "../../model/json/json.ts";
import { writeCacheFile } from "../../records/files/cache-folder.ts";
import type { Read } from "./responses.ts";

/** What is kept of a plan that had nothing to report. */
export interface Memo {
  /** Of its inputs. "" after the first such plan: nothing else is kept then. */
  readonly inputs: string;
  /** In the order in which the responses arrived. */
  readonly reads: readonly Read[];
  readonly output: string;
  /** Nothing else is kept: the account is too large, or the plan depends on more than its inputs. */
  readonly isUnfit?: true;
}

/** After the first plan that reports nothing. */
export const firstMemo: Memo = { inputs: "", reads: [], output: "" };

/** Undefined if there is no such file, if it was not written completely, or if it is a week old: a plan that could not be kept then may be kept now. */
export function readMemo(file: string): Memo | undefined {
  try {
    if (Date.now() - statSync(file).mtimeMs > keptForMs) return undefined;
    const value: unknown = JSON.parse(readFileSync(file, "utf8"));
    return isObject(value) && own(value, "format") === format ? (value as unknown as Memo) : undefined;
  } catch {
    return undefined;
  }
}

const format = 1;
const keptForMs = 7 * 24 * 3_600_000;

/** Without effect if it cannot be written. Removes memos that were not written for a week. */
export function writeMemo(folder: string, name: string, memo: Memo): void {
  writeCacheFile(join(folder, name), JSON.stringify({ format, ...memo }));
  try {
    for (const other of readdirSync(folder)) {
      const path = join(folder, other);
      if (Date.now() - statSync(path).mtimeMs > keptForMs) rmSync(path, { force: true });
    }
  } catch {
    // Another process, or the user, deletes them at the same time.
  }
}

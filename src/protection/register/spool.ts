import { closeSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { temporaryFolder } from "../../git/temporary-folder.ts";
import type { RegisterRow } from "../../model/register.ts";

// A register begins with a summary, which is known only after the last row. So the rows wait in a temporary file, however
// many columns the account has. Its name is removed at once, so that nobody else opens it and a killed process leaves nothing.

export interface Spool {
  readonly add: (rows: readonly RegisterRow[]) => void;
  /** In the order in which they were added. */
  readonly rows: () => Iterable<RegisterRow>;
  readonly close: () => void;
}

const chunkBytes = 1 << 18;

export async function newSpool(): Promise<Spool> {
  const folder = await temporaryFolder("register");
  const handle = openSync(join(folder, "rows.ndjson"), "wx+", 0o600);
  rmSync(folder, { recursive: true, force: true });
  return {
    add(rows) {
      if (rows.length > 0) writeAll(handle, `${rows.map((row) => JSON.stringify(row)).join("\n")}\n`);
    },
    *rows() {
      for (const line of linesOf(handle)) yield JSON.parse(line) as RegisterRow; // written by `add`
    },
    close() {
      closeSync(handle);
    },
  };
}

function writeAll(handle: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length; ) done += writeSync(handle, bytes, done);
}

function* linesOf(handle: number): Iterable<string> {
  const chunk = Buffer.alloc(chunkBytes);
  const decoder = new StringDecoder("utf8");
  let rest = "";
  let read = 0;
  for (let done = 0; ; done += read) {
    read = readSync(handle, chunk, 0, chunkBytes, done);
    if (read === 0) return;
    const lines = (rest + decoder.write(chunk.subarray(0, read))).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}

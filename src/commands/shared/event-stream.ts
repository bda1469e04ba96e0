import { appendFileSync } from "node:fs";
import { resolve } from "node:path";
import type { OnProgress } from "../../model/progress.ts";
import { type Failure, progressLine, renderFailure } from "../../render/machine/ndjson.ts";
import type { Context } from "./context.ts";

/**
 * Where `-o ndjson` asks for it, a listener that writes progress as events while the command runs: to stdout, or appended to the file, which
 * `checkOutputs` has emptied. The findings follow at the end, when `deliver` writes the document. Undefined where nobody asks.
 */
export function eventStream(context: Context): OnProgress | undefined {
  const files = streamsOf(context);
  if (files.length === 0) return undefined;
  return (event) => write(context, files, progressLine(event, new Date().toISOString()));
}

/** Ends the streams of a command that failed before it had a document. A file that can't be written is not what failed first. */
export function endStream(context: Context, failure: Failure): void {
  try {
    write(context, streamsOf(context), renderFailure(failure));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
  }
}

/** Paths, and "" for stdout. */
const streamsOf = ({ flags }: Context): readonly string[] =>
  flags.output.filter((text) => text === "ndjson" || text.startsWith("ndjson=")).map((text) => text.slice("ndjson=".length));

function write({ io, cwd }: Context, files: readonly string[], lines: string): void {
  for (const file of files) {
    if (file === "") io.stdout(lines);
    else appendFileSync(resolve(cwd, file), lines);
  }
}

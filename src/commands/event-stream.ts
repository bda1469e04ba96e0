import { appendFileSync } from "node:fs";
import { resolve } from "node:path";
import type { OnProgress } from "../model/progress.ts";
import { progressLine } from "../render/ndjson.ts";
import type { Context } from "./context.ts";

/**
 * Where `-o ndjson` asks for it, a listener that writes progress as events while the command runs: to stdout, or appended to the file, which
 * `checkOutputs` has emptied. The findings follow at the end, when `deliver` writes the document. Undefined where nobody asks.
 */
export function eventStream({ io, flags, cwd }: Context): OnProgress | undefined {
  const files = flags.output.filter((text) => text === "ndjson" || text.startsWith("ndjson=")).map((text) => text.slice("ndjson=".length));
  if (files.length === 0) return undefined;
  return (event) => {
    const line = progressLine(event, new Date().toISOString());
    for (const file of files) {
      if (file === "") io.stdout(line);
      else appendFileSync(resolve(cwd, file), line);
    }
  };
}

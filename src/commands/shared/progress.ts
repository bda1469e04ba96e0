import { appendFileSync } from "node:fs";
import { resolve } from "node:path";
import type { OnProgress, ProgressEvent } from "../../model/progress.ts";
import { type Failure, progressLine, renderFailure } from "../../render/machine/ndjson.ts";
import { visible } from "../../text/control-characters.ts";
import type { Context } from "./context.ts";

const verbs: Readonly<Record<string, string>> = { read: "Reading", plan: "Planning", apply: "Applying", wait: "Waiting" };

/** How often stderr hears of it, in milliseconds. */
export interface Pace {
  /** Between two drawings of a terminal's line; nothing is drawn for work that is over sooner. */
  readonly redrawMs: number;
  /** Between two lines where there is no terminal. */
  readonly heartbeatMs: number;
}

/**
 * Shows long work on stderr: one line that is rewritten on a terminal, elsewhere a line every ten seconds. Nothing with --quiet. Events for
 * `-o ndjson` go out at once, also with --quiet, since they are part of the document.
 */
export function showProgress(
  context: Context,
  { redrawMs, heartbeatMs }: Pace = { redrawMs: 100, heartbeatMs: 10_000 },
): { readonly onProgress: OnProgress | undefined; readonly end: () => void } {
  const { io, flags } = context;
  const events = eventStream(context);
  if (flags.quiet === true) return { onProgress: events, end: () => {} };
  const begun = Date.now();
  let latest: ProgressEvent | undefined;
  let drawn = "";
  const draw = (): void => {
    if (latest === undefined) return;
    const seconds = Math.floor((Date.now() - begun) / 1000);
    const text = visible(progressText(latest) + (seconds < 5 ? "" : ` (${seconds} s)`));
    if (!io.stderrIsTty) io.stderr(`dimsync: ${text}\n`);
    else if (text !== drawn) {
      io.stderr(`\r\u001b[K${text.slice(0, io.columns - 1)}`);
      drawn = text;
    }
  };
  const timer = setInterval(draw, io.stderrIsTty ? redrawMs : heartbeatMs);
  // What is shown about the work must not keep the process alive after it.
  timer.unref();
  return {
    onProgress: (event) => {
      latest = event;
      events?.(event);
    },
    end: () => {
      clearInterval(timer);
      if (drawn !== "") io.stderr("\r\u001b[K");
      drawn = "";
    },
  };
}

function progressText(event: ProgressEvent): string {
  const verb = verbs[event.phase] ?? event.phase;
  if (event.type === "phase") return `${verb} …`;
  return `${verb}${event.total > 0 ? ` ${event.done} of ${event.total}` : ""} · ${event.label}`;
}

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

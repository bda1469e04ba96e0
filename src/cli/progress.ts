import { appendFileSync } from "node:fs";
import { resolve } from "node:path";
import type { OnProgress, ProgressEvent } from "../model/runtime/progress.ts";
import { masked } from "../model/settings/secret.ts";
import { type Failure, progressLine, renderFailure } from "../render/machine/ndjson.ts";
import { visible } from "../text/control-characters.ts";
import { type Context, isDumb } from "./context.ts";
import { onRequest } from "./request-log.ts";

const verbs: Readonly<Record<string, string>> = { read: "Reading", plan: "Planning", apply: "Applying", wait: "Waiting" };

/** How often progress is printed, in milliseconds. */
export interface Intervals {
  /** On a terminal. Shorter work prints nothing. */
  readonly redrawMs: number;
  /** Without a terminal. */
  readonly heartbeatMs: number;
}

/**
 * Shows progress on stderr: a line that is overwritten on a terminal, otherwise a new line every ten seconds; nothing with --quiet. `events` gets the
 * events even with --quiet, because they are part of the document of `-o ndjson`; by default, they are written at once.
 */
export function showProgress(
  context: Context,
  {
    redrawMs = 100,
    heartbeatMs = 10_000,
    events = eventStream(context),
  }: Partial<Intervals> & { readonly events?: OnProgress | undefined } = {},
): { readonly onProgress: OnProgress | undefined; readonly end: () => void } {
  const { io, flags } = context;
  const onEvent = events === undefined ? undefined : withoutRepeatedWaits(events);
  if (flags.quiet === true) return { onProgress: onEvent, end: () => {} };
  const isRedrawn = io.stderrIsTty && !isDumb(io);
  const startedMs = Date.now();
  let latest: ProgressEvent | undefined;
  let waitUntilMs = 0;
  let drawn = "";
  const stopListening = onRequest(({ retryAfterMs = 0 }) => {
    waitUntilMs = Math.max(waitUntilMs, Date.now() + retryAfterMs);
  });
  const draw = (): void => {
    if (latest === undefined) return;
    const text = visible(progressText(latest) + timesText(Date.now() - startedMs, waitUntilMs - Date.now()));
    if (!isRedrawn) io.stderr(`dimsync: ${text}\n`);
    else if (text !== drawn) {
      io.stderr(`\r\u001b[K${text.slice(0, io.columns - 1)}`);
      drawn = text;
    }
  };
  const timer = setInterval(draw, isRedrawn ? redrawMs : heartbeatMs);
  // It must not keep the process alive.
  timer.unref();
  return {
    onProgress: (event) => {
      latest = event;
      onEvent?.(event);
    },
    end: () => {
      clearInterval(timer);
      stopListening();
      if (drawn !== "") io.stderr("\r\u001b[K");
      drawn = "";
    },
  };
}

/** Waiting for ten minutes is one event, not sixty equal ones. */
function withoutRepeatedWaits(events: OnProgress): OnProgress {
  let last = "";
  return (event) => {
    const text = event.phase === "wait" ? JSON.stringify(event) : "";
    if (text === "" || text !== last) events(event);
    if (text !== "") last = text;
  };
}

function timesText(elapsedMs: number, waitMs: number): string {
  const seconds = Math.floor(elapsedMs / 1000);
  const waitSeconds = Math.ceil(waitMs / 1000);
  return (seconds < 5 ? "" : ` (${seconds} s)`) + (waitSeconds > 1 ? `; the service asks to wait ${waitSeconds} s` : "");
}

function progressText(event: ProgressEvent): string {
  const verb = verbs[event.phase] ?? event.phase;
  if (event.type === "phase") return `${verb} …`;
  return `${verb}${event.total > 0 ? ` ${event.done} of ${event.total}` : ""} · ${event.label}`;
}

/**
 * With `-o ndjson`, a listener that writes progress events while the command runs: to stdout, or appended to the file, which `checkOutputs` has emptied.
 * `deliver` adds the results at the end.
 */
function eventStream(context: Context): OnProgress | undefined {
  const files = streamsOf(context);
  if (files.length === 0) return undefined;
  return (event) => write(context, files, progressLine(event, new Date().toISOString()));
}

/** Ends the streams of a command that failed before it had a document. Ignores a file that cannot be written: the first error is reported. */
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
    else appendFileSync(resolve(cwd, file), masked(lines));
  }
}

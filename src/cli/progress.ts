import type { OnProgress, ProgressEvent } from "../core/base/model/runtime/progress.ts";
import { visible } from "../core/base/text/control-characters.ts";
import { durationText } from "../core/base/text/counts.ts";
import type { RunEnvironment } from "../core/operations/index.ts";
import { type Context, isDumb, recordsNotice } from "./context.ts";
import { onRequest } from "./request-log.ts";

const verbs = { read: "Reading", columns: "Reading", plan: "Planning", apply: "Applying", wait: "Waiting for" } as const;

/** How often progress is printed on a terminal, in milliseconds. Shorter work prints nothing. */
const redrawMs = 100;
/** The same without a terminal. */
const heartbeatMs = 10_000;

/** Calls the function again and again until the returned function is called. */
export type Every = (ms: number, run: () => void) => () => void;

const everyInterval: Every = (ms, run) => {
  const timer = setInterval(run, ms);
  // It must not keep the process alive.
  timer.unref();
  return () => clearInterval(timer);
};

interface ShownProgress {
  readonly onProgress: OnProgress;
  /** Removes the line from a terminal, until there is more progress. */
  readonly clear: () => void;
  readonly end: () => void;
}

/**
 * Shows progress on stderr: a line that is overwritten on a terminal, otherwise a new line every ten seconds; nothing with --quiet. Requests are
 * counted, so there is progress also where nothing is reported.
 */
export function showProgress({ io, flags }: Context, every: Every = everyInterval): ShownProgress {
  if (flags.quiet === true) return { onProgress: () => {}, clear: () => {}, end: () => {} };
  const isRedrawn = io.stderrIsTty && !isDumb(io);
  const nowMs = (): number => (io.clock?.now() ?? new Date()).getTime();
  const startedMs = nowMs();
  let seen: Seen = { requests: 0 };
  let waitUntilMs = 0;
  let drawn = "";
  const stopListening = onRequest(({ retryAfterMs = 0 }) => {
    seen = { ...seen, requests: seen.requests + 1 };
    waitUntilMs = Math.max(waitUntilMs, nowMs() + retryAfterMs);
  });
  const draw = (): void => {
    const text = progressText(seen, timesText(nowMs() - startedMs, waitUntilMs - nowMs()));
    if (text === "") return;
    if (!isRedrawn) io.stderr(`dimsync: ${text}\n`);
    else if (text !== drawn) {
      io.stderr(`\r\u001b[K${cutToWidth(text, io.columns - 1)}`);
      drawn = text;
    }
  };
  const clear = (): void => {
    seen = { requests: 0 };
    if (drawn !== "") io.stderr("\r\u001b[K");
    drawn = "";
  };
  const stopDrawing = every(isRedrawn ? redrawMs : heartbeatMs, draw);
  return {
    onProgress: (event) => {
      seen = event.type === "step" && event.phase === "columns" ? { ...seen, columns: event } : { ...seen, latest: event };
    },
    clear,
    end: () => {
      stopDrawing();
      stopListening();
      clear();
    },
  };
}

/** Runs an operation in the environment of the command, and shows its progress; `clear` makes room for a question. */
export async function withRun<T>(context: Context, work: (run: RunEnvironment, clear: () => void) => Promise<T>): Promise<T> {
  const { io } = context;
  const progress = showProgress(context);
  try {
    const run = {
      env: io.env,
      signal: io.interrupted,
      clock: io.clock,
      onProgress: progress.onProgress,
      onRecords: recordsNotice(context),
    };
    return await work(run, progress.clear);
  } finally {
    progress.end();
  }
}

/** What there is to show. */
interface Seen {
  readonly latest?: ProgressEvent;
  readonly columns?: Extract<ProgressEvent, { readonly type: "step" }>;
  readonly requests: number;
}

/** "Reading 3 of 41, columns of 1,200 of 38,472 tables, 1,310 requests (2 min) · Schemas/orders"; "" if there is nothing to show yet. */
function progressText({ latest, columns, requests }: Seen, times: string): string {
  if (latest === undefined && requests === 0) return "";
  const verb = verbs[latest?.phase ?? "read"];
  const step = latest?.type === "step" ? latest : undefined;
  if (latest?.phase === "wait") return visible(`${verb} ${step?.label ?? ""}${times}`);
  const isReading = verb === verbs.read;
  const counts = [
    step === undefined || step.total === 0 ? "" : `${shown(step.done)} of ${shown(step.total)}`,
    isReading && columns !== undefined && columns.done < columns.total
      ? `columns of ${shown(columns.done)} of ${shown(columns.total)} tables`
      : "",
    isReading && requests > 0 ? `${shown(requests)} ${requests === 1 ? "request" : "requests"}` : "",
  ].filter((count) => count !== "");
  const label = step === undefined ? "" : ` · ${step.label}`;
  return visible(`${verb}${counts.length === 0 ? "" : ` ${counts.join(", ")}`}${times}${label}`);
}

/** Wide characters take two columns. */
function cutToWidth(text: string, width: number): string {
  let cut = "";
  let used = 0;
  for (const character of text) {
    used += character >= "\u1100" ? 2 : 1;
    if (used > width) break;
    cut += character;
  }
  return cut;
}

/** 1,204 */
const shown = (count: number): string => count.toLocaleString("en-US");

function timesText(elapsedMs: number, waitMs: number): string {
  const waitSeconds = Math.ceil(waitMs / 1000);
  return (
    (elapsedMs < 5_000 ? "" : ` (${durationText(elapsedMs)})`) + (waitSeconds > 1 ? `; the service asks to wait ${waitSeconds} s` : "")
  );
}

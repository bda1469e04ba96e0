import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { visible } from "../core/base/text/control-characters.ts";
import type { CallReport } from "../core/service/index.ts";
import type { GlobalFlags } from "./flags.ts";
import type { Io } from "./io.ts";

// The name is repeated, because this file must not load the service client.
const channelName = "dimsync:request";

/**
 * With `--debug` or DIMSYNC_LOG=debug, prints one line per request to stderr, until the returned
 * function is called. Never a key, a header or a body.
 */
export function startDebugLog(io: Pick<Io, "stderr" | "env">, { debug }: GlobalFlags): () => void {
  if (debug !== true && io.env["DIMSYNC_LOG"] !== "debug") return () => {};
  return onRequest((report) => io.stderr(debugLine(report)));
}

/** Calls `listener` after every attempt of a request of this process, until the returned function is called. */
export function onRequest(listener: (report: CallReport) => void): () => void {
  const receive = (message: unknown): void => listener(message as CallReport);
  subscribe(channelName, receive);
  return () => void unsubscribe(channelName, receive);
}

/** "debug: GET /v1/tags 200 12 ms", with the error and the attempt if there are any. */
function debugLine({ method, path, status, error, attempt, durationMs, retryAfterMs }: CallReport): string {
  const again = attempt > 1 ? ` attempt ${attempt}` : "";
  const why = error === undefined ? "" : ` ${error}`;
  const wait = retryAfterMs === undefined ? "" : ` retry after ${Math.ceil(retryAfterMs / 1000)} s`;
  return `debug: ${method} ${visible(path)} ${status ?? "-"} ${Math.round(durationMs)} ms${again}${why}${wait}\n`;
}

import type { OnProgress, ProgressEvent } from "../model/progress.ts";
import { visible } from "../render/visible.ts";
import type { Context } from "./context.ts";

const redrawMs = 100;
const heartbeatMs = 10_000;
const verbs: Readonly<Record<string, string>> = { read: "Reading", plan: "Planning", apply: "Applying", wait: "Waiting" };

/** Shows long work on stderr: one line that is rewritten on a terminal, elsewhere a line every ten seconds. Nothing with --quiet. */
export function showProgress({ io, flags }: Context): { readonly onProgress: OnProgress | undefined; readonly end: () => void } {
  if (flags.quiet === true) return { onProgress: undefined, end: () => {} };
  let latest: Extract<ProgressEvent, { type: "step" }> | undefined;
  let drawn = false;
  let last = Date.now();
  const text = (): string => {
    if (latest === undefined) return "";
    const count = latest.total > 0 ? ` ${latest.done} of ${latest.total}` : "";
    return `${verbs[latest.phase] ?? latest.phase}${count} · ${latest.label}`;
  };
  const onProgress: OnProgress = (event) => {
    if (event.type !== "step") return;
    latest = event;
    const now = Date.now();
    if (io.stderrIsTty && now - last >= redrawMs) {
      io.stderr(`\r\u001b[K${visible(text()).slice(0, io.columns - 1)}`);
      drawn = true;
      last = now;
    }
  };
  const heartbeat = io.stderrIsTty
    ? undefined
    : setInterval(() => {
        if (latest !== undefined) io.stderr(`dimsync: ${visible(text())}\n`);
      }, heartbeatMs);
  heartbeat?.unref();
  return {
    onProgress,
    end: () => {
      clearInterval(heartbeat);
      if (drawn) io.stderr("\r\u001b[K");
    },
  };
}

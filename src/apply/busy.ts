import type { WriteSession } from "../engine/session.ts";
import type { ServiceError } from "../model/errors.ts";
import { exponentialMs } from "../model/runtime/backoff.ts";

/** The service refuses a request while another one is at work. */
const busyStatuses: readonly (number | undefined)[] = [409, 423, 425];

/** Whether a request was refused because another one is at work. Then it is sent again, for at most `client.settleSeconds`. */
export const isBusy = ({ sent, status }: ServiceError): boolean => sent === "answered" && busyStatuses.includes(status);

/** Pauses while the service is busy, longer each time. False: the time is over, or the run was interrupted. */
export function newBusyWait({ clock, project, signal, onProgress }: WriteSession, label: string): () => Promise<boolean> {
  const end = clock.now().getTime() + project.settings.client.settleMs;
  let attempt = 0;
  return async () => {
    attempt += 1;
    const pauseMs = exponentialMs(attempt, 250, 4_000);
    if (clock.now().getTime() + pauseMs > end || signal.aborted) return false;
    onProgress?.({ type: "step", phase: "wait", done: 0, total: 0, label });
    await clock.sleep(pauseMs, signal);
    return !signal.aborted;
  };
}

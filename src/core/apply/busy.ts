import type { Address } from "../base/model/address.ts";
import { isInCreation, type ServiceError } from "../base/model/errors.ts";
import { exponentialMs } from "../base/model/runtime/clock.ts";
import type { WriteRun } from "../plan/index.ts";

/** The service refuses a request while another one is at work. */
const busyStatuses: readonly (number | undefined)[] = [409, 423, 425];

/** Whether a request was refused because another one is at work, such as the creation of the integration. Then it is sent again. */
export const isBusy = ({ sent, status }: ServiceError): boolean => sent === "answered" && busyStatuses.includes(status);

/**
 * Pauses while the service is busy, longer each time: for at most `client.schemaWaitSeconds` while it creates the integration, and for at
 * most `client.settleSeconds` otherwise. False: the time is over, or the run was interrupted.
 */
export function newBusyWait({ clock, project, signal, onProgress }: WriteRun, address: Address): (error: ServiceError) => Promise<boolean> {
  const start = clock.now().getTime();
  const { schemaWaitMs, settleMs } = project.settings.client;
  let attempt = 0;
  return async (error) => {
    attempt += 1;
    const pauseMs = exponentialMs(attempt, 250, 4_000);
    const waitMs = isInCreation(error) ? schemaWaitMs : settleMs;
    if (clock.now().getTime() + pauseMs > start + waitMs || signal.aborted) return false;
    const cause = isInCreation(error) ? "the service still creates the integration" : "another request is at work";
    onProgress?.({ type: "step", phase: "wait", done: 0, total: 0, label: `${address}: ${cause}` });
    await clock.sleep(pauseMs, signal);
    return !signal.aborted;
  };
}

import type { Failure } from "./errors.ts";

/** Remembers that no request can succeed at the moment, so that a wrong key or a dead host fails once and not once per request. */
export interface CircuitBreaker {
  /** Why a request is not worth sending now; undefined: send it. */
  readonly open: () => Failure | undefined;
  /** The number of responses so far. */
  readonly responses: () => number;
  /** Call it with every response; `failure`: why it is not a success. */
  readonly responded: (failure: Failure | undefined, isRead: boolean) => void;
  /**
   * Call it when a request has no attempts left. `responsesBefore`: how many there were when its
   * first attempt began.
   */
  readonly gaveUp: (failure: Failure, responsesBefore: number) => void;
}

/** After this time one request is tried again, so that a program that polls notices when the service is back. */
const holdMs = 1000;

/** Status 401 may mean a missing permission if the same key was accepted before. So many in a row mean that the key was revoked. */
const refusalsInARow = 3;

export function createCircuitBreaker(now: () => number): CircuitBreaker {
  let failure: Failure | undefined;
  let until = 0;
  let responses = 0;
  let wasAccepted = false;
  let refusals = 0;
  const hold = (cause: Failure): void => {
    failure = { ...cause, sent: "never", again: "never", load: "unknown" };
    until = now() + holdMs;
  };
  return {
    open: () => (failure !== undefined && now() < until ? failure : undefined),
    responses: () => responses,
    responded(cause, isRead) {
      responses += 1;
      if (cause?.status === 401) {
        refusals += 1;
        if ((isRead && !wasAccepted) || refusals >= refusalsInARow) hold(cause);
        return;
      }
      refusals = 0;
      if (cause === undefined) wasAccepted = true;
      if (cause === undefined || failure?.status === undefined) failure = undefined;
    },
    gaveUp(cause, responsesBefore) {
      if (cause.sent === "never" && cause.again === "always" && responses === responsesBefore) hold(cause);
    },
  };
}

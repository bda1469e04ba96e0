import type { HttpHeaders } from "../base/http/exchange.ts";
import type { Method } from "../base/http/transport.ts";
import { exponentialMs } from "../base/model/runtime/clock.ts";
import type { Failure } from "./errors.ts";

const backoffCapMs = 10_000;
const retryAfterCapMs = 120_000;

/** Exponential backoff with full jitter: between 0 and `baseMs`, then twice as much each time, at most 10 s. `attempt` counts from 1. */
export function backoffMs(attempt: number, random: () => number, baseMs = 200): number {
  return random() * exponentialMs(attempt, baseMs, backoffCapMs);
}

/** Whether the same request may be sent again: always if the service certainly did nothing, else only if it changes nothing. */
export function mayRepeat(method: Method, { again }: Failure): boolean {
  return again === "always" || (again === "reads" && method === "GET");
}

/**
 * Which requests may be sent again after a response with this status. 429: the service did nothing, so
 * every request may. Errors of the server and timeouts: only requests that change nothing.
 */
export function repeatAfterStatus(status: number): Failure["again"] {
  if (status === 429) return "always";
  return status < 200 || status >= 500 || status === 408 || status === 425 ? "reads" : "never";
}

/** Milliseconds to wait according to Retry-After, at most 120 s; undefined without it. A date is compared with the response's Date header, so clock skew does not matter. */
export function retryAfterMs(headers: HttpHeaders, nowMs: number): number | undefined {
  const value = headers["retry-after"];
  if (typeof value !== "string") return undefined;
  const text = value.trim();
  const serverNow = typeof headers["date"] === "string" ? Date.parse(headers["date"]) : Number.NaN;
  const delayMs = /^\d+$/u.test(text) ? Number(text) * 1000 : Date.parse(text) - (Number.isNaN(serverNow) ? nowMs : serverNow);
  return Number.isNaN(delayMs) ? undefined : Math.min(Math.max(delayMs, 0), retryAfterCapMs);
}

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

import type { Failure } from "./errors.ts";
import type { Method, WireAnswer } from "./transport.ts";

const backoffBaseMs = 200;
const backoffCapMs = 10_000;
const retryAfterCapMs = 120_000;

/** Exponential backoff with full jitter: anything from 0 to 200 ms, 400 ms, 800 ms … at most 10 s. `attempt` counts from 1. */
export function backoffMs(attempt: number, random: () => number): number {
  return random() * Math.min(backoffCapMs, backoffBaseMs * 2 ** (attempt - 1));
}

/** Whether the same request may be sent again: always where the service certainly did nothing, else only what changes nothing. */
export function mayRepeat(method: Method, { again }: Failure): boolean {
  return again === "always" || (again === "reads" && (method === "GET" || method === "HEAD"));
}

/** How long the service asks to be left alone, at most 120 s; undefined where it doesn't say. Its own Date is the clock for a date, so skew doesn't matter. */
export function retryAfterMs(headers: WireAnswer["headers"], nowMs: number): number | undefined {
  const value = headers["retry-after"];
  if (typeof value !== "string") return undefined;
  const text = value.trim();
  const serverNow = typeof headers["date"] === "string" ? Date.parse(headers["date"]) : Number.NaN;
  const delayMs = /^\d+$/u.test(text) ? Number(text) * 1000 : Date.parse(text) - (Number.isNaN(serverNow) ? nowMs : serverNow);
  return Number.isNaN(delayMs) ? undefined : Math.min(Math.max(delayMs, 0), retryAfterCapMs);
}

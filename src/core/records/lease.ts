import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Lease } from "./records.ts";
import { leaseStale, type StorePlace } from "./store-errors.ts";

/** A moment by both clocks. The monotonic one does not notice that the machine slept, and the wall clock can be set. */
export interface Instant {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/** What time it is, and how to wait. */
export interface LeaseClock {
  readonly now: () => Instant;
  /** Rejects if the signal is aborted. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Calls later, unless the returned function is called before. Does not keep the process alive. */
  readonly after: (ms: number, call: () => void) => () => void;
}

export const systemClock: LeaseClock = {
  now: () => ({ monotonicMs: performance.now(), wallMs: Date.now() }),
  sleep: (ms, signal) => sleep(ms, undefined, signal === undefined ? {} : { signal }),
  after(ms, call) {
    const timer = setTimeout(call, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/**
 * The larger of the two differences. A wall clock that was set back counts like one that was set
 * forward.
 */
export function ageMs(clock: LeaseClock, then: Instant): number {
  const now = clock.now();
  return Math.max(now.monotonicMs - then.monotonicMs, Math.abs(now.wallMs - then.wallMs));
}

/**
 * Throws E_RECORDS_UNCLEAR if the last write of a holder began longer ago than half the lease's
 * time-to-live. Another run takes the lease over after a whole one without a write, so a request
 * that begins now is sent long before.
 */
export function refuseStale(store: StorePlace & { readonly clock: LeaseClock; readonly ttlMs: number }, last: Instant): void {
  const age = ageMs(store.clock, last);
  if (age >= store.ttlMs / 2) throw leaseStale(store, age);
}

export const newToken = (): string => randomBytes(12).toString("hex");

/** Whether a lease for maintenance has ended. `nowMs`: the time by the clock of a database, if there is one. */
export function isOver({ until }: Lease, nowMs: number): boolean {
  return until !== undefined && Date.parse(until) <= nowMs;
}

/**
 * The lease that keeps others from writing; an expired one of a run does, until it is taken over.
 * `nowMs`: when the version was read, by the clock of its store. Git and folders have no clock, so
 * there a lock with an end is over by the clock of the machine that asks, which can be wrong: a lock
 * that must not end early has no end.
 */
export function heldLease(version: {
  readonly content: { readonly lease: Lease | undefined };
  readonly nowMs?: number;
}): Lease | undefined {
  const { content, nowMs = Date.now() } = version;
  return content.lease !== undefined && isOver(content.lease, nowMs) ? undefined : content.lease;
}

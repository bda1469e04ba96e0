import { randomBytes } from "node:crypto";
import type { Lease } from "./records.ts";
import { leaseStale, type StorePlace } from "./store-errors.ts";

/** A moment by both clocks. The monotonic one does not notice that the machine slept, and the wall clock can be set. */
export interface Instant {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

export const instant = (): Instant => ({ monotonicMs: performance.now(), wallMs: Date.now() });

/**
 * The larger of the two differences. A wall clock that was set back counts like one that was set
 * forward.
 */
export function ageMs(then: Instant): number {
  const now = instant();
  return Math.max(now.monotonicMs - then.monotonicMs, Math.abs(now.wallMs - then.wallMs));
}

/**
 * Throws E_RECORDS_UNCLEAR if the last write of a holder began longer ago than half the lease's
 * time-to-live. Another run takes the lease over after a whole one without a write, so a request
 * that begins now is sent long before.
 */
export function refuseStale(store: StorePlace, ttlMs: number, last: Instant): void {
  const age = ageMs(last);
  if (age >= ttlMs / 2) throw leaseStale(store, age);
}

export const newToken = (): string => randomBytes(12).toString("hex");

/** Whether the lease keeps others from writing; an expired one of a run does, until it is taken over. */
export function isHeld(lease: Lease | undefined): lease is Lease {
  if (lease === undefined) return false;
  return lease.until === undefined || !(Date.parse(lease.until) <= Date.now());
}

import { setImmediate } from "node:timers/promises";
import type { LeaseClock } from "../../../src/core/records/lease.ts";

/** A clock that only moves when someone waits by it, or moves it: what waits for it takes no time, however slow the machine is. */
export interface TestClock extends LeaseClock {
  /** Moves it, and calls what was to be called until then. */
  readonly advance: (ms: number) => void;
}

export function testClock(): TestClock {
  const start = Date.now();
  let passedMs = 0;
  const timers = new Set<{ readonly at: number; readonly call: () => void }>();
  const advance = (ms: number): void => {
    passedMs += ms;
    for (const timer of [...timers].filter(({ at }) => at <= passedMs).sort((a, b) => a.at - b.at)) if (timers.delete(timer)) timer.call();
  };
  return {
    advance,
    now: () => ({ monotonicMs: passedMs, wallMs: start + passedMs }),
    async sleep(ms, signal) {
      // Others go on meanwhile.
      await setImmediate();
      signal?.throwIfAborted();
      advance(ms);
    },
    after(ms, call) {
      const timer = { at: passedMs + ms, call };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
  };
}

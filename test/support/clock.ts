import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "../../src/core/base/model/runtime/clock.ts";
import type { ClientOptions } from "../../src/core/service/client.ts";

/** A clock that only moves when somebody sleeps, and then at once. */
export function clockWithoutWaiting(): Clock {
  let ms = Date.now();
  return {
    now: () => new Date(ms),
    async sleep(slept) {
      ms += slept;
      await nextTurn();
    },
  };
}

/** Timeouts that expire when the test says so. */
export function manualTimeouts(): { readonly after: NonNullable<ClientOptions["after"]> } & { readonly pass: (ms: number) => void } {
  let nowMs = 0;
  const timers = new Set<{ readonly atMs: number; readonly run: () => void }>();
  return {
    after(ms, run) {
      const timer = { atMs: nowMs + ms, run };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    pass(ms) {
      nowMs += ms;
      for (const timer of [...timers]) if (timer.atMs <= nowMs && timers.delete(timer)) timer.run();
    },
  };
}

/** The day in so many days, YYYY-MM-DD. */
export const dayIn = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

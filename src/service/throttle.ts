import pLimit from "p-limit";

/** How an answer speaks of the service's load. */
export type Load = "fine" | "overloaded" | "unknown";

export interface Throttle {
  /** Runs the task when its turn comes (first in, first out) and the host may be asked again. `wait` may end early: then the task is to look why. */
  run<T>(task: () => Promise<T>, loadOf: (result: T) => Load, wait: (milliseconds: number) => Promise<void>): Promise<T>;
  /** No request to the host for so long, whichever call was told so (Retry-After). A longer hold stays. */
  hold(milliseconds: number): void;
}

export interface ThrottleOptions {
  readonly concurrency: number;
  /** Requests begun per second, at most; undefined: no limit. */
  readonly rate: number | undefined;
  readonly now: () => number;
}

const cautiousStart = 4;

/**
 * Starts with 4 at a time, one more with every good answer (which doubles them each round trip) up to `concurrency`, and half as many where the service is
 * overloaded: once for all requests that were under way together, else one burst of 429 would bring it down to 1.
 */
export function createThrottle({ concurrency, rate, now }: ThrottleOptions): Throttle {
  const limit = pLimit(Math.min(cautiousStart, concurrency));
  let halvings = 0;
  let notBefore = 0;

  const gapMs = rate === undefined ? 0 : 1000 / rate;
  let nextSlot = 0;

  const waitForHost = async (wait: (milliseconds: number) => Promise<void>): Promise<void> => {
    for (let waitedFor = 0; notBefore > waitedFor; ) {
      waitedFor = notBefore;
      const remaining = notBefore - now();
      if (remaining > 0) await wait(remaining);
    }
    if (gapMs === 0) return;
    const slot = Math.max(now(), nextSlot);
    nextSlot = slot + gapMs;
    if (slot > now()) await wait(slot - now());
  };

  return {
    run: (task, loadOf, wait) =>
      limit(async () => {
        await waitForHost(wait);
        const halvingsBefore = halvings;
        const result = await task();
        const load = loadOf(result);
        if (load === "fine" && limit.concurrency < concurrency) limit.concurrency += 1;
        if (load === "overloaded" && halvings === halvingsBefore) {
          halvings += 1;
          limit.concurrency = Math.max(1, Math.floor(limit.concurrency / 2));
        }
        return result;
      }),
    hold(milliseconds) {
      notBefore = Math.max(notBefore, now() + milliseconds);
    },
  };
}

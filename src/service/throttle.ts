import pLimit from "p-limit";

/** How an answer speaks of the service's load. */
export type Load = "fine" | "overloaded" | "unknown";

export interface Throttle {
  /** Runs the task when its turn comes (first in, first out) and the host may be asked again. */
  run<T>(task: () => Promise<T>, loadOf: (result: T) => Load): Promise<T>;
  /** No request to the host for so long, whichever call was told so (Retry-After). A longer hold stays. */
  hold(milliseconds: number): void;
}

export interface ThrottleOptions {
  readonly concurrency: number;
  readonly wait: (milliseconds: number) => Promise<void>;
  readonly now: () => number;
}

const cautiousStart = 4;

/**
 * Starts with 4 at a time, one more with every good answer (which doubles them each round trip) up to `concurrency`, and half as many where the service is
 * overloaded: once for all requests that were under way together, else one burst of 429 would bring it down to 1.
 */
export function createThrottle({ concurrency, wait, now }: ThrottleOptions): Throttle {
  const limit = pLimit(Math.min(cautiousStart, concurrency));
  let halvings = 0;
  let notBefore = 0;

  const waitForHost = async (): Promise<void> => {
    for (let waitedFor = 0; notBefore > waitedFor; ) {
      waitedFor = notBefore;
      const remaining = notBefore - now();
      if (remaining > 0) await wait(remaining);
    }
  };

  return {
    run: (task, loadOf) =>
      limit(async () => {
        await waitForHost();
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

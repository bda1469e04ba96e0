/** The load of the service according to a response. */
export type Backpressure = "fine" | "overloaded" | "unknown";

export interface Throttle {
  /** Runs the task when its turn comes (first in, first out) and no Retry-After is pending. `wait` may end early; the task must then check why. */
  run<T>(task: () => Promise<T>, loadOf: (result: T) => Backpressure, wait: (milliseconds: number) => Promise<void>): Promise<T>;
  /** Sends no request for this long (Retry-After of any call). A longer hold stays. */
  hold(milliseconds: number): void;
}

export interface ThrottleOptions {
  readonly concurrency: number;
  /** Maximum number of requests started per second; undefined: no limit. */
  readonly rate: number | undefined;
  readonly now: () => number;
}

const cautiousStart = 4;

/**
 * Starts with 4 concurrent requests and adds one with every good response, up to `concurrency`. Halves
 * the number if the service is overloaded, once for all requests that were in flight together:
 * otherwise one burst of 429 would reduce it to 1.
 */
export function createThrottle({ concurrency, rate, now }: ThrottleOptions): Throttle {
  let allowed = Math.min(cautiousStart, concurrency);
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

  // p-limit creates five promises per task, and thousands of tasks wait here while columns are read.
  const turns = createTurns(() => allowed);

  return {
    async run(task, loadOf, wait) {
      const turn = turns.take();
      if (turn !== undefined) await turn;
      try {
        if (notBefore > 0 || gapMs > 0) await waitForHost(wait);
        const halvingsBefore = halvings;
        const result = await task();
        const load = loadOf(result);
        if (load === "fine" && allowed < concurrency) allowed += 1;
        if (load === "overloaded" && halvings === halvingsBefore) {
          halvings += 1;
          allowed = Math.max(1, Math.floor(allowed / 2));
        }
        return result;
      } finally {
        turns.giveBack();
      }
    },
    hold(milliseconds) {
      notBefore = Math.max(notBefore, now() + milliseconds);
    },
  };
}

interface Turns {
  /** undefined: the slot is free. */
  take(): Promise<void> | undefined;
  giveBack(): void;
}

function createTurns(allowed: () => number): Turns {
  const waiting: (() => void)[] = [];
  /** Index of the next task. Shifting a long array would move all of it each time. */
  let first = 0;
  let running = 0;
  return {
    take() {
      if (running < allowed() && first === waiting.length) {
        running += 1;
        return undefined;
      }
      return new Promise((resolve) => waiting.push(resolve));
    },
    giveBack() {
      running -= 1;
      for (; running < allowed() && first < waiting.length; first += 1) {
        running += 1;
        waiting[first]?.();
      }
      if (first * 2 > waiting.length) {
        waiting.splice(0, first);
        first = 0;
      }
    },
  };
}

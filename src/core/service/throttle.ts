/** The load of the service according to a response. */
export type Backpressure = "fine" | "overloaded" | "unknown";

export interface Throttle {
  /** Runs the task when its turn comes (first in, first out) and no Retry-After is pending. */
  run<T>(task: () => Promise<T>, turn: Turn<T>): Promise<T>;
  /** Sends no request for this long (Retry-After of any call). A longer hold stays. */
  hold(milliseconds: number): void;
}

interface Turn<T> {
  /** The response is certainly small, so more of them can be in flight. */
  readonly isSmall: boolean;
  readonly loadOf: (result: T) => Backpressure;
  /** May end early; the task must then check why. */
  readonly wait: (milliseconds: number) => Promise<void>;
}

interface ThrottleOptions {
  readonly concurrency: number;
  /** For requests with small responses; at least `concurrency`. */
  readonly smallConcurrency: number;
  /** Maximum number of requests started per second; undefined: no limit. */
  readonly rate: number | undefined;
  readonly now: () => number;
}

const cautiousStart = 4;

/**
 * Starts with 4 concurrent requests and adds one with every good response, up to `concurrency`, or
 * `smallConcurrency` while responses are small. Halves the number if the service is overloaded, once
 * for all requests that were in flight together: otherwise one burst of 429 would reduce it to 1. Above
 * `concurrency`, every failure counts as overload.
 */
export function createThrottle({ concurrency, smallConcurrency, rate, now }: ThrottleOptions): Throttle {
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

  const adapt = (load: Backpressure, isSmall: boolean, halvingsBefore: number): void => {
    if (load === "fine") {
      if (allowed < (isSmall ? smallConcurrency : concurrency)) allowed += 1;
    } else if ((load === "overloaded" || allowed > concurrency) && halvings === halvingsBefore) {
      halvings += 1;
      allowed = Math.max(1, Math.floor(allowed / 2));
    }
  };

  // p-limit creates five promises per task, and thousands of tasks wait here while columns are read.
  const turns = createTurns((isSmall) => (isSmall ? allowed : Math.min(allowed, concurrency)));

  return {
    async run(task, { isSmall, loadOf, wait }) {
      const turn = turns.take(isSmall);
      if (turn !== undefined) await turn;
      try {
        if (notBefore > 0 || gapMs > 0) await waitForHost(wait);
        const halvingsBefore = halvings;
        const result = await task();
        adapt(loadOf(result), isSmall, halvingsBefore);
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
  take(isSmall: boolean): Promise<void> | undefined;
  giveBack(): void;
}

interface Waiting {
  readonly isSmall: boolean;
  readonly start: () => void;
}

function createTurns(allowed: (isSmall: boolean) => number): Turns {
  const waiting: Waiting[] = [];
  /** Index of the next task. Shifting a long array would move all of it each time. */
  let first = 0;
  let running = 0;
  return {
    take(isSmall) {
      if (running < allowed(isSmall) && first === waiting.length) {
        running += 1;
        return undefined;
      }
      return new Promise((start) => waiting.push({ isSmall, start }));
    },
    giveBack() {
      running -= 1;
      for (let next = waiting[first]; next !== undefined && running < allowed(next.isSmall); next = waiting[first]) {
        running += 1;
        first += 1;
        next.start();
      }
      if (first * 2 > waiting.length) {
        waiting.splice(0, first);
        first = 0;
      }
    },
  };
}

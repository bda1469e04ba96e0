import { type Interruptible, interruptOn, noLongerOn } from "./connection/abort-listeners.ts";

/** A request in flight, which can be ended from outside. */
export interface InFlight extends Interruptible {
  readonly expire: () => void;
  readonly signal: AbortSignal | undefined;
}

export interface Watch {
  /** Starts its timeout, and interrupts it when its signal is aborted. The signal must not be aborted yet. */
  begin(request: InFlight): void;
  /** Call it when the request has ended for any reason. */
  end(request: InFlight): void;
}

/** What timeouts are measured with. */
export interface Timeouts {
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  /** Calls the function once after so many milliseconds, unless the returned function was called before. */
  readonly after: (ms: number, run: () => void) => () => void;
}

const systemTimeouts: Timeouts = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/**
 * Times out all requests of a client with one timer. All have the same timeout, so the oldest one is
 * due first and sets the timer. One timer per request would be a large part of the cost of a small
 * response.
 */
export function createWatch(timeoutMs: number, { now, after } = systemTimeouts): Watch {
  /** Oldest first. */
  const deadlines = new Map<InFlight, number>();
  let stopTimer: (() => void) | undefined;

  const endThoseDue = (): void => {
    stopTimer = undefined;
    for (const [request, deadline] of deadlines) {
      const remaining = deadline - now();
      if (remaining > 0) {
        stopTimer = after(Math.ceil(remaining), endThoseDue);
        return;
      }
      request.expire();
    }
  };

  return {
    begin(request) {
      deadlines.set(request, now() + timeoutMs);
      stopTimer ??= after(timeoutMs, endThoseDue);
      if (request.signal !== undefined) interruptOn(request.signal, request);
    },
    end(request) {
      deadlines.delete(request);
      if (deadlines.size === 0) {
        // The timer must not keep the process alive.
        stopTimer?.();
        stopTimer = undefined;
      }
      if (request.signal !== undefined) noLongerOn(request.signal, request);
    },
  };
}

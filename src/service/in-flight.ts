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

/**
 * Times out all requests of a client with one timer. All have the same timeout, so the oldest one is
 * due first and sets the timer. One timer per request would be a large part of the cost of a small
 * response.
 */
export function createWatch(timeoutMs: number): Watch {
  /** Oldest first. */
  const deadlines = new Map<InFlight, number>();
  let timer: NodeJS.Timeout | undefined;

  const endThoseDue = (): void => {
    timer = undefined;
    for (const [request, deadline] of deadlines) {
      const remaining = deadline - performance.now();
      if (remaining > 0) {
        timer = setTimeout(endThoseDue, Math.ceil(remaining));
        return;
      }
      request.expire();
    }
  };

  return {
    begin(request) {
      deadlines.set(request, performance.now() + timeoutMs);
      timer ??= setTimeout(endThoseDue, timeoutMs);
      if (request.signal !== undefined) interruptOn(request.signal, request);
    },
    end(request) {
      deadlines.delete(request);
      if (deadlines.size === 0) {
        // The timer must not keep the process alive.
        clearTimeout(timer);
        timer = undefined;
      }
      if (request.signal !== undefined) noLongerOn(request.signal, request);
    },
  };
}

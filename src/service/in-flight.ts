import { type Interruptible, interruptOn, noLongerOn } from "./abort-listeners.ts";

/** A request under way, which can be ended from outside. */
export interface InFlight extends Interruptible {
  readonly expire: () => void;
  readonly signal: AbortSignal | undefined;
}

export interface Watch {
  /** From now on it expires after the time, or is interrupted when its signal is aborted. The signal must not be aborted already. */
  begin(request: InFlight): void;
  /** It has ended, in whatever way. */
  end(request: InFlight): void;
}

/**
 * Watches all requests of a client with one timer. All have the same time, so those that began first are due first, and the timer stands for the first of
 * them: a timer for each would be a cost of small answers.
 */
export function createWatch(timeoutMs: number): Watch {
  /** In the order of their beginning. */
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
        // It would keep the process alive.
        clearTimeout(timer);
        timer = undefined;
      }
      if (request.signal !== undefined) noLongerOn(request.signal, request);
    },
  };
}

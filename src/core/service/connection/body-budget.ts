/** A body that is arriving: its connection can be paused. */
export interface Arriving {
  bytes: number;
  readonly pause: () => void;
  readonly resume: () => void;
}

interface BodyBudget {
  /** More bytes of a body have arrived; the first call begins it. */
  readonly add: (body: Arriving, bytes: number) => void;
  /** The body is complete or given up. Does nothing for one that never began. */
  readonly end: (body: Arriving) => void;
}

/**
 * Bounds the bytes of all bodies that arrive at the same time: above the bound, all but one of them
 * wait until another one has ended.
 */
export function bodyBudget(mostBytes: number): BodyBudget {
  const running = new Set<Arriving>();
  const waiting = new Set<Arriving>();
  let total = 0;
  const resumeOne = (): void => {
    const [next] = waiting;
    if (next === undefined || (total > mostBytes && running.size > 0)) return;
    waiting.delete(next);
    running.add(next);
    next.resume();
    resumeOne();
  };
  return {
    add(body, bytes) {
      if (!waiting.has(body)) running.add(body);
      body.bytes += bytes;
      total += bytes;
      if (total <= mostBytes || running.size <= 1 || !running.delete(body)) return;
      waiting.add(body);
      body.pause();
    },
    end(body) {
      total -= body.bytes;
      body.bytes = 0;
      running.delete(body);
      waiting.delete(body);
      resumeOne();
    },
  };
}

/** For all clients of the process, such as those of a controller's accounts. */
export const processBudget = bodyBudget(256 * 2 ** 20);

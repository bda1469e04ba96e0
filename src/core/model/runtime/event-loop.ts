/** Signals and timers wait for the end of synchronous work. This is how long they wait at most, if the work has steps. */
const longestMs = 50;

/** Lets signals and timers run. Node.js looks for them between two calls of setImmediate, and maybe not before the first one. */
const turn = (): Promise<void> => new Promise((resume) => void setImmediate(() => setImmediate(resume)));

/**
 * A function for long work: called between two steps, it makes a `turn` if 50 ms have passed since the last one. Otherwise it returns undefined. What
 * `afterTurn` throws, for example because a signal was aborted, ends the work.
 */
export function newPauses(afterTurn: () => void = () => {}): () => Promise<void> | undefined {
  let last = performance.now();
  return () => {
    if (performance.now() - last < longestMs) return undefined;
    return turn().then(() => {
      last = performance.now();
      afterTurn();
    });
  };
}

/** Long work that is pure: it yields between two steps, each of which takes milliseconds. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Whether work that has done so many things is at the end of a step. One thing can take a millisecond: a column that hundreds of patterns are tried on. */
export const isStep = (done: number): boolean => done % 64 === 0;

const hasSteps = <T>(work: T | Steps<T>): work is Steps<T> => typeof work === "object" && work !== null && "next" in work;

/** The result of the work, which is done at once. */
export function atOnce<T>(work: T | Steps<T>): T {
  if (!hasSteps(work)) return work;
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/** The result of the work, with pauses between its steps. */
export async function withPauses<T>(work: T | Steps<T>, pause = newPauses()): Promise<T> {
  if (!hasSteps(work)) return work;
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    const paused = pause();
    if (paused !== undefined) await paused;
  }
}

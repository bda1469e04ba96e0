/** Signals and timers wait for the end of synchronous work. This is how long they wait at most. */
const longestMs = 50;

/**
 * A function for long work: called between two steps, it lets signals and timers run if 50 ms have
 * passed since it last did.
 */
export function newPauses(): () => Promise<void> {
  let last = performance.now();
  return async () => {
    if (performance.now() - last < longestMs) return;
    await new Promise<void>((resume) => setImmediate(resume));
    last = performance.now();
  };
}

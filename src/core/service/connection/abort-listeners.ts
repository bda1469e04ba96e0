/** An operation that an abort ends. */
export interface Interruptible {
  readonly interrupt: () => void;
}

interface Listening {
  readonly ends: Set<Interruptible>;
  readonly onAbort: () => void;
}

const listening = new WeakMap<AbortSignal, Listening>();

/**
 * Interrupts it when the signal is aborted. All share one listener on the signal: Node warns about a
 * leak from the eleventh listener on, and adding or removing one takes longer the more there are. The
 * signal must not be aborted yet.
 */
export function interruptOn(signal: AbortSignal, what: Interruptible): void {
  const known = listening.get(signal);
  if (known !== undefined) {
    known.ends.add(what);
    return;
  }
  const ends = new Set([what]);
  const onAbort = (): void => {
    for (const end of ends) end.interrupt();
  };
  signal.addEventListener("abort", onAbort, { once: true });
  listening.set(signal, { ends, onAbort });
}

/** Call it when the operation has ended or was interrupted. */
export function noLongerOn(signal: AbortSignal, what: Interruptible): void {
  const known = listening.get(signal);
  if (known === undefined) return;
  known.ends.delete(what);
  if (known.ends.size > 0) return;
  signal.removeEventListener("abort", known.onAbort);
  listening.delete(signal);
}

/** Ends after the time, or early when the signal is aborted. */
export function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const interrupt = (): void => {
      clearTimeout(timer);
      if (signal !== undefined) noLongerOn(signal, waiting);
      resolve();
    };
    const waiting = { interrupt };
    const timer = setTimeout(interrupt, milliseconds);
    if (signal !== undefined) interruptOn(signal, waiting);
  });
}

import { setImmediate, setTimeout } from "node:timers/promises";

/** What runs wait with. Tests pass one that does not wait. */
export interface Clock {
  now(): Date;
  /** Resolves early if the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => new Date(),
  sleep: async (ms, signal) => {
    await setTimeout(ms, undefined, signal === undefined ? {} : { signal }).catch(() => {});
  },
};
/** The pause after an attempt in milliseconds: `firstMs`, twice as long each time, at most `mostMs`. `attempt` counts from 1. */
export const exponentialMs = (attempt: number, firstMs: number, mostMs = Number.POSITIVE_INFINITY): number =>
  Math.min(mostMs, firstMs * 2 ** (attempt - 1));

/** Between half and one and a half times the pause, so that processes that failed together do not try again together. */
export const spread = (pauseMs: number): number => pauseMs * (0.5 + Math.random());

/** Lets signals and timers run. Node.js looks for them between two calls of setImmediate, and maybe not before the first one. */
export async function turn(): Promise<void> {
  await setImmediate();
  await setImmediate();
}

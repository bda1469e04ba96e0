import { setTimeout } from "node:timers/promises";

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

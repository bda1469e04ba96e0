import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "../../src/engine/session.ts";

/** A clock that only moves when somebody sleeps, and then at once. */
export function clockWithoutWaiting(): Clock {
  let ms = Date.now();
  return {
    now: () => new Date(ms),
    async sleep(slept) {
      ms += slept;
      await nextTurn();
    },
  };
}

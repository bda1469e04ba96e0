import type { Session } from "../engine/session.ts";
import type { Deferred } from "../model/plan.ts";

/** Waits for schemas that the service has not discovered yet, in all at most `schemaWaitSeconds`. */
export function newSchemaWait(session: Session) {
  let deadline: number | undefined;
  let pauseMs = 250;
  return {
    /** False where nothing that waits can be helped by time, or the time is over. */
    async waitFor(deferred: readonly Deferred[]): Promise<boolean> {
      const discovering = deferred.filter(({ liveId }) => liveId !== undefined);
      const now = session.clock.now().getTime();
      deadline ??= now + session.project.settings.client.schemaWaitMs;
      if (discovering.length === 0 || now >= deadline) return false;
      session.onProgress?.({
        type: "step",
        phase: "wait",
        done: 0,
        total: discovering.length,
        label: "waiting for the schema of a new integration",
      });
      await session.clock.sleep(Math.min(deadline - now, pauseMs), session.signal);
      pauseMs = Math.min(pauseMs * 2, 10_000);
      return !session.signal.aborted;
    },
  };
}

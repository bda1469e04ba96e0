import type { Session } from "../engine/session.ts";
import type { Deferred } from "../model/plan.ts";

/** Waits for schemas that the service has not discovered yet: in total at most `client.schemaWaitSeconds`. */
export function newSchemaWait({ clock, project, signal, onProgress }: Session) {
  let deadline: number | undefined;
  let pauseMs = 250;
  return {
    /** False if waiting can't help or the deadline has passed. */
    async waitFor(deferred: readonly Deferred[]): Promise<boolean> {
      const discovering = deferred.filter(({ liveId }) => liveId !== undefined);
      const now = clock.now().getTime();
      deadline ??= now + project.settings.client.schemaWaitMs;
      // A timer can end a little early.
      if (discovering.length === 0 || deadline - now < 10) return false;
      const label = "the schema of a new integration";
      onProgress?.({ type: "step", phase: "wait", done: 0, total: discovering.length, label });
      await clock.sleep(Math.min(deadline - now, pauseMs), signal);
      pauseMs = Math.min(pauseMs * 2, 10_000);
      return !signal.aborted;
    },
  };
}

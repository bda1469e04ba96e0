import { ServiceError } from "../model/errors.ts";
import { backoffMs } from "../service/retry.ts";
import type { Ending, Step } from "./step.ts";
import { readAgainAfterMs } from "./update.ts";

/** Takes a tag off a resource. That may be sent again after an unclear response: it has no effect on a relation that is gone. */
export async function sendRemoval<Live>(step: Step<Live>): Promise<Ending> {
  const { item, session, records } = step;
  const [request] = item.requests;
  const before = await existing(step);
  if (request === undefined || before === "gone")
    return { outcome: "failed", code: "E_GONE", message: `The tag ${item.liveId ?? ""} is gone from the account.` };
  if (before.length === 0)
    return { outcome: "skipped", code: "E_STALE", message: "The tag was taken off the resource after the plan was made." };
  await records.take();
  for (let attempt = 1; ; attempt++) {
    const failure = await failureOf(() => session.writer.send(request));
    if (failure?.sent === "never") throw failure;
    if (await isRemoved(step, failure?.sent === "answered" ? [0] : readAgainAfterMs))
      return failure === undefined ? { outcome: "done" } : { outcome: "recovered", message: failure.message };
    if (failure === undefined)
      return {
        outcome: "not-converged",
        code: "E_NOT_CONVERGED",
        message: "The service accepted the request, but the tag still has the relation.",
      };
    const mayRepeat = failure.sent === "maybe" && attempt <= session.project.settings.client.retries && !session.signal.aborted;
    if (!mayRepeat) throw failure;
    await session.clock.sleep(backoffMs(attempt, Math.random), session.signal);
  }
}

async function existing<Live>({ item: { naturalKey }, kind, session }: Step<Live>) {
  if (kind.find === undefined || naturalKey === undefined) throw new Error("a relation can't be found without its natural key");
  return kind.find(naturalKey, session.writer.reads);
}

async function failureOf(send: () => Promise<unknown>): Promise<ServiceError | undefined> {
  try {
    await send();
    return undefined;
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}

/** Reads more than once, because a response may come from a cache. */
async function isRemoved<Live>(step: Step<Live>, afterMs: readonly number[]): Promise<boolean> {
  const { clock, signal } = step.session;
  for (const pauseMs of afterMs) {
    if (pauseMs > 0) await clock.sleep(pauseMs, signal);
    const found = await existing(step);
    if (found === "gone" || found.length === 0) return true;
    if (signal.aborted) break;
  }
  return false;
}

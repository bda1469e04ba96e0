import pLimit from "p-limit";
import { kindOf } from "../base/model/address.ts";
import { eachChange } from "../base/model/changes.ts";
import { DimsyncError, ServiceError } from "../base/model/errors.ts";
import type { ReadyStep } from "../base/model/plan.ts";
import { kindNamed } from "../kinds/index.ts";
import { backoffMs } from "../service/index.ts";
import { sendCreate } from "./create.ts";
import {
  type EndedStep,
  type Ending,
  type Execution,
  ended,
  endingOf,
  isGood,
  isOfThisRun,
  lackingCall,
  learnLacking,
  notOffered,
  type Started,
  unreadBefore,
} from "./step.ts";
import { sendUpdate } from "./update.ts";
import { pausesFor } from "./verify.ts";

/**
 * Sends the requests of the items: each item after those that it depends on, one at a time per live
 * object, otherwise concurrently. A failure skips what depends on it. Never throws for an item: its ending says what happened.
 */
export async function execute(items: readonly ReadyStep[], execution: Execution): Promise<readonly EndedStep[]> {
  const { run } = execution;
  const start = newStarter(execution);
  const endings = new Map<string, Promise<EndedStep>>();
  const lastOnObject = new Map<string, Promise<unknown>>();
  let done = 0;
  run.onProgress?.({ type: "phase", phase: "apply", round: 1, total: items.length });
  const inTurn = async (item: ReadyStep, before: Promise<unknown> | undefined): Promise<EndedStep> => {
    const needed = await Promise.all((item.dependsOn ?? []).flatMap((id) => endings.get(id) ?? []));
    await before;
    const unmet = needed.find(({ outcome }) => !isGood(outcome));
    const ending = unmet === undefined ? await start(item) : dependencyFailed(unmet);
    done++;
    run.onProgress?.({ type: "step", phase: "apply", done, total: items.length, label: `${item.address} ${ending.outcome}` });
    return ended(item, ending);
  };
  for (const item of items) {
    const object = `${kindOf(item.address)} ${item.liveId ?? item.address}`;
    const ending = inTurn(item, lastOnObject.get(object));
    endings.set(item.id, ending);
    lastOnObject.set(object, ending);
  }
  return Promise.all(endings.values());
}

/** Starts items when there is room for them. */
function newStarter(execution: Execution): (item: ReadyStep) => Promise<Ending> {
  const { run } = execution;
  // At least as many as a wave of intents, which is stored at once. The client limits the requests in flight.
  const limit = pLimit(Math.max(run.project.settings.client.concurrency, run.writer.records.waveSize));
  return (item) =>
    limit(async () => {
      if (run.signal.aborted)
        return { outcome: "skipped", code: "E_INTERRUPTED", message: "The run was interrupted before this step started." };
      return await act(item, execution);
    });
}

/** The ending of an item whose dependency did not succeed. */
export const dependencyFailed = ({ address, outcome }: Pick<EndedStep, "address" | "outcome">): Ending => ({
  outcome: "skipped",
  code: "E_DEPENDENCY",
  message: `It depends on ${address}, which is ${outcome}.`,
});

async function act(item: ReadyStep, execution: Execution): Promise<Ending> {
  const known = execution.endings.get(item.id);
  if (known !== undefined) return known;
  const kind = kindNamed(kindOf(item.address));
  try {
    if (kind === undefined)
      return { outcome: "failed", code: "E_UNKNOWN_KIND", message: `This version has no kind ${kindOf(item.address)}.` };
    if (item.verb === "bind") return await recordId(item, execution);
    const step = { ...execution, item, kind };
    const missing = lackingCall(step);
    if (missing !== undefined) return notOffered(missing);
    if (item.verb === "update") return await sendUpdate(step);
    return await (item.verb === "unrelate" ? sendRemoval(step) : execution.records.during(() => sendCreate(step)));
  } catch (error) {
    // Another run wrote first, and what it wrote may concern this item. Nothing was sent, so it is planned again.
    if (error instanceof DimsyncError && error.code === "E_RECORDS_CHANGED")
      return { outcome: "skipped", code: "E_STALE", message: error.message };
    if (error instanceof ServiceError) {
      const lacking = kind === undefined ? undefined : await learnLacking({ ...execution, item, kind }, error);
      return lacking === undefined ? endingOf(error, isOfThisRun({ ...execution, item })) : notOffered(lacking);
    }
    if (error instanceof DimsyncError) return { outcome: "failed", code: error.code, message: error.message };
    // If it were thrown, the outcomes of the other items would be lost. An open intent blocks the
    // address, so that nothing is sent twice because of it.
    const name = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    const isOpen = execution.records.state().open.some(({ address }) => address === item.address);
    return {
      outcome: isOpen ? "unknown" : "failed",
      code: "E_INTERNAL",
      message: `An internal error of dimsync ended it (${name}). Please report it.`,
    };
  }
}

/** Executes a `bind` item: records an id and sends nothing. */
async function recordId(item: ReadyStep, { records }: Execution): Promise<Ending> {
  await records.take();
  const { bindings, open } = records.state();
  const id = item.liveId ?? "";
  const bound = bindings.get(item.address);
  const planned = [...eachChange(item)].find(({ path }) => path === "/id")?.before;
  if (bound !== undefined && bound.id !== id && bound.id !== planned)
    return { outcome: "skipped", code: "E_STALE", message: `It was bound to ${bound.id} after the plan was made.` };
  const intents = open.filter(({ address }) => address === item.address);
  // Digests describe what was sent to one object, so they are not kept for another id.
  const record = bound?.id === id ? bound : intents[0]?.record;
  // Both at once, so that they are written together: an id that no address has could be created again.
  const unbound = item.renamedFrom === undefined ? undefined : records.unbind(item.renamedFrom);
  await Promise.all([unbound, records.bind(item.address, { ...record, ...item.binding, id })]);
  for (const { entryId } of intents) await records.settle(entryId, { outcome: "recovered", id });
  return { outcome: "done" };
}

/** Takes a tag off a resource. That may be sent again after an unclear response: it has no effect on a relation that is gone. */
async function sendRemoval<Live>(step: Started<Live>): Promise<Ending> {
  const { item, run, records } = step;
  const [request] = item.requests;
  const before = await existing(step);
  if (request === undefined || before === "gone") return unreadBefore(step);
  if (before.length === 0)
    return { outcome: "skipped", code: "E_STALE", message: "The tag was taken off the resource after the plan was made." };
  await records.take();
  for (let attempt = 1; ; attempt++) {
    const failure = await failureOf(() => run.writer.send(request));
    if (failure?.sent === "never") throw failure;
    if (await isRemoved(step, failure?.sent === "answered" ? [0] : pausesFor(run.project.settings.client.settleMs)))
      return failure === undefined ? { outcome: "done" } : { outcome: "recovered", message: failure.message };
    if (failure === undefined)
      return {
        outcome: "not-converged",
        code: "E_NOT_CONVERGED",
        message: "The service accepted the request, but the tag still has the relation.",
      };
    const mayRepeat = failure.sent === "maybe" && attempt <= run.project.settings.client.retries && !run.signal.aborted;
    if (!mayRepeat) throw failure;
    await run.clock.sleep(backoffMs(attempt, Math.random), run.signal);
  }
}

async function existing<Live>({ item: { naturalKey }, kind, run }: Started<Live>) {
  if (kind.find === undefined || naturalKey === undefined) throw new Error("a relation can't be found without its natural key");
  return kind.find(naturalKey, run.writer.reads);
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
async function isRemoved<Live>(step: Started<Live>, afterMs: Iterable<number>): Promise<boolean> {
  const { clock, signal } = step.run;
  for (const pauseMs of afterMs) {
    if (pauseMs > 0) await clock.sleep(pauseMs, signal);
    const found = await existing(step);
    if (found === "gone" || found.length === 0) return true;
    if (signal.aborted) break;
  }
  return false;
}

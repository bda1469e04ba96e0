import type { Updates } from "../kinds/kind.ts";
import { readIfPossible, readOr, ServiceError } from "../model/errors.ts";
import { type JsonObject, sameJson } from "../model/json/json.ts";
import { atPointer, type Pointer } from "../model/json/pointer.ts";
import type { Item } from "../model/plan.ts";
import { withPauses } from "../model/runtime/event-loop.ts";
import type { PlannedRequest } from "../model/service.ts";
import { backoffMs } from "../service/retry.ts";
import { inlineSecrets } from "./inline-secrets.ts";
import type { Ending, Step } from "./step.ts";
import { describeStale, listPointers, staleNodes, verifyWrite } from "./verify.ts";

// PUT and PATCH state the desired values, so sending one twice has the effect of sending it once.
// Still, the touched nodes are read first, and after an unclear failure the request is sent again
// only if the account does not have the desired values.

/** An update, and the live object as it was last read. */
interface UpdateStep<Live> extends Step<Live> {
  readonly update: Updates<Live>;
  readonly live: Live;
}

export async function sendUpdate<Live>(step: Step<Live>): Promise<Ending> {
  const { item, session } = step;
  const { update } = step.kind;
  if (update === undefined) throw new Error(`${item.kind} has no updates`);
  let live: Live | undefined = await update.reread(item, session.writer.reads);
  if (live === undefined) return { outcome: "failed", code: "E_GONE", message: `${item.liveId ?? item.address} is gone from the account.` };
  // If responses show nothing of the object, neither do reads show all of it.
  const stale = await withPauses(staleNodes(item, update.document(item, live), update.answered !== undefined));
  if (stale.length > 0)
    return { outcome: "skipped", code: "E_STALE", message: `It changed after the plan was made: ${describeStale(stale)}.` };
  await step.records.take();
  for (const [index, request] of item.requests.entries()) {
    if (session.signal.aborted) return interruptedAfter(item, index);
    const sent: Sent<Live> = await sendOne<Live>({ ...step, update, live }, request);
    if (sent.ending !== undefined) return sent.ending;
    live = sent.live;
  }
  if (item.binding !== undefined && item.liveId !== undefined) await step.records.bind(item.address, { ...item.binding, id: item.liveId });
  return { outcome: "done" };
}

/** An item that is interrupted between two requests has done a part of its work. */
function interruptedAfter({ requests }: Item, sent: number): Ending {
  const code = "E_INTERRUPTED";
  if (sent === 0) return { outcome: "skipped", code, message: "The run was interrupted before this item was sent." };
  const names = (some: readonly PlannedRequest[]): string => some.map(({ method, path }) => `${method} ${path}`).join(", ");
  return {
    outcome: "not-converged",
    code,
    message: `The run was interrupted after ${sent} of its ${requests.length} requests. Sent and verified: ${names(requests.slice(0, sent))}. Not sent: ${names(requests.slice(sent))}. Run plan to see what is left.`,
  };
}

/** The live object after a request; with an ending, the item ends here. */
interface Sent<Live> {
  readonly live: Live;
  readonly ending?: Ending;
}

async function sendOne<Live>(step: UpdateStep<Live>, request: PlannedRequest): Promise<Sent<Live>> {
  const { session, update, live, secrets } = step;
  const { body } = request;
  for (let attempt = 0; ; attempt++) {
    try {
      const response = await session.writer.send(inlineSecrets(request, secrets));
      if (update.answered === undefined) return { live };
      return await verified(step, body, update.answered(live, response, session.writer.decode));
    } catch (error) {
      if (!(error instanceof ServiceError) || error.sent !== "maybe") throw error;
      const sent = await afterUnclear(step, body, error);
      if (sent !== undefined) return sent;
      if (attempt >= session.project.settings.client.retries || session.signal.aborted) throw error;
      await session.clock.sleep(backoffMs(attempt + 1, Math.random), session.signal);
    }
  }
}

/** Whether a request without a clear response took effect; undefined: it did not, and may be sent again. */
async function afterUnclear<Live>(step: UpdateStep<Live>, body: JsonObject, error: ServiceError): Promise<Sent<Live> | undefined> {
  const { item, update, live } = step;
  // If the read fails too, the failure of the write is what is reported.
  const after = await readOr(
    () => update.reread(item, step.session.writer.reads),
    () => {
      throw error;
    },
  );
  const document = update.document(item, after);
  const { different, equal } = await withPauses(verifyWrite(body, document));
  // A request takes effect as a whole, so the readable values also prove those that no read returns
  // (an asset).
  if (after !== undefined && different.length === 0 && equal > 0)
    return update.answered === undefined ? { live: after } : verified(step, body, after);
  const before = update.document(item, live);
  const changedByOthers = different.filter((pointer) => !isSameAt(pointer, before, document));
  if (changedByOthers.length === 0) return undefined;
  return {
    live,
    ending: {
      outcome: "failed",
      code: "E_CHANGED_MEANWHILE",
      message: `${error.message} Meanwhile ${listPointers(changedByOthers)} changed to another value, so the request is not sent again. Run plan to see the live state.`,
    },
  };
}

const isSameAt = (pointer: Pointer, before: JsonObject, after: JsonObject): boolean =>
  sameJson(atPointer(before, pointer), atPointer(after, pointer));

/** Compares what the response (or a read) shows with the values of the body and with the state before. */
async function verified<Live>(step: UpdateStep<Live>, body: JsonObject, shown: Live): Promise<Sent<Live>> {
  const { item, update, live: before } = step;
  const first = await withPauses(verifyWrite(body, update.document(item, shown)));
  // Some responses have no columns; those are read.
  const isPartial = first.different.length === 0 && first.unseen.length > 0;
  const live = (isPartial ? await readIfPossible(() => update.reread(item, step.session.writer.reads)) : undefined) ?? shown;
  const { different, unseen } = isPartial ? await withPauses(verifyWrite(body, update.document(item, live))) : first;
  const unreached = [...different, ...unseen];
  if (unreached.length > 0)
    return {
      live,
      ending: {
        outcome: "not-converged",
        code: "E_NOT_CONVERGED",
        message: `The service accepted the request, but its response does not show the desired value of ${listPointers(unreached)}. Run plan to see the live state.`,
      },
    };
  const touched = update.unintended === undefined ? [] : await withPauses(update.unintended(before, live, body));
  if (touched.length === 0) return { live };
  return {
    live,
    ending: {
      outcome: "not-converged",
      code: "E_UNINTENDED_CHANGE",
      message: `The service has the desired values, but other values changed too: ${listPointers(touched)}. Check them before you apply anything else.`,
    },
  };
}

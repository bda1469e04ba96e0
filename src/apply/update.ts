import type { Ending, Run } from "../engine/session.ts";
import type { Kind, Unit } from "../kinds/kind.ts";
import { ServiceError } from "../model/errors.ts";
import { type JsonObject, type JsonValue, sameJson } from "../model/json.ts";
import type { Item } from "../model/plan.ts";
import { atPointer, type Pointer } from "../model/pointer.ts";
import type { PlannedRequest } from "../model/service.ts";
import { inlineSecrets } from "./inline-secrets.ts";
import { describeStale, listPointers, staleNodes, verifyWrite, wantedBy } from "./verify.ts";

// PUT and PATCH say what is to be, so sending one twice does no harm that sending it once doesn't. Still: what the item touches is read first,
// and after an unclear failure it is sent again only where the wanted values aren't there (product §3.3, §3.4).

export async function sendUpdate<Live>(item: Item, kind: Kind<Unit, Live>, run: Run): Promise<Ending> {
  let live: Live | undefined = await kind.reread(item, run.reads);
  if (live === undefined) return { outcome: "failed", code: "E_GONE", message: `${item.liveId ?? item.address} is gone from the account.` };
  const stale = staleNodes(kind, item, live);
  if (stale.length > 0)
    return { outcome: "skipped", code: "E_STALE", message: `It changed after the plan was made: ${describeStale(stale)}.` };
  await run.records.take();
  for (const [index, request] of item.requests.entries()) {
    if (run.stop.aborted)
      return {
        outcome: "skipped",
        code: "E_INTERRUPTED",
        message: `The run was interrupted after ${index} of its ${item.requests.length} calls.`,
      };
    const sent: Sent<Live> = await sendOne<Live>(item, request, live, kind, run);
    if (sent.ending !== undefined) return sent.ending;
    live = sent.live;
  }
  if (item.binding !== undefined && item.liveId !== undefined) await run.records.bind(item.address, { ...item.binding, id: item.liveId });
  return { outcome: "done" };
}

/** The live object after a request, or the ending where that is all there is to say. */
interface Sent<Live> {
  readonly live: Live;
  readonly ending?: Ending;
}

async function sendOne<Live>(item: Item, request: PlannedRequest, before: Live, kind: Kind<Unit, Live>, run: Run): Promise<Sent<Live>> {
  const wanted = wantedBy(request.body);
  for (let attempt = 0; ; attempt++) {
    try {
      const answer = await run.send(inlineSecrets(request, run.secrets));
      const after = kind.answered?.(before, answer, run.decode);
      return after === undefined ? { live: before } : await verified(item, wanted, before, after, kind, run);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.sent !== "maybe") throw error;
      const after = await rereadAfter(error, item, kind, run);
      const shown = verifyWrite(wanted, kind.document(item, after));
      const acted = after !== undefined && shown.different.length === 0 && shown.unseen.length < wanted.size;
      // What no answer shows (an asset) is taken from what a read does show: a call is carried out as a whole.
      if (acted) return kind.answered === undefined ? { live: after } : await verified(item, wanted, before, after, kind, run);
      const meddled = shown.different.filter((pointer) => !isAsBefore(pointer, kind.document(item, before), kind.document(item, after)));
      if (meddled.length > 0)
        return {
          live: before,
          ending: {
            outcome: "failed",
            code: "E_CHANGED_MEANWHILE",
            message: `${error.message} Meanwhile something else changed ${listPointers(meddled)}, so it is not sent again. Run plan to see what is live now.`,
          },
        };
      if (attempt >= run.retries || run.stop.aborted) throw error;
      await run.clock.sleep(200 * 2 ** attempt, run.stop);
    }
  }
}

const isAsBefore = (pointer: Pointer, before: JsonObject, after: JsonObject): boolean =>
  sameJson(atPointer(before, pointer), atPointer(after, pointer));

/** Reads what an unclear failure left behind; where that fails too, the failure of the write is the one to tell. */
async function rereadAfter<Live>(failure: ServiceError, item: Item, kind: Kind<Unit, Live>, run: Run): Promise<Live | undefined> {
  try {
    return await kind.reread(item, run.reads);
  } catch (error) {
    if (error instanceof ServiceError) throw failure;
    throw error;
  }
}

async function verified<Live>(
  item: Item,
  wanted: ReadonlyMap<Pointer, JsonValue>,
  before: Live,
  shown: Live,
  kind: Kind<Unit, Live>,
  run: Run,
): Promise<Sent<Live>> {
  let after = shown;
  const first = verifyWrite(wanted, kind.document(item, after));
  if (first.different.length === 0 && first.unseen.length > 0) {
    // A form of the answer without columns: what it leaves out is read.
    try {
      after = (await kind.reread(item, run.reads)) ?? after;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
    }
  }
  const { different, unseen } = verifyWrite(wanted, kind.document(item, after));
  const unreached = [...different, ...unseen];
  if (unreached.length > 0)
    return {
      live: after,
      ending: {
        outcome: "not-converged",
        code: "E_NOT_CONVERGED",
        message: `The service accepted the call, and its answer does not show the wanted value of ${listPointers(unreached)}. Run plan to see what is live now.`,
      },
    };
  const touched = kind.unintended?.(before, after, new Set(wanted.keys())) ?? [];
  if (touched.length > 0)
    return {
      live: after,
      ending: {
        outcome: "not-converged",
        code: "E_UNINTENDED_CHANGE",
        message: `The wanted values are there, and beside them something changed that was not asked for: ${listPointers(touched)}. Look at it before anything else is applied.`,
      },
    };
  return { live: after };
}

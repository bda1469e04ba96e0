import type { Kind, Unit } from "../kinds/kind.ts";
import { ServiceError } from "../model/errors.ts";
import type { Item } from "../model/plan.ts";
import type { Pointer } from "../model/pointer.ts";
import type { PlannedRequest } from "../model/service.ts";
import { judge, staleNodes, wantedBy } from "./evidence.ts";
import type { Ending, Run } from "./run.ts";
import { sendable } from "./sendable.ts";

// PUT and PATCH say what is to be, so sending one twice does no harm that sending it once doesn't. Still: what the item touches is read first,
// and after an unclear failure it is sent again only where the wanted values aren't there (product §3.3, §3.4).

export async function writeAgain<Live>(item: Item, kind: Kind<Unit, Live>, run: Run): Promise<Ending> {
  let live: Live | undefined = await kind.reread(item, run.reads);
  if (live === undefined) return { outcome: "failed", code: "E_GONE", message: `${item.liveId ?? item.address} is gone from the account.` };
  const stale = staleNodes(kind, item, live);
  if (stale.length > 0) return { outcome: "skipped", code: "E_STALE", message: `It changed after the plan was made: ${list(stale)}.` };
  for (const request of item.requests) {
    const sent: Sent<Live> = await sendOne<Live>(item, request, live, kind, run);
    if (sent.ending !== undefined) return sent.ending;
    live = sent.live;
  }
  if (item.binding !== undefined && item.liveId !== undefined) await run.bind(item.address, { ...item.binding, id: item.liveId });
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
    let after: Live | undefined;
    try {
      const answer = await run.send(sendable(request, run.secrets));
      after = kind.answered?.(before, answer, run.decode);
      if (after === undefined) return { live: before };
    } catch (error) {
      if (!(error instanceof ServiceError) || error.sent !== "maybe") throw error;
      after = await kind.reread(item, run.reads);
      const shown = judge(wanted, kind.document(item, after));
      if (after === undefined || shown.different.length > 0 || shown.unseen.length === wanted.size) {
        if (attempt >= run.retries || run.stop.aborted) throw error;
        await run.clock.sleep(200 * 2 ** attempt, run.stop);
        continue;
      }
    }
    const verdict = judge(wanted, kind.document(item, after ?? before));
    // A form of the answer without columns: what it leaves out is read.
    if (verdict.different.length === 0 && verdict.unseen.length > 0) after = (await kind.reread(item, run.reads)) ?? after;
    return verified(item, wanted, before, after ?? before, kind);
  }
}

function verified<Live>(item: Item, wanted: ReadonlyMap<Pointer, unknown>, before: Live, after: Live, kind: Kind<Unit, Live>): Sent<Live> {
  const { different, unseen } = judge(wanted as ReadonlyMap<Pointer, never>, kind.document(item, after));
  const unreached = [...different, ...unseen];
  if (unreached.length > 0)
    return {
      live: after,
      ending: {
        outcome: "not-converged",
        code: "E_NOT_CONVERGED",
        message: `The service accepted the call, and its answer does not show the wanted value of ${list(unreached)}. Run plan to see what is live now.`,
      },
    };
  const touched = kind.unintended?.(before, after, new Set(wanted.keys())) ?? [];
  if (touched.length > 0)
    return {
      live: after,
      ending: {
        outcome: "not-converged",
        code: "E_UNINTENDED_CHANGE",
        message: `The wanted values are there, and beside them something changed that was not asked for: ${list(touched)}. Look at it before anything else is applied.`,
      },
    };
  return { live: after };
}

function list(pointers: readonly Pointer[]): string {
  const shown = pointers.slice(0, 5).join(", ");
  return pointers.length > 5 ? `${shown} and ${pointers.length - 5} more` : shown;
}

import pLimit from "p-limit";
import type { Ending, Run } from "../engine/session.ts";
import { kindNamed } from "../kinds/index.ts";
import { DimsyncError } from "../model/errors.ts";
import type { Item, ItemResult } from "../model/plan.ts";
import { sendCreate } from "./create.ts";
import { sendUpdate } from "./update.ts";

const good = (outcome: ItemResult["outcome"]): boolean => outcome === "done" || outcome === "recovered";

/**
 * Sends the items' calls: each after what it depends on, one at a time per live object, otherwise side by side. A failure skips what depends on it and
 * nothing else (with `failFast`, all that has not begun). Never throws for an item: its ending says what happened.
 */
export async function execute(items: readonly Item[], run: Run): Promise<readonly ItemResult[]> {
  // A wave of intents is written at once; how many requests are under way is limited by the client.
  const limit = pLimit(Math.max(run.concurrency, run.waveSize));
  const endings = new Map<string, Promise<ItemResult>>();
  const lastOnObject = new Map<string, Promise<unknown>>();
  let failed = false;
  let done = 0;
  run.onProgress?.({ type: "phase", phase: "apply", round: 1, total: items.length });

  const begin = async (item: Item, before: Promise<unknown> | undefined): Promise<Ending> => {
    const needed = await Promise.all(item.dependsOn.map((id) => endings.get(id)));
    await before;
    const unmet = needed.filter((ending) => ending !== undefined).find(({ outcome }) => !good(outcome));
    if (unmet !== undefined)
      return { outcome: "skipped", code: "E_DEPENDENCY", message: `It depends on ${unmet.address}, which is ${unmet.outcome}.` };
    return limit(async (): Promise<Ending> => {
      if (run.stop.aborted) return { outcome: "skipped", code: "E_INTERRUPTED", message: "The run was interrupted before it began." };
      if (run.failFast && failed)
        return { outcome: "skipped", code: "E_FAIL_FAST", message: "Something else failed first, and --fail-fast was given." };
      const end = await act(item, run);
      // Here, not when the ending is collected: the next item begins as soon as this place is free.
      if (!good(end.outcome)) failed = true;
      return end;
    });
  };

  for (const item of items) {
    const object = `${item.kind === "SchemaConfig" ? "schemas" : item.kind} ${item.liveId ?? item.address}`;
    const ending = begin(item, lastOnObject.get(object)).then((end): ItemResult => {
      done++;
      run.onProgress?.({ type: "step", phase: "apply", done, total: items.length, label: `${item.address} ${end.outcome}` });
      const { id, address, kind, action, liveId, changes } = item;
      return { id, address, kind, action, ...(liveId === undefined ? {} : { liveId }), changes, ...end };
    });
    endings.set(item.id, ending);
    lastOnObject.set(object, ending);
  }
  return Promise.all(endings.values());
}

async function act(item: Item, run: Run): Promise<Ending> {
  const kind = kindNamed(item.kind);
  try {
    if (kind === undefined) return { outcome: "failed", code: "E_UNKNOWN_KIND", message: `This version knows no kind ${item.kind}.` };
    if (item.action === "update") return await sendUpdate(item, kind, run);
    return item.action === "bind" ? await bindOnly(item, run) : await run.records.during(() => sendCreate(item, kind, run));
  } catch (error) {
    // Another run wrote first. Nothing was sent, and what it wrote may concern this item: it is planned again.
    if (error instanceof DimsyncError && error.code === "E_RECORDS_CHANGED")
      return { outcome: "skipped", code: "E_STALE", message: error.message };
    if (error instanceof DimsyncError) return { outcome: "failed", code: error.code, message: error.message };
    // Thrown on, it would take with it what the other items did. An open intent blocks the address, so that nothing is sent twice because of it.
    const name = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    const outcome = run.records.state().open.some(({ address }) => address === item.address) ? "unknown" : "failed";
    return { outcome, code: "E_INTERNAL", message: `A mistake in dimsync ended it (${name}). Please report it.` };
  }
}

/** Records an id; nothing is sent. */
async function bindOnly(item: Item, run: Run): Promise<Ending> {
  await run.records.take();
  const id = item.liveId ?? "";
  const bound = run.bindingOf(item.address);
  const planned = item.changes.find(({ path }) => path === "/id")?.before;
  if (bound !== undefined && bound.id !== id && bound.id !== planned)
    return { outcome: "skipped", code: "E_STALE", message: `It was bound to ${bound.id} after the plan was made.` };
  const intents = run.records.state().open.filter(({ address }) => address === item.address);
  // Digests say what was sent to one object; another one knows nothing of them.
  const record = bound?.id === id ? bound : intents.find(({ idsSeenBefore }) => !idsSeenBefore.includes(id))?.record;
  await run.records.bind(item.address, { ...record, ...item.binding, id });
  for (const { entryId } of intents) await run.records.settle(entryId, { outcome: "recovered", id });
  return { outcome: "done" };
}

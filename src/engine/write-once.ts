import { createHash } from "node:crypto";
import type { Kind, Unit } from "../kinds/kind.ts";
import { DimsyncError, ServiceError } from "../model/errors.ts";
import { canonicalJson, own } from "../model/json.ts";
import type { Item } from "../model/plan.ts";
import type { WriteAnswer } from "../model/service.ts";
import { staleNodes } from "./evidence.ts";
import type { Ending, Run } from "./run.ts";
import { sendable } from "./sendable.ts";

// A POST has no idempotency key and nothing can be deleted, so what is sent twice is there for ever twice (product §3.4). The order below is the
// protocol: read that it isn't there, put the intent on the disk, send once, and where the answer doesn't tell what happened, find out by reading.
// What reading can't tell within the settling time is "unknown", and a person decides. A kill at any point leaves either no intent on the disk
// (nothing was sent) or an open one, which the next run settles by reading.

export async function writeOnce<Live>(item: Item, kind: Kind<Unit, Live>, run: Run): Promise<Ending> {
  const [request] = item.requests;
  if (request === undefined) return { outcome: "done" };
  const live = await kind.reread(item, run.reads);
  if (item.action === "relate" && live === undefined)
    return { outcome: "failed", code: "E_GONE", message: `The tag ${item.liveId ?? ""} is gone from the account.` };
  if (staleNodes(kind, item, live).length > 0)
    return { outcome: "skipped", code: "E_STALE", message: "It appeared in the account after the plan was made." };
  const ready = sendable(request, run.secrets);
  const entryId = await run.journal.intend({
    runId: run.runId,
    address: item.address,
    kind: item.kind,
    method: request.method,
    path: request.path,
    ...(item.naturalKey === undefined ? {} : { naturalKey: item.naturalKey }),
    bodyDigest: `sha256:${createHash("sha256").update(canonicalJson(request.body)).digest("hex")}`,
    idsSeenBefore: matchesOf(kind, item, live),
    at: run.clock.now().toISOString(),
  });
  let answer: WriteAnswer;
  try {
    answer = await run.send(ready);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (error.sent === "maybe") return settle(item, kind, run, entryId, error.message);
    await run.journal.settle(entryId, { outcome: "failed" });
    throw error;
  }
  return item.action === "create" ? created(item, kind, run, entryId, answer) : related(item, kind, run, entryId);
}

/** The ids of live objects with the item's natural key. */
function matchesOf<Live>(kind: Kind<Unit, Live>, item: Item, live: Live | undefined): readonly string[] {
  const matches = kind.document(item, live)["matches"];
  return Array.isArray(matches) ? matches.filter((id) => typeof id === "string") : [];
}

/** Keeps the answer's `data.id`, confirmed by a read; falls back to the int64 `id` in decimal (interface §4.1). */
async function created<Live>(item: Item, kind: Kind<Unit, Live>, run: Run, entryId: string, answer: WriteAnswer): Promise<Ending> {
  const dataId =
    typeof answer.data === "object" && answer.data !== null && !Array.isArray(answer.data)
      ? own(answer.data as Record<string, unknown>, "id")
      : undefined;
  const candidates = [dataId, answer.int64Id].filter((id) => typeof id === "string" && id !== "") as readonly string[];
  const [first] = candidates;
  if (first === undefined) return settle(item, kind, run, entryId, "The answer to the create holds no id.");
  if (kind.listedIn !== "integrations") return recorded(item, run, entryId, first, "created");
  for (const id of candidates) {
    const live = await run.reads.integration(id);
    if (live === undefined) continue;
    run.remember(live);
    return recorded(item, run, entryId, id, "created");
  }
  return settle(item, kind, run, entryId, `The service answered with id ${candidates.join(" and ")}, and GET of it answers 404.`);
}

async function related<Live>(item: Item, kind: Kind<Unit, Live>, run: Run, entryId: string): Promise<Ending> {
  const live = await kind.reread(item, run.reads);
  if (kind.document(item, live)["related"] === true) {
    await run.journal.settle(entryId, { outcome: "created" });
    return { outcome: "done" };
  }
  return settle(item, kind, run, entryId, "The service accepted the relation, and the tag does not show it.");
}

/** Reads until exactly one new match is there, at most `settleMs`; what stays unclear is unknown (product §3.4). Never sends. */
async function settle<Live>(item: Item, kind: Kind<Unit, Live>, run: Run, entryId: string, why: string): Promise<Ending> {
  const end = run.clock.now().getTime() + run.settleMs;
  const seenBefore = new Set(Object.values(item.observed).flatMap((value) => (Array.isArray(value) ? value : [])));
  for (let pauseMs = 250; ; pauseMs = Math.min(pauseMs * 2, 4_000)) {
    let live: Live | undefined;
    try {
      live = await kind.reread(item, run.reads);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
    }
    if (item.action === "relate" && live !== undefined && kind.document(item, live)["related"] === true) {
      await run.journal.settle(entryId, { outcome: "recovered" });
      return { outcome: "recovered", message: why };
    }
    const fresh = matchesOf(kind, item, live).filter((id) => !seenBefore.has(id));
    const [only] = fresh;
    if (only !== undefined && fresh.length === 1) {
      if (kind.listedIn === "integrations") {
        const found = await run.reads.integration(only);
        if (found !== undefined) run.remember(found);
      }
      return { ...(await recorded(item, run, entryId, only, "recovered")), message: why };
    }
    if (run.clock.now().getTime() + pauseMs > end || run.stop.aborted) {
      await run.journal.settle(entryId, { outcome: "unknown" });
      const candidates = fresh.length > 1 ? ` ${fresh.length} new objects match: ${fresh.join(", ")}.` : "";
      return {
        outcome: "unknown",
        code: "E_UNKNOWN_OUTCOME",
        message: `${why} Whether it was created could not be found out by reading.${candidates} It is not sent again. Look in the service, then run: dimsync resolve ${item.address} --created=ID, or --not-created`,
      };
    }
    await run.clock.sleep(pauseMs, run.stop);
  }
}

/** The binding first, then the journal: whatever is lost in between, one of the two still tells that the object exists. */
async function recorded(item: Item, run: Run, entryId: string, id: string, outcome: "created" | "recovered"): Promise<Ending> {
  try {
    await run.bind(item.address, { ...item.binding, id });
  } catch (error) {
    if (!(error instanceof DimsyncError)) throw error;
    return {
      outcome: "failed",
      code: error.code,
      liveId: id,
      message: `${item.address} was created as ${id}, and that id could not be recorded: ${error.message}`,
    };
  }
  await run.journal.settle(entryId, { outcome, id });
  return { outcome: outcome === "created" ? "done" : "recovered", liveId: id };
}

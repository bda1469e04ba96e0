import { createHash } from "node:crypto";
import { heldBack } from "../engine/recover.ts";
import type { Ending, Run } from "../engine/session.ts";
import type { Kind, Unit } from "../kinds/kind.ts";
import { DimsyncError, ServiceError } from "../model/errors.ts";
import { canonicalJson, own } from "../model/json.ts";
import type { Item } from "../model/plan.ts";
import type { WriteAnswer } from "../model/service.ts";
import type { Settlement } from "../records/journal-line.ts";
import { type ConfirmInput, confirmCreate } from "./confirm-create.ts";
import { inlineSecrets } from "./inline-secrets.ts";
import { describeStale, staleNodes } from "./verify.ts";

// A POST has no idempotency key and nothing can be deleted, so what is sent twice is there for ever twice (product §3.4). The order below is the
// protocol: read that it isn't there, put the intent on the disk, send once, put the id of the answer on the disk, record the binding, close the
// intent. Where the answer doesn't tell what happened, find out by reading; what reading can't tell within the settling time is "unknown", and a
// person decides. A kill at any point leaves no intent on the disk (nothing was sent), or an open one, which the next run settles: by the id that
// the answer named, by reading, or as "unknown". Once the POST is sent nothing here throws: whatever fails afterwards is part of the ending.

export async function sendCreate<Live>(item: Item, kind: Kind<Unit, Live>, run: Run): Promise<Ending> {
  const [request] = item.requests;
  if (request === undefined) return { outcome: "done" };
  const held = heldByRecords(item, run);
  if (held !== undefined) return held;
  const live = await kind.reread(item, run.reads);
  if (item.action === "relate" && live === undefined)
    return { outcome: "failed", code: "E_GONE", message: `The tag ${item.liveId ?? ""} is gone from the account.` };
  const stale = staleNodes(kind, item, live);
  if (stale.length > 0)
    return { outcome: "skipped", code: "E_STALE", message: `It appeared in the account after the plan was made: ${describeStale(stale)}.` };
  const ready = inlineSecrets(request, run.secrets);
  if (run.stop.aborted) return { outcome: "skipped", code: "E_INTERRUPTED", message: "The run was interrupted before it was sent." };
  const at = run.clock.now().toISOString();
  // Not before everything else is known to be fine: an intent that is not sent has to be closed again.
  const entryId = await run.records.intend({
    runId: run.runId,
    address: item.address,
    kind: item.kind,
    method: request.method,
    path: request.path,
    ...(item.naturalKey === undefined ? {} : { naturalKey: item.naturalKey }),
    bodyDigest: `sha256:${createHash("sha256").update(canonicalJson(request.body)).digest("hex")}`,
    idsSeenBefore: matchesIn(item.observed),
    ...(item.binding === undefined ? {} : { record: item.binding }),
    at,
  });
  if (run.stop.aborted) {
    const trouble = await note(run, entryId, { outcome: "not-created" });
    return { outcome: "skipped", code: "E_INTERRUPTED", message: `The run was interrupted before it was sent.${trouble}` };
  }
  const settling: ConfirmInput<Live> = { item, kind, run, at, seenBefore: matchesIn(item.observed) };
  let answer: WriteAnswer;
  try {
    answer = await run.send(ready);
  } catch (error) {
    const sure = error instanceof ServiceError && error.sent !== "maybe";
    if (!sure) return concluded(settling, entryId, await confirmCreate(settling, [], messageOf(error)), messageOf(error));
    const trouble = await note(run, entryId, { outcome: error.sent === "never" ? "not-created" : "failed" });
    return { outcome: "failed", code: error.code, message: `${error.message}${trouble}` };
  }
  return item.action === "create" ? created(settling, entryId, answer) : related(settling, entryId);
}

/** A saved plan may be older than what another run did since: a create is never repeated on its word. */
function heldByRecords(item: Item, run: Run): Ending | undefined {
  const bound = item.action === "create" ? run.bindingOf(item.address)?.id : undefined;
  if (bound !== undefined)
    return {
      outcome: "skipped",
      code: "E_STALE",
      message: `It was bound to ${bound} after the plan was made, so it is not created again.`,
    };
  const unknown = new Map(run.records.state().open.map(({ address }) => [address, "Run plan to see what reading tells of it."] as const));
  const held = heldBack(item, unknown, run.records.state().created);
  return held === undefined ? undefined : { outcome: "blocked", code: held.code, message: held.message };
}

const matchesIn = ({ "/matches": matches }: Item["observed"]): readonly string[] =>
  Array.isArray(matches) ? matches.filter((id) => typeof id === "string") : [];

/** Keeps the answer's `data.id`, confirmed by a read; falls back to the int64 `id` in decimal (interface §4.1). */
async function created<Live>(settling: ConfirmInput<Live>, entryId: string, answer: WriteAnswer): Promise<Ending> {
  const { item, kind, run } = settling;
  const dataId =
    typeof answer.data === "object" && answer.data !== null && !Array.isArray(answer.data)
      ? own(answer.data as Record<string, unknown>, "id")
      : undefined;
  const named = [dataId, answer.int64Id].filter((id) => typeof id === "string" && id !== "") as readonly string[];
  const candidates = [...new Set(named)];
  const [first] = candidates;
  if (first === undefined) {
    const why = "The answer to the create holds no id.";
    return concluded(settling, entryId, await confirmCreate(settling, [], why), why);
  }
  // The first line that knows the id: an asset can't be found again by anything else.
  await note(run, entryId, { outcome: "answered", id: first });
  if (kind.listedIn === undefined) run.records.flush();
  if (kind.listedIn !== "integrations") return recorded(item, run, entryId, first, "created");
  let why = `The service answered with the id ${candidates.join(" and ")}, and GET of it answers 404.`;
  try {
    for (const id of candidates) {
      const live = await run.reads.integration(id);
      if (live === undefined) continue;
      run.remember(live);
      return await recorded(item, run, entryId, id, "created");
    }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    why = `The service answered with the id ${candidates.join(" and ")}, which could not be confirmed: ${error.message}`;
  }
  return concluded(settling, entryId, await confirmCreate(settling, candidates, why), why);
}

async function related<Live>(settling: ConfirmInput<Live>, entryId: string): Promise<Ending> {
  const why = "The service accepted the relation, and the tag does not show it.";
  const found = await confirmCreate(settling, [], why);
  if (found.state !== "found") return concluded(settling, entryId, found, why);
  return { outcome: "done", ...messageIf(await note(settling.run, entryId, { outcome: "created" })) };
}

/** The ending of what reading found, or did not. */
async function concluded<Live>(
  { item, run }: ConfirmInput<Live>,
  entryId: string,
  found: Awaited<ReturnType<typeof confirmCreate>>,
  why: string,
): Promise<Ending> {
  if (found.state === "found") {
    if (found.id !== undefined) return { ...(await recorded(item, run, entryId, found.id, "recovered")), message: why };
    await note(run, entryId, { outcome: "recovered" });
    return { outcome: "recovered", message: why };
  }
  await note(run, entryId, { outcome: "unknown" });
  return {
    outcome: "unknown",
    code: "E_UNKNOWN_OUTCOME",
    message: `${why} Whether it was created could not be found out by reading.${found.evidence} It is not sent again. Look in the service, then run: dimsync resolve ${item.address} --created=ID, or --not-created`,
  };
}

/** The binding first, then the journal: whatever is lost in between, one of the two still tells that the object exists. */
async function recorded(item: Item, run: Run, entryId: string, id: string, outcome: "created" | "recovered"): Promise<Ending> {
  try {
    await run.records.bind(item.address, { ...item.binding, id });
  } catch (error) {
    if (!(error instanceof DimsyncError)) throw error;
    // The entry stays open and knows the id: the next run binds it.
    const trouble = await note(run, entryId, { outcome: "answered", id });
    return {
      outcome: "failed",
      code: error.code,
      liveId: id,
      message: `${item.address} was created as ${id}, and that id could not be recorded: ${error.message}${trouble}`,
    };
  }
  const trouble = await note(run, entryId, { outcome, id });
  return { outcome: outcome === "created" ? "done" : "recovered", liveId: id, ...messageIf(trouble) };
}

/** Writes to the journal what is known by now. A failure can't change what happened: it is returned as a further sentence, "" where there is none. */
async function note(run: Run, entryId: string, settlement: Settlement): Promise<string> {
  try {
    await run.records.settle(entryId, settlement);
    return "";
  } catch (error) {
    if (!(error instanceof DimsyncError)) throw error;
    return ` ${error.message}`;
  }
}

const messageIf = (text: string): { readonly message?: string } => (text === "" ? {} : { message: text.trim() });

const messageOf = (error: unknown): string =>
  error instanceof ServiceError
    ? error.message
    : `The call ended by a mistake in dimsync (${error instanceof Error ? error.name : typeof error}).`;

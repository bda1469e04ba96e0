import { createHash } from "node:crypto";
import { kindOf } from "../base/model/address.ts";
import { DimsyncError, isFailedCreation, readIfPossible, ServiceError } from "../base/model/errors.ts";
import { canonicalJson, defined, isObject, own } from "../base/model/json/json.ts";
import type { List, PlannedRequest, SendableRequest, WriteAnswer } from "../base/model/service.ts";
import { bindCommand, resolveCommand } from "../base/text/shell.ts";
import { assetCreations, blockedByEarlierRun, creationFailed, describeEntry } from "../plan/index.ts";
import type { Settlement } from "../records/index.ts";
import { type Confirmation, confirmCreate, lookOnce, quotesSecret, type SentCreate } from "./confirm-create.ts";
import {
  type Ending,
  endingOf,
  inlineSecrets,
  isBusy,
  isOfThisRun,
  learnLacking,
  newBusyWait,
  notOffered,
  type Started,
  unreadBefore,
} from "./step.ts";
import { answerText, pausesFor } from "./verify.ts";

// A POST has no idempotency key and nothing can be deleted, so an object that is created twice
// stays in the account twice. The protocol: 1. read that the object does not exist 2. write the
// intent to the journal 3. send once 4. write the id of the response to the journal 5. record the
// binding 6. close the intent If the response does not show what happened, dimsync reads until it
// knows or the settling time is over; then the outcome is "unknown" and the user decides. A kill at
// any point leaves no intent (nothing was sent) or an open one, which the next run resolves: by the
// id of the response, by reading, or as "unknown". After the POST nothing here throws: later
// failures are part of the outcome.

export async function sendCreate<Live>(step: Started<Live>): Promise<Ending> {
  const { item, run, secrets } = step;
  const [request] = item.requests;
  if (request === undefined) return { outcome: "done" };
  const refused = refusedByRecords(step) ?? (await refusedByAccount(step)) ?? (await refusedByAuditLog(step));
  if (refused !== undefined) return refused;
  const ready = inlineSecrets(request, secrets);
  if (run.signal.aborted) return { outcome: "skipped", code: "E_INTERRUPTED", message: "The run was interrupted before it was sent." };
  const at = run.clock.now().toISOString();
  // Last, after every check: an intent that is not sent must be closed again.
  const entryId = await recordIntent(step, request, at);
  const sent = { step, at, entryId };
  // Another run may have written between these checks and the intent. From now on nobody else can.
  const changed = refusedByRecords(step, entryId);
  if (changed !== undefined) {
    const notClosed = await settle(sent, { outcome: "not-created" });
    return { ...changed, message: `${changed.message ?? ""}${notClosed}` };
  }
  if (!run.signal.aborted) return send(sent, ready);
  const unwritten = await settle(sent, { outcome: "not-created" });
  return { outcome: "skipped", code: "E_INTERRUPTED", message: `The run was interrupted before it was sent.${unwritten}` };
}

async function send<Live>(sent: SentCreate<Live>, request: SendableRequest): Promise<Ending> {
  const { item, run } = sent.step;
  const isNew = isOfThisRun(sent.step);
  const waited = newBusyWait(run, { address: item.address, isNew });
  for (;;) {
    let answer: WriteAnswer;
    try {
      answer = await run.writer.send(request);
    } catch (error) {
      const isFinal = error instanceof ServiceError && error.sent !== "maybe";
      if (!isFinal) {
        const why = reasonOf(error);
        return conclude(sent, await confirmCreate(sent, [], why), why);
      }
      const isRelation = item.verb === "relate" && error.sent === "answered";
      const mayRepeat = isRelation && isBusy(error, isNew) && (await waited(error));
      if (isRelation && (await hasRelation(sent))) return conclude(sent, { state: "found" }, relatedByOthers);
      if (mayRepeat) continue;
      if (isRefusedInBody(error)) {
        const found = await lookOnce(sent);
        if (found.state === "found") return conclude(sent, found, `${error.message} It exists nevertheless.`);
      }
      const unwritten = await settle(sent, { outcome: error.sent === "never" ? "not-created" : "failed" });
      const lacking = await learnLacking(sent.step, error);
      const ending = lacking === undefined ? endingOf(error, isNew) : notOffered(lacking);
      return { ...ending, message: `${ending.message}${unwritten}` };
    }
    return item.verb === "create" ? created(sent, answer) : related(sent, answer);
  }
}

const relatedByOthers = "The service refused the relation, and the tag has it: someone else attached the tag a moment before.";

/** Whether the tag has the relation that the service refused to add. */
async function hasRelation<Live>({ step: { item, kind, run } }: SentCreate<Live>): Promise<boolean> {
  const { naturalKey } = item;
  const found = naturalKey === undefined ? undefined : await readIfPossible(async () => kind.find?.(naturalKey, run.writer.reads));
  return Array.isArray(found) && found.length > 0;
}

/** Whether the service answered with a good status and an error: it may have acted all the same. */
const isRefusedInBody = ({ status = 0 }: ServiceError): boolean => status >= 200 && status < 300;

/** Another run may have written after the plan was made. `own`: the entry of this create, once it is stored. */
function refusedByRecords({ item, records }: Started, own?: string): Ending | undefined {
  const { bindings, open: all, created: earlier } = records.state();
  const open = all.filter(({ entryId }) => entryId !== own);
  const bound = item.verb === "create" ? bindings.get(item.address)?.id : undefined;
  if (bound !== undefined)
    return {
      outcome: "skipped",
      code: "E_STALE",
      message: `It was bound to ${bound} after the plan was made, so it is not created again.`,
    };
  const why = "Run plan to look for it in the account.";
  const unknown = new Map(open.map(({ address, answeredId }) => [address, { why, ...defined({ id: answeredId }) }] as const));
  const blocked = blockedByEarlierRun({ ...item, kind: kindOf(item.address) }, { unknown, created: earlier, bindings });
  if (blocked === undefined) return undefined;
  const { address: _, ...refusal } = blocked;
  return { outcome: "blocked", ...refusal };
}

async function refusedByAccount<Live>(step: Started<Live>): Promise<Ending | undefined> {
  const { item, kind, run, records } = step;
  if (kind.find === undefined || item.naturalKey === undefined) throw new Error(`${item.address} can't be found by its natural key`);
  const existing = await kind.find(item.naturalKey, run.writer.reads);
  if (existing === "gone") return unreadBefore(step);
  // An object of another address is not meant: an existing source can have several integrations, and no list shows what tells them apart.
  const taken = new Set(
    item.verb === "create" ? [...records.state().bindings].flatMap(([at, { id }]) => (at === item.address ? [] : [id])) : [],
  );
  const appeared = existing.filter((id) => !taken.has(id));
  if (appeared.length === 0) return undefined;
  return {
    outcome: "skipped",
    code: "E_STALE",
    message: `It appeared in the account after the plan was made: ${appeared.join(", ")}.`,
  };
}

/** An object that no list shows, such as an asset, may have been created by someone else, or by a run whose records were lost. */
async function refusedByAuditLog<Live>({ item, kind, records, run, auditLog, secrets }: Started<Live>): Promise<Ending | undefined> {
  const name = item.naturalKey?.["name"];
  if (item.verb !== "create" || kind.list !== undefined || name === undefined) return undefined;
  const { bindings, forgotten = [] } = records.state();
  const knownIds = new Set([...[...bindings.values()].map(({ id }) => id), ...forgotten]);
  const { items, unread } = await auditLog();
  const [entry] = assetCreations(items, name, knownIds);
  if (entry === undefined) return unread === undefined ? undefined : hiddenBy(item.address, unread);
  // Another run may have created and recorded it since the records were read. Then this throws E_RECORDS_CHANGED.
  await run.writer.records.take();
  const evidence = quotesSecret([entry], secrets) ? `an entry of ${entry.timestamp}` : describeEntry(entry);
  return {
    outcome: "blocked",
    code: "E_UNBOUND",
    message: `The audit log shows that an object with this name was created: ${evidence}. It can't be read back, so it is not created again. If it is not the same, change spec.name. If it is, bind it to its id from there:`,
    command: bindCommand(item.address),
  };
}

const hiddenBy = (address: string, unread: string): Ending => ({
  outcome: "blocked",
  code: "E_READ_FAILED",
  message: `It was not sent, because the audit log could not be read and only the audit log shows whether an asset with this name was created before. ${unread} Run apply again. If the key cannot read the audit log, create the asset in the service, and bind it:`,
  command: bindCommand(address),
});

/** Resolves with the id of the journal entry when it is stored. */
function recordIntent({ item, run, records }: Started, { method, path, body }: PlannedRequest, at: string): Promise<string> {
  return records.intend({
    runId: run.writer.records.runId,
    address: item.address,
    kind: kindOf(item.address),
    method,
    path,
    ...(item.naturalKey === undefined ? {} : { naturalKey: item.naturalKey }),
    bodyDigest: `sha256:${createHash("sha256").update(canonicalJson(body)).digest("hex")}`,
    ...(item.binding === undefined ? {} : { record: item.binding }),
    at,
  });
}

/** Keeps the response's `data.id`, confirmed by a read; else the id in its Location, or the int64 `id` in decimal digits. */
async function created<Live>(sent: SentCreate<Live>, answer: WriteAnswer): Promise<Ending> {
  const { kind, records } = sent.step;
  const known = await idsBefore(sent);
  const ids = idsIn(answer);
  const candidates = ids.filter((id) => !known.has(id));
  const [first] = candidates;
  const accepted = `The service accepted the create with ${answerText(answer)}`;
  if (first === undefined && ids.length > 0) {
    const why = `${accepted}, and with the id ${ids.join(" and ")} of another object, which was there before.`;
    return conclude(sent, await confirmCreate(sent, [], why), why);
  }
  // The id in an answer with 202 can be that of a job.
  const isOfJob = answer.status === 202 && kind.list === undefined;
  if (first === undefined || (isOfJob && !(await isShown(sent, first)))) {
    const why = `${accepted}, ${first === undefined ? "without an id" : `and no read shows an object with the id ${first} of its response: it can be the id of a job`}.`;
    return conclude(sent, await confirmCreate(sent, [], why), why);
  }
  // The first record of the id: without it, an asset can't be found again.
  if (answer.status !== 202 || kind.list === undefined) await settle(sent, { outcome: "answered", id: first });
  if (kind.list === undefined) {
    records.flush();
    return recordBinding(sent, first, "created");
  }
  const confirmed = await confirmById(sent, kind.list, candidates);
  if ("id" in confirmed) return recordBinding(sent, confirmed.id, "created");
  if (confirmed.isFailed === true)
    return { ...(await recordBinding(sent, first, "created")), outcome: "failed", code: "E_CREATION_FAILED", message: confirmed.why };
  const why = answer.status === 202 ? `${accepted}. ${confirmed.why}` : confirmed.why;
  const found = await confirmCreate(sent, candidates, why);
  const isCertain = dataIdIn(answer) !== undefined && answer.status !== 202;
  if (found.state === "found" || found.alike > 1 || !isCertain) return conclude(sent, found, why);
  // An id that was answered is never unknown.
  sent.step.remember(kind.list, kind.list.inCreation?.(first) ?? { id: first, name: undefined });
  return { ...(await recordBinding(sent, first, "created")), message: `${confirmed.why} The id of the response is recorded.` };
}

/** The ids of other objects: those that the list had when this was planned, and those that the records have of other addresses. */
async function idsBefore<Live>({ step: { item, kind, run, records } }: SentCreate<Live>): Promise<ReadonlySet<string>> {
  const listed = await readIfPossible(async () => kind.list && (await run.reads.list(kind.list)).items.map(({ id }) => id));
  const bound = [...records.state().bindings].flatMap(([at, { id }]) => (at === item.address ? [] : [id]));
  return new Set([...(listed ?? []), ...bound]);
}

/** Whether a read of one object shows this id within `settleSeconds`. False if the service has no such read. */
async function isShown<Live>({ step: { kind, run } }: SentCreate<Live>, id: string): Promise<boolean> {
  const { one } = kind.liveView ?? {};
  const { reads } = run.writer;
  for (const pauseMs of pausesFor(run.project.settings.client.settleMs)) {
    if (pauseMs > 0) await run.clock.sleep(pauseMs, run.signal);
    if ((await readIfPossible(async () => one?.read(id, reads))) !== undefined) return true;
    if (one === undefined || (one.call !== undefined && reads.offers?.(one.call) !== true)) return false;
  }
  return false;
}

function dataIdIn({ data }: WriteAnswer): string | undefined {
  const id = isObject(data) ? (own(data, "id") ?? own(data, "_id")) : undefined;
  return typeof id === "string" && id !== "" ? id : undefined;
}

const idsIn = (answer: WriteAnswer): readonly string[] => [
  ...new Set(
    [...(answer.status === 202 ? [answer.locatedId] : []), dataIdIn(answer), answer.locatedId, answer.int64Id].flatMap((id) =>
      id === undefined || id === "" ? [] : [id],
    ),
  ),
];

async function confirmById<Live>(
  { step: { run, remember } }: SentCreate<Live>,
  list: List,
  candidates: readonly string[],
): Promise<{ readonly id: string } | { readonly why: string; readonly isFailed?: boolean }> {
  const ids = candidates.join(" and ");
  try {
    for (const id of candidates) {
      const live = await run.writer.reads.one(list, id);
      if (live === undefined) continue;
      remember(list, live);
      return { id };
    }
    return { why: `The service returned the id ${ids}, but GET of it returns 404.` };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (isFailedCreation(error)) return { why: creationFailed(ids, error), isFailed: true };
    return { why: `The service returned the id ${ids}, which could not be confirmed: ${error.message}` };
  }
}

async function related<Live>(sent: SentCreate<Live>, answer: WriteAnswer): Promise<Ending> {
  const why = `The service accepted the relation with ${answerText(answer)}, but the tag does not show it.`;
  const found = await confirmCreate(sent, [], why);
  if (found.state !== "found") return conclude(sent, found, why);
  return { outcome: "done", ...messageIf(await settle(sent, { outcome: "created" })) };
}

/** The ending after reading whether the create took effect. `why`: why reading was necessary. */
async function conclude<Live>(sent: SentCreate<Live>, found: Confirmation, why: string): Promise<Ending> {
  if (found.state === "found") {
    if (found.id !== undefined) return { ...(await recordBinding(sent, found.id, "recovered")), message: why };
    await settle(sent, { outcome: "recovered" });
    return { outcome: "recovered", message: why };
  }
  await settle(sent, { outcome: "unknown" });
  return {
    outcome: "unknown",
    code: "E_UNKNOWN_OUTCOME",
    message: `${why} dimsync could not determine whether it was created.${found.evidence} It is not sent again. Look in the service, then say whether it was created.`,
    command: resolveCommand(sent.step.item.address, found.named),
  };
}

/** Writes the binding before the journal: whatever is lost in between, one of the two has the id. */
async function recordBinding<Live>(sent: SentCreate<Live>, id: string, outcome: "created" | "recovered"): Promise<Ending> {
  const { item, records } = sent.step;
  try {
    await records.bind(item.address, { ...item.binding, id });
  } catch (error) {
    if (!(error instanceof DimsyncError)) throw error;
    // The entry stays open and has the id: the next run binds it.
    const unwritten = await settle(sent, { outcome: "answered", id });
    return {
      outcome: "failed",
      code: error.code,
      liveId: id,
      message: `${item.address} was created as ${id}, but that id could not be recorded: ${error.message}${unwritten}`,
    };
  }
  const unwritten = await settle(sent, { outcome, id });
  return { outcome: outcome === "created" ? "done" : "recovered", liveId: id, ...messageIf(unwritten) };
}

/** Writes to the journal what is known. A failure can't change what happened: it is returned as one more sentence; "" if there is none. */
async function settle<Live>({ step, entryId }: SentCreate<Live>, settlement: Settlement): Promise<string> {
  try {
    await step.records.settle(entryId, settlement);
    return "";
  } catch (error) {
    if (!(error instanceof DimsyncError)) throw error;
    return ` ${error.message}`;
  }
}

const messageIf = (text: string): Pick<Ending, "message"> => (text === "" ? {} : { message: text.trim() });

const reasonOf = (error: unknown): string =>
  error instanceof ServiceError
    ? error.message
    : `An internal error ended the request (${error instanceof Error ? error.name : typeof error}).`;

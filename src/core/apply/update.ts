import { changesWhere, eachChange } from "../base/model/changes.ts";
import { readIfPossible, readNow, readOr, ServiceError } from "../base/model/errors.ts";
import { isObject, type JsonObject, type JsonValue, own, sameJson } from "../base/model/json/json.ts";
import { atPointer, type Pointer } from "../base/model/json/pointer.ts";
import { addAll } from "../base/model/maps.ts";
import type { NotKept, ReadyStep } from "../base/model/plan.ts";
import type { PlannedRequest, WriteAnswer } from "../base/model/service.ts";
import { secretsIn } from "../base/model/settings/secret.ts";
import { differsInSpace } from "../base/text/values.ts";
import type { Updates } from "../kinds/index.ts";
import { backoffMs } from "../service/index.ts";
import { type Ending, inlineSecrets, isBusy, isOfThisRun, newBusyWait, type Started, unreadBefore } from "./step.ts";
import { answerText, describeStale, exposesOther, listPointers, pausesFor, staleNodes, type Verification, verifyWrite } from "./verify.ts";

// PUT and PATCH state the desired values, so sending one twice has the effect of sending it once.
// Still, the touched nodes are read first, and after an unclear failure the request is sent again
// only if the account does not have the desired values.

/** An update, and the live object as it was last read. */
interface UpdateStep<Live> extends Started<Live> {
  readonly update: Updates<Live>;
  readonly live: Live;
}

export async function sendUpdate<Live>(step: Started<Live>): Promise<Ending> {
  const { item, run } = step;
  const { update } = step.kind;
  if (update === undefined) throw new Error(`${step.kind.name} has no updates`);
  let live: Live | undefined = await update.reread(item, run.writer.reads);
  if (live === undefined) return unreadBefore(step);
  // If responses show nothing of the object, neither do reads show all of it.
  const stale = staleNodes(item, update.document(item, live), update.answered !== undefined);
  if (stale.length > 0)
    return { outcome: "skipped", code: "E_STALE", message: `It changed after the plan was made: ${describeStale(stale)}.` };
  const isBasisKept = item.basis === undefined || update.basis === undefined || update.basis(item, live) === item.basis;
  if (!isBasisKept) return exposesOther;
  await step.records.take();
  const notes: string[] = [];
  const notKept: NotKept[] = [];
  const done: PlannedRequest[] = [];
  let rest = item.requests;
  for (let [first, ...others] = rest; first !== undefined; [first, ...others] = rest) {
    if (run.signal.aborted) return interruptedAfter(done, rest);
    const [request = first, ...pieces] = withinLimit({ ...step, update }, first);
    const sent: Sent<Live> | "too large" = await sendOne<Live>({ ...step, update, live }, request);
    rest = [...(sent === "too large" ? [request] : []), ...pieces, ...others];
    if (sent === "too large") continue;
    done.push(request);
    if (sent.ending !== undefined) return withKept(item, done, sent);
    if (sent.note !== undefined) notes.push(sent.note);
    addAll(notKept, sent.notKept ?? []);
    live = sent.live;
  }
  if (item.binding !== undefined && item.liveId !== undefined) await step.records.bind(item.address, { ...item.binding, id: item.liveId });
  return { outcome: "done", ...(notes.length === 0 ? {} : { message: notes.join(" ") }), ...(notKept.length === 0 ? {} : { notKept }) };
}

/** The request in pieces that the service takes, as far as the run knows. */
function withinLimit<Live>({ update, run }: Pick<UpdateStep<Live>, "update" | "run">, request: PlannedRequest) {
  const { bytes } = run.writer.bodyLimit;
  const fits = bytes === Number.POSITIVE_INFINITY || sizeOf(request) <= bytes;
  return fits ? [request] : (update.smaller?.(request, bytes) ?? [request]);
}

const sizeOf = ({ body }: PlannedRequest): number => Buffer.byteLength(JSON.stringify(body));

/** Whether the service refused the body because of its size, and smaller ones can be sent: then the run sends at most half of it from now on. */
function isHalved<Live>({ update, run }: UpdateStep<Live>, request: PlannedRequest, error: unknown): boolean {
  if (!(error instanceof ServiceError) || error.status !== 413) return false;
  const bytes = Math.floor(sizeOf(request) / 2);
  if ((update.smaller?.(request, bytes).length ?? 0) < 2) return false;
  run.writer.bodyLimit.bytes = bytes;
  return true;
}

/** The ending of an item whose last request was not accepted in full, with the changes that the account has now. */
function withKept<Live>({ changes }: ReadyStep, sent: readonly PlannedRequest[], { ending, missing = [] }: Sent<Live>): Ending {
  if (ending?.outcome !== "not-converged") return ending ?? { outcome: "done" };
  const lacking = new Set(missing);
  const bodies = sent.map(({ body }) => body);
  const isKept = (path: Pointer): boolean => !lacking.has(path) && bodies.some((body) => atPointer(body, path) !== undefined);
  const kept = changesWhere(changes, isKept);
  return kept.length === 0 ? ending : { ...ending, kept, changes: changesWhere(changes, (path) => !isKept(path)) };
}

/** An item that is interrupted between two requests has done a part of its work. */
function interruptedAfter(sent: readonly PlannedRequest[], rest: readonly PlannedRequest[]): Ending {
  const code = "E_INTERRUPTED";
  if (sent.length === 0) return { outcome: "skipped", code, message: "The run was interrupted before this step was sent." };
  const names = (some: readonly PlannedRequest[]): string => some.map(({ method, path }) => `${method} ${path}`).join(", ");
  return {
    outcome: "not-converged",
    code,
    message: `The run was interrupted after ${sent.length} of its ${sent.length + rest.length} requests. Sent and verified: ${names(sent)}. Not sent: ${names(rest)}. Run plan to see what is left.`,
  };
}

/** The live object after a request; with an ending, the item ends here. */
interface Sent<Live> {
  readonly live: Live;
  readonly ending?: Ending;
  /** Where the account does not have the desired value. */
  readonly missing?: readonly Pointer[];
  /** A sentence for the result of an item that is done. */
  readonly note?: string;
  /** Texts that the service keeps with other white space. */
  readonly notKept?: readonly NotKept[];
}

/** "too large": nothing was applied, and smaller bodies can be sent. */
async function sendOne<Live>(step: UpdateStep<Live>, request: PlannedRequest): Promise<Sent<Live> | "too large"> {
  const { item, run, update, live, secrets } = step;
  const { body } = request;
  const isNew = isOfThisRun(step);
  const waited = newBusyWait(run, { address: item.address, isNew });
  for (let attempt = 1; ; attempt++) {
    try {
      const answer = await run.writer.send(inlineSecrets(request, secrets));
      if (update.answered === undefined) return await shownAfter(step, body, answer);
      const shown = shownBy(step, answer);
      return await verified(step, body, shown ?? live, shown === undefined || answer.status === 202 ? answer : undefined);
    } catch (error) {
      if (isHalved(step, request, error)) return "too large";
      if (!(error instanceof ServiceError) || !(isBusy(error, isNew) || error.sent === "maybe")) throw error;
      const mayRepeat = isBusy(error, isNew)
        ? await waited(error)
        : attempt <= run.project.settings.client.retries && !isSecretSpent(error, body);
      const sent = await afterUnclear(step, body, error);
      if (sent !== undefined) return sent;
      if (!mayRepeat || run.signal.aborted) throw error;
      if (!isBusy(error, isNew)) await run.clock.sleep(backoffMs(attempt, Math.random), run.signal);
    }
  }
}

/** The object as the response shows it; undefined: it was accepted, and shows nothing. */
const shownBy = <Live>({ update, live, run }: UpdateStep<Live>, answer: WriteAnswer): Live | undefined =>
  answer.isEmpty === true
    ? undefined
    : readNow(
        () => update.answered?.(live, answer, run.writer.decode),
        () => undefined,
      );

/** Whether the service has received a secret: the request was answered, although the response cannot be read. It is not sent twice. */
const isSecretSpent = ({ code }: ServiceError, body: JsonObject): boolean => code === "E_MALFORMED_ANSWER" && secretsIn(body).length > 0;

/** Of an object that responses do not show (an asset): a response must have its id, unless it is empty or says that the request is accepted. */
function withProof<Live>({ item: { liveId } }: UpdateStep<Live>, live: Live, answer: WriteAnswer): Sent<Live> {
  const { status, data } = answer;
  if (data === undefined || data === null || status === 202) return { live, note: noProof(answer) };
  const id = isObject(data) ? (own(data, "id") ?? own(data, "_id")) : undefined;
  if (id === liveId) return { live };
  const message = `The response to the request has ${id === undefined ? "no id" : "the id of another object"} instead of ${JSON.stringify(liveId)}. It is not known whether the service stored the values. Look at the asset in the service, then run apply again: it sends them once more.`;
  return { live, ending: { outcome: "failed", code: "E_MALFORMED_ANSWER", message } };
}

const noProof = (answer: WriteAnswer): string =>
  `The service accepted the request ${answer.isEmpty === true ? "with an empty response" : `with ${answerText(answer)}`}, so nothing shows that it stored the values. dimsync does not send them again by itself.`;

/** Verifies what a read shows of an object of which responses show nothing. */
async function shownAfter<Live>(step: UpdateStep<Live>, body: JsonObject, answer: WriteAnswer): Promise<Sent<Live>> {
  const { update, item, live } = step;
  const sent = withProof(step, live, answer);
  if (sent.ending !== undefined || update.isShown?.(live) !== true) return sent;
  const { unseen, different, equal } = verifyWrite(body, update.document(item, live));
  if (different.length + equal === 0) return sent;
  const found = await verified(step, body, live, answer.status === 202 ? answer : undefined);
  return unseen.length + secretsIn(body).length === 0 ? found : { ...sent, ...found };
}

/** Whether a request without a clear response took effect; undefined: it did not, and may be sent again. */
async function afterUnclear<Live>(step: UpdateStep<Live>, body: JsonObject, error: ServiceError): Promise<Sent<Live> | undefined> {
  const { item, update, live } = step;
  // If the read fails too, the failure of the write is what is reported.
  const after = await readOr(
    () => update.reread(item, step.run.writer.reads),
    () => {
      throw error;
    },
  );
  const document = update.document(item, after);
  const { different, equal } = verifyWrite(body, document);
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
      code: "E_KEEPS_CHANGING",
      message: `${error.message} Meanwhile ${listPointers(changedByOthers)} changed to another value, so the request is not sent again. Run plan to see the live state.`,
    },
  };
}

const isSameAt = (pointer: Pointer, before: JsonObject, after: JsonObject): boolean =>
  sameJson(atPointer(before, pointer), atPointer(after, pointer));

/**
 * Without values that nothing can verify: those of an object that responses do not show, and those that the service did not show at planning
 * either, and that were sent to protect or with a sync mode.
 */
function withoutUnshown<Live>(unseen: readonly Pointer[], { item, update }: UpdateStep<Live>): readonly Pointer[] {
  if (update.answered === undefined) return [];
  const unshown = new Set<Pointer>();
  for (const { path, field, before, risk } of eachChange(item))
    if (before === undefined && (risk === "protects" || field === "cursorField")) unshown.add(path);
  return unseen.filter((pointer) => !unshown.has(pointer));
}

/**
 * Compares what the response (or a read) shows with the values of the body and with the state before. Reads decide what a response leaves open.
 * `accepted`: a response that shows nothing.
 */
async function verified<Live>(step: UpdateStep<Live>, body: JsonObject, shown: Live, accepted?: WriteAnswer): Promise<Sent<Live>> {
  const { item, update, run } = step;
  const { clock, signal } = run;
  const { settleMs, schemaWaitMs } = run.project.settings.client;
  const known = run.records().notKept.get(item.address);
  let live = shown;
  let found = await compared(step, body, live);
  for (const pauseMs of pausesFor(update.showsLate === true ? Math.max(settleMs, schemaWaitMs) : settleMs)) {
    if (isReached(found)) break;
    // Two runs have waited for these values in vain.
    const isHopeless =
      found.different.length > 0 &&
      found.different.every((path) => {
        const { times = 0, wanted = null } = known?.get(path) ?? {};
        return times > 1 && sameJson(wanted, atPointer(body, path));
      });
    if (isHopeless && pauseMs > 500) break;
    if (pauseMs > 0) await clock.sleep(pauseMs, signal);
    if (pauseMs > 0 && signal.aborted) break;
    live = (await readIfPossible(() => update.reread(item, run.writer.reads))) ?? live;
    found = await compared(step, body, live);
  }
  const document = update.document(item, live);
  const since = clock.now().toISOString();
  const notKept = [...found.different, ...found.spaced].map((path): NotKept => {
    const [wanted, is] = [atPointer(body, path), atPointer(document, path)] as readonly JsonValue[]; // values of JSON documents
    return { address: item.address, path, wanted: wanted ?? null, live: is ?? null, since };
  });
  if (!isReached(found))
    return { live, ending: { ...unreachedEnding(found, accepted), notKept }, missing: [...found.different, ...found.unseen] };
  const appeared = update.appeared === undefined ? [] : update.appeared(step.live, live);
  if (appeared.length > 0) return { live, ending: appearedEnding(appeared) };
  if (found.spaced.length === 0) return { live };
  return {
    live,
    notKept,
    note: `The service keeps ${listPointers(found.spaced)} with other white space, which counts as equal from now on.`,
  };
}

interface Found extends Pick<Verification, "different" | "unseen"> {
  /** Pointers at which the document has the text with other white space at its ends. */
  readonly spaced: readonly Pointer[];
  readonly unintended: readonly Pointer[];
}

const isReached = ({ different, unseen, unintended }: Found): boolean => different.length + unseen.length + unintended.length === 0;

const appearedEnding = (pointers: readonly Pointer[]): Ending => ({
  outcome: "not-converged",
  code: "E_UNINTENDED_CHANGE",
  message: `The service has the desired values, and meanwhile columns appeared that it replicates unhashed: ${listPointers(pointers)}. The plan did not show them. Run plan to see what the manifests say about them.`,
});

function unreachedEnding({ different, unseen, unintended }: Found, accepted: WriteAnswer | undefined): Ending {
  const unreached = [...different, ...unseen];
  const seen = accepted === undefined ? "The service accepted the request, but" : acceptedText(accepted);
  return {
    outcome: "not-converged",
    ...(unreached.length > 0
      ? {
          code: "E_NOT_CONVERGED",
          message: `${seen} the account does not have the desired value of ${listPointers(unreached)}. Run plan to see the live state.`,
        }
      : {
          code: "E_UNINTENDED_CHANGE",
          message: `The service has the desired values, but other values changed too: ${listPointers(unintended)}. Check them before you apply anything else.`,
        }),
  };
}

const acceptedText = (answer: WriteAnswer): string =>
  `Accepted, not visible yet: the service answered the request with ${answerText(answer)}, and until now`;

async function compared<Live>(step: UpdateStep<Live>, body: JsonObject, live: Live): Promise<Found> {
  const { item, update, live: before } = step;
  const document = update.document(item, live);
  const { different: all, unseen: absent } = verifyWrite(body, document);
  const unseen = absent.length === 0 ? absent : withoutUnshown(absent, step);
  const spaced = all.filter((pointer) => differsInSpace(atPointer(body, pointer), atPointer(document, pointer)));
  const different = spaced.length === 0 ? all : all.filter((pointer) => !spaced.includes(pointer));
  const isWhole = different.length + unseen.length === 0;
  const unintended = isWhole && update.unintended !== undefined ? update.unintended(before, live, body) : [];
  return { different, spaced, unseen, unintended };
}

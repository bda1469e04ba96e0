import { eachChange } from "../base/model/changes.ts";
import { isObject, type JsonObject, type JsonValue, own, sameJson } from "../base/model/json/json.ts";
import { escaped, type Pointer } from "../base/model/json/pointer.ts";
import type { ReadyStep } from "../base/model/plan.ts";
import type { WriteAnswer } from "../base/model/service.ts";
import { isSecretReference } from "../base/model/settings/secret.ts";
import { andMore, moreOf } from "../base/text/lists.ts";
import { cutEnd } from "../base/text/values.ts";
import type { Ending } from "./step.ts";

/** A value that a body asks for, with that of a document at the same place. */
interface Asked {
  readonly pointer: Pointer;
  readonly sent: JsonValue;
  readonly now: JsonValue | undefined;
}

/**
 * Calls `each` for the values that a body asks for. Secrets are left out, because no response shows them, and so are empty maps: `tables: {}` is sent
 * because the interface may require it, and has no effect.
 */
function eachAsked(body: JsonObject, document: JsonObject, each: (asked: Asked) => void): void {
  const visit = (sentIn: JsonObject, nowIn: JsonObject, above: Pointer): void => {
    for (const key of Object.keys(sentIn)) {
      const sent = own(sentIn, key);
      const now = own(nowIn, key);
      const pointer = `${above}/${escaped(key)}`;
      if (sent === undefined || isSecretReference(sent)) continue;
      // Members of JSON are JSON.
      if (isObject(sent)) visit(sent as JsonObject, isObject(now) ? (now as JsonObject) : {}, pointer);
      else each({ pointer, sent, now });
    }
  };
  visit(body, document, "");
}

export interface Verification {
  /** Pointers at which the document has another value. */
  readonly different: readonly Pointer[];
  /** Pointers at which the document has no value. */
  readonly unseen: readonly Pointer[];
  /** How many values it has as the body asks for them. */
  readonly equal: number;
}

/** Compares a live document with the values that a body asks for. */
export function verifyWrite(body: JsonObject, document: JsonObject): Verification {
  const different: Pointer[] = [];
  const unseen: Pointer[] = [];
  let equal = 0;
  eachAsked(body, document, ({ pointer, sent, now }) => {
    if (now === undefined) unseen.push(pointer);
    else if (sameJson(now, sent)) equal++;
    else different.push(pointer);
  });
  return { different, unseen, equal };
}

/** A touched node that has changed since the item was planned; undefined: not there. */
export interface StaleNode {
  readonly pointer: Pointer;
  readonly planned: JsonValue | undefined;
  readonly now: JsonValue | undefined;
}

/**
 * The values that the item sends, compared with those at planning: `before` of a change; a body repeats all others, such as
 * those of ancestors. What was not known at planning is left out. `isShown`: whether the document has all values of the object.
 */
export function staleNodes(item: ReadyStep, document: JsonObject, isShown: boolean): readonly StaleNode[] {
  const before = new Map<Pointer, JsonValue | undefined>();
  for (const change of eachChange(item)) {
    before.set(change.path, change.before);
  }
  const stale = new Map<Pointer, StaleNode>();
  for (const { body } of item.requests)
    eachAsked(body, document, ({ pointer, sent, now }) => {
      const isChanged = before.has(pointer);
      const planned = isChanged ? before.get(pointer) : sent;
      const isKnown = planned !== undefined && (isChanged || isShown || now !== undefined);
      if (isKnown && !sameJson(now, planned)) stale.set(pointer, { pointer, planned, now });
    });
  return [...stale.values()];
}

const shownNodes = 5;

/** "/name was "PII" when it was planned and is "pii" now; …" */
export function describeStale(nodes: readonly StaleNode[]): string {
  const texts = nodes
    .slice(0, shownNodes)
    .map(({ pointer, planned, now }) => `${pointer} was ${short(planned)} when it was planned and is ${short(now)} now`);
  return nodes.length > shownNodes ? `${texts.join("; ")}; ${moreOf(nodes.length - shownNodes, "value")}` : texts.join("; ");
}

/** The ending of an item whose `basis` has changed. */
export const exposesOther: Ending = {
  outcome: "skipped",
  code: "E_STALE",
  message:
    "What it would expose changed after the plan was made: a schema or table above was enabled or disabled, or a column was added, enabled, disabled, hashed or unhashed.",
};

/** The first pointers, and the number of the others. */
export function listPointers(pointers: readonly Pointer[]): string {
  return andMore(pointers, "value", { shown: shownNodes });
}

function short(value: JsonValue | undefined): string {
  return value === undefined ? "absent" : cutEnd(JSON.stringify(value), 80);
}

/** The pauses before each of the reads that look for the effect of a write, together at most this long. A read may show the state before the write. */
export function* pausesFor(milliseconds: number): Generator<number> {
  yield 0;
  for (let left = milliseconds, pauseMs = 500; left > 0; left -= pauseMs, pauseMs = Math.min(2 * pauseMs, 10_000)) {
    pauseMs = Math.min(pauseMs, left);
    yield pauseMs;
  }
}

/** "status 202 and the words "The change is being applied"": a response, as a sentence names it. */
export const answerText = ({ status, words }: WriteAnswer): string =>
  `status ${status}${words === undefined ? "" : ` and the words ${JSON.stringify(cutEnd(words, 200))}`}`;

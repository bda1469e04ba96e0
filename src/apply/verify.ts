import { eachChange } from "../model/changes.ts";
import { type JsonObject, type JsonValue, sameJson } from "../model/json/json.ts";
import { leavesOf } from "../model/json/leaves.ts";
import { atPointer, type Pointer } from "../model/json/pointer.ts";
import type { Item } from "../model/plan.ts";
import { isSecretReference } from "../model/settings/secret.ts";
import { cutEnd } from "../text/values.ts";

/** The values that a body asks for, by pointer. Secrets are left out: no response shows them. */
export function desiredBy(body: JsonObject): ReadonlyMap<Pointer, JsonValue> {
  return new Map(
    leavesOf(body).flatMap(({ path, value }) => (isSecretReference(value) || isEmptyMap(value) ? [] : [[path, value] as const])),
  );
}

/** `tables: {}` is sent because the interface may require it, and has no effect. */
const isEmptyMap = (value: JsonValue): boolean => typeof value === "object" && value !== null && !Array.isArray(value);

export interface Verification {
  /** Pointers at which the document has another value. */
  readonly different: readonly Pointer[];
  /** Pointers at which the document has no value. */
  readonly unseen: readonly Pointer[];
}

/** Compares a live document with the desired values. */
export function verifyWrite(desired: ReadonlyMap<Pointer, JsonValue>, document: JsonObject): Verification {
  const different: Pointer[] = [];
  const unseen: Pointer[] = [];
  for (const [pointer, value] of desired) {
    const shown = atPointer(document, pointer);
    if (shown === undefined) unseen.push(pointer);
    else if (!sameJson(shown, value)) different.push(pointer);
  }
  return { different, unseen };
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
export function staleNodes(item: Item, document: JsonObject, isShown: boolean): readonly StaleNode[] {
  const before = new Map(Array.from(eachChange(item), (change) => [change.path, change.before]));
  const stale = new Map<Pointer, StaleNode>();
  for (const { body } of item.requests)
    for (const [pointer, sent] of desiredBy(body)) {
      const isChanged = before.has(pointer);
      const planned = isChanged ? before.get(pointer) : sent;
      // A document is JSON, and so is everything in it.
      const now = atPointer(document, pointer) as JsonValue | undefined;
      const isKnown = planned !== undefined && (isChanged || isShown || now !== undefined);
      if (isKnown && !sameJson(now, planned)) stale.set(pointer, { pointer, planned, now });
    }
  return [...stale.values()];
}

const shownNodes = 5;

/** "/name was "PII" when it was planned and is "pii" now; …" */
export function describeStale(nodes: readonly StaleNode[]): string {
  const texts = nodes
    .slice(0, shownNodes)
    .map(({ pointer, planned, now }) => `${pointer} was ${short(planned)} when it was planned and is ${short(now)} now`);
  return nodes.length > shownNodes ? `${texts.join("; ")}; and ${nodes.length - shownNodes} more` : texts.join("; ");
}

/** The first pointers, and the number of the others. */
export function listPointers(pointers: readonly Pointer[]): string {
  const shown = pointers.slice(0, shownNodes).join(", ");
  return pointers.length > shownNodes ? `${shown} and ${pointers.length - shownNodes} more` : shown;
}

function short(value: JsonValue | undefined): string {
  return value === undefined ? "absent" : cutEnd(JSON.stringify(value), 80);
}

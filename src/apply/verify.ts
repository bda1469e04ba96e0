import type { Kind, Unit } from "../kinds/kind.ts";
import { isObject, type JsonObject, type JsonValue, sameJson } from "../model/json.ts";
import type { Item } from "../model/plan.ts";
import { atPointer, type Pointer, toPointer } from "../model/pointer.ts";
import { isSecretReference } from "../model/secret.ts";

/** The values that a body asks for, leaf by leaf. Secrets are left out: no answer shows them. */
export function wantedBy(body: JsonObject): ReadonlyMap<Pointer, JsonValue> {
  const leaves = new Map<Pointer, JsonValue>();
  const visit = (node: JsonValue, path: readonly string[]): void => {
    if (isSecretReference(node)) return;
    if (isObject(node)) for (const key of Object.keys(node)) visit((node as JsonObject)[key] as JsonValue, [...path, key]);
    else leaves.set(toPointer(path), node);
  };
  visit(body, []);
  return leaves;
}

export interface Verification {
  /** Leaves that the document shows with another value. */
  readonly different: readonly Pointer[];
  /** Leaves that the document does not show. */
  readonly unseen: readonly Pointer[];
}

/** What a live document says of the wanted values. */
export function verifyWrite(wanted: ReadonlyMap<Pointer, JsonValue>, document: JsonObject): Verification {
  const different: Pointer[] = [];
  const unseen: Pointer[] = [];
  for (const [pointer, value] of wanted) {
    const shown = atPointer(document, pointer);
    if (shown === undefined) unseen.push(pointer);
    else if (!sameJson(shown, value)) different.push(pointer);
  }
  return { different, unseen };
}

/** A touched node that is no longer as it was when the item was planned; undefined: not there. */
export interface StaleNode {
  readonly pointer: Pointer;
  readonly planned: JsonValue | undefined;
  readonly now: JsonValue | undefined;
}

export function staleNodes<Live>(kind: Kind<Unit, Live>, item: Item, live: Live | undefined): readonly StaleNode[] {
  const document = kind.document(item, live);
  return Object.entries(item.observed).flatMap(([pointer, planned]) => {
    // A document is JSON, and so is whatever is in it.
    const now = atPointer(document, pointer) as JsonValue | undefined;
    return sameJson(now, planned) ? [] : [{ pointer, planned, now }];
  });
}

const shownNodes = 5;

/** "/name was "PII" when it was planned and is "pii" now; …" */
export function describeStale(nodes: readonly StaleNode[]): string {
  const texts = nodes
    .slice(0, shownNodes)
    .map(({ pointer, planned, now }) => `${pointer} was ${short(planned)} when it was planned and is ${short(now)} now`);
  return nodes.length > shownNodes ? `${texts.join("; ")}; and ${nodes.length - shownNodes} more` : texts.join("; ");
}

/** A few pointers, and how many more. */
export function listPointers(pointers: readonly Pointer[]): string {
  const shown = pointers.slice(0, shownNodes).join(", ");
  return pointers.length > shownNodes ? `${shown} and ${pointers.length - shownNodes} more` : shown;
}

function short(value: JsonValue | undefined): string {
  if (value === undefined) return "absent";
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

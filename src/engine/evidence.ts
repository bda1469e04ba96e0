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

export interface Verdict {
  /** Leaves that the document shows with another value. */
  readonly different: readonly Pointer[];
  /** Leaves that the document does not show. */
  readonly unseen: readonly Pointer[];
}

/** What a live document says of the wanted values. */
export function judge(wanted: ReadonlyMap<Pointer, JsonValue>, document: JsonObject): Verdict {
  const different: Pointer[] = [];
  const unseen: Pointer[] = [];
  for (const [pointer, value] of wanted) {
    const shown = atPointer(document, pointer);
    if (shown === undefined) unseen.push(pointer);
    else if (!sameJson(shown, value)) different.push(pointer);
  }
  return { different, unseen };
}

/** The touched nodes that are no longer as they were when the item was planned. */
export function staleNodes<Live>(kind: Kind<Unit, Live>, item: Item, live: Live | undefined): readonly Pointer[] {
  const document = kind.document(item, live);
  return Object.entries(item.observed)
    .filter(([pointer, value]) => !sameJson(atPointer(document, pointer), value))
    .map(([pointer]) => pointer);
}

import { isObject, type JsonObject } from "../../model/json.ts";
import type { Action, Cause, Change, Deferred } from "../../model/plan.ts";
import { toPointer } from "../../model/pointer.ts";
import { isSecretReference } from "../../model/secret.ts";
import { visible } from "../../text/control-characters.ts";

/** The changes as they are shown: what a create sends as an object, one member a line, so that nothing of it is cut off. */
export function flattenChanges(changes: readonly Change[], action: Action): readonly Change[] {
  return action === "create" ? changes.flatMap(leaves) : changes;
}

function leaves(change: Change): readonly Change[] {
  const { path, before, after } = change;
  if (before !== undefined || !isObject(after) || isSecretReference(after) || Object.keys(after).length === 0) return [change];
  const members = Object.entries(after as JsonObject);
  return members.flatMap(([key, member]) => leaves({ ...change, path: path + toPointer([key]), after: member }));
}

/** "pii-email, manifests/pii.yaml:9", with the reason in brackets where wanted. */
export function causeText(cause: Cause, withReason: boolean): string {
  const place = placeText(cause);
  const rule = cause.rule === undefined ? place : `${visible(cause.rule)}, ${place}`;
  return withReason && cause.reason !== undefined ? `${rule} (${visible(cause.reason)})` : rule;
}

/** "manifests/pii.yaml:9:3", as far as known; "" without a file. */
export function placeText(place: { readonly file?: string; readonly line?: number; readonly column?: number }): string {
  if (place.file === undefined) return "";
  return [visible(place.file), place.line, place.line === undefined ? undefined : place.column]
    .filter((part) => part !== undefined)
    .join(":");
}

/** What something deferred waits for; `name` draws an address in the way of the format. "" where that is not known. */
export function waitsForText({ waitsFor, liveId }: Pick<Deferred, "waitsFor" | "liveId">, name: (address: string) => string): string {
  const names = waitsFor.map(name).join(", ");
  if (names === "") return "";
  return liveId === undefined ? `waits for ${names}` : `waits for the service to discover the schema of ${names}`;
}

import { isObject, type JsonObject } from "../model/json.ts";
import type { Action, Change } from "../model/plan.ts";
import { toPointer } from "../model/pointer.ts";
import { isSecretReference } from "../model/secret.ts";

/** The changes as they are shown: what a create sends as an object, one member a line, so that nothing of it is cut off. */
export function shownChanges(changes: readonly Change[], action: Action): readonly Change[] {
  return action === "create" ? changes.flatMap(leaves) : changes;
}

function leaves(change: Change): readonly Change[] {
  const { path, before, after } = change;
  if (before !== undefined || !isObject(after) || isSecretReference(after) || Object.keys(after).length === 0) return [change];
  const members = Object.entries(after as JsonObject);
  return members.flatMap(([key, member]) => leaves({ ...change, path: path + toPointer([key]), after: member }));
}

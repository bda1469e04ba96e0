import { isObject, type JsonValue } from "../model/json.ts";
import { type Pointer, toPointer } from "../model/pointer.ts";
import { isSecretReference } from "../model/secret.ts";

export interface Leaf {
  readonly path: Pointer;
  readonly value: JsonValue;
}

/** The leaves of a value in its own order. A list, an empty map and a secret's reference are one leaf each. */
export function leavesOf(value: JsonValue, path: readonly string[] = []): readonly Leaf[] {
  if (!isObject(value) || isSecretReference(value) || Object.keys(value).length === 0) return [{ path: toPointer(path), value }];
  return Object.entries(value).flatMap(([key, member]) => leavesOf(member as JsonValue, [...path, key]));
}

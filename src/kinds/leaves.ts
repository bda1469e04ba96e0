import { createHash } from "node:crypto";
import { canonicalJson, isObject, type JsonValue } from "../model/json.ts";
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

/** 12 hex digits are enough to see a difference, and too few to guess a value from. */
const digitsKept = 12;

const digest = (value: unknown): string => createHash("sha256").update(canonicalJson(value)).digest("hex").slice(0, digitsKept);

/**
 * A digest per leaf of a declared value, by JSON Pointer. Secrets have none: a digest of a secret could be tried out (product §3.4, house §5).
 * Lists are one leaf.
 */
export function leafDigests(value: unknown, path: readonly string[] = []): Readonly<Record<Pointer, string>> {
  const digests: Record<Pointer, string> = {};
  const visit = (node: unknown, at: readonly string[]): void => {
    if (node === undefined || isSecretReference(node)) return;
    if (isObject(node) && Object.keys(node).length > 0) for (const key of Object.keys(node)) visit(node[key], [...at, key]);
    else digests[toPointer(at)] = digest(node);
  };
  visit(value, path);
  return digests;
}

/** The pointers at which the declared digests differ from the recorded ones, removed leaves included, in order. */
export function changedLeaves(
  declared: Readonly<Record<Pointer, string>>,
  recorded: Readonly<Record<Pointer, string>>,
): readonly Pointer[] {
  const pointers = new Set([...Object.keys(declared), ...Object.keys(recorded)]);
  return [...pointers].filter((pointer) => declared[pointer] !== recorded[pointer]).sort();
}

import { createHash } from "node:crypto";
import { canonicalJson, isObject } from "../model/json.ts";
import type { Pointer } from "../model/pointer.ts";
import { toPointer } from "../model/pointer.ts";
import { isSecretReference } from "../model/secret.ts";

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

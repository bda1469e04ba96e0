import { createHash } from "node:crypto";
import { canonicalJson, type JsonObject } from "../base/model/json/json.ts";
import { leavesOf, type Pointer } from "../base/model/json/pointer.ts";
import { locationIn, type Manifest } from "../base/model/manifest.ts";
import type { DraftFacts, PathChange } from "../base/model/plan.ts";
import { isSecretReference } from "../base/model/settings/secret.ts";

/** 12 hex digits show a difference, and are too few to guess a value from. */
const digitsKept = 12;

const digest = (value: unknown): string => createHash("sha256").update(canonicalJson(value)).digest("hex").slice(0, digitsKept);

/**
 * A digest for each leaf of a declared value, by JSON Pointer; `base` precedes each. Secrets have
 * none, because someone could try out values against the digest of a secret.
 */
export function leafDigests(value: unknown, base: Pointer = ""): Readonly<Record<Pointer, string>> {
  return Object.fromEntries(
    leavesOf(value, base).flatMap((leaf) => (isSecretReference(leaf.value) ? [] : [[leaf.path, digest(leaf.value)] as const])),
  );
}

/** The pointers at which the declared digests differ from the recorded ones, removed leaves included, in order. */
export function changedLeaves(
  declared: Readonly<Record<Pointer, string>>,
  recorded: Readonly<Record<Pointer, string>>,
): readonly Pointer[] {
  const pointers = new Set([...Object.keys(declared), ...Object.keys(recorded)]);
  return [...pointers].filter((pointer) => declared[pointer] !== recorded[pointer]).sort();
}

/** What the body of a create sends. `placeOf`: where the manifest has a value of the body; default: at the same path below spec. */
export const createChanges = (
  manifest: Manifest,
  body: JsonObject,
  placeOf: (path: Pointer) => Pointer = (path) => `/spec${path}`,
): readonly PathChange<DraftFacts>[] =>
  leavesOf(body).map(({ path, value }) => ({ path, after: value, risk: "neutral", cause: { place: locationIn(manifest, placeOf(path)) } }));

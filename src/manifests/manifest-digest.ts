import { createHash } from "node:crypto";
import { canonicalJson, type JsonValue } from "../model/json.ts";

/**
 * "sha256:…" over the effective manifests: variables filled in, `$secret` as references. The same whatever the files are called, and in
 * whatever order manifests and keys stand.
 */
export function manifestDigest(documents: readonly JsonValue[]): string {
  const hash = createHash("sha256");
  for (const text of documents.map(canonicalJson).sort()) hash.update(text).update("\n");
  return `sha256:${hash.digest("hex")}`;
}

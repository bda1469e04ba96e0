import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { canonicalJson } from "../model/json.ts";

/** What is wrong with a document's digest: "keyless": it needs a key and none is given; "unsigned": a key is given and it was made without one. */
export type IntegrityFault = "missing" | "differs" | "keyless" | "unsigned";

/**
 * `sha256:HEX` of the document's canonical JSON, or `hmac-sha256:HEX` with a key. An empty key counts as none. The document must be as JSON.parse
 * gives it, without its `integrity` member.
 */
export function digestOf(document: unknown, digestKey: string | undefined): string {
  const text = canonicalJson(document);
  return digestKey
    ? `hmac-sha256:${createHmac("sha256", digestKey).update(text).digest("hex")}`
    : `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

/** Compares the document with the digest it came with; undefined where they agree. */
export function integrityFault(document: unknown, digest: unknown, digestKey: string | undefined): IntegrityFault | undefined {
  if (digest === undefined) return digestKey ? "unsigned" : "missing";
  if (typeof digest !== "string") return "differs";
  if (digest.startsWith("hmac-sha256:") && !digestKey) return "keyless";
  if (digest.startsWith("sha256:") && digestKey) return "unsigned";
  const actual = Buffer.from(digest);
  try {
    const expected = Buffer.from(digestOf(document, digestKey));
    return expected.length === actual.length && timingSafeEqual(expected, actual) ? undefined : "differs";
  } catch (error) {
    // Nested too deeply to be printed, so not printed by dimsync.
    if (error instanceof RangeError) return "differs";
    throw error;
  }
}

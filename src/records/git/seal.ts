import { createHmac, timingSafeEqual } from "node:crypto";

// A ref can't be protected against users who may push. With DIMSYNC_DIGEST_KEY each commit carries
// an HMAC over its parent and its files, so that dimsync notices a commit without the key. Moving
// the ref back to an older sealed commit is not noticed.

/** The seal of a commit: `listing` is its root without the seal, as `git ls-tree` prints it. */
export function sealOf(parent: string | undefined, listing: string, key: string): string {
  return `hmac-sha256:${createHmac("sha256", key)
    .update(`dimsync records 1\n${parent ?? ""}\n${listing}`)
    .digest("hex")}\n`;
}

/** Whether the seal in a commit is correct. */
export function sealMatches(found: string | undefined, expected: string): boolean {
  const [a, b] = [Buffer.from(found ?? ""), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

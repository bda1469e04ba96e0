import { createHash } from "node:crypto";

const sha256 = (data: string | Uint8Array): string => createHash("sha256").update(data).digest("hex");

/** Of one effective document (variables filled in, `$secret` as references), given as canonical JSON: the same in whatever order its keys stand. */
export const documentDigest = (canonicalJson: string | Uint8Array): string => sha256(canonicalJson);

/** "sha256:…" over the effective documents, given by their digests. The same whatever the files are called, and in whatever order manifests stand. */
export const manifestDigest = (documentDigests: readonly string[]): string => `sha256:${sha256([...documentDigests].sort().join("\n"))}`;

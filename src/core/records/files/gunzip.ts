import { gunzipSync } from "node:zlib";

/** The UTF-8 text; undefined if it has more than `most` bytes, which are never unpacked. Throws what zlib throws for anything but gzip. */
export function gunzipText(content: Uint8Array, most: number): string | undefined {
  try {
    return gunzipSync(content, { maxOutputLength: most }).toString("utf8");
  } catch (error) {
    if (error instanceof RangeError && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE") return undefined;
    throw error;
  }
}

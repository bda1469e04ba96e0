/**
 * A path below the base URL from plain names, each percent-encoded as one segment: `a/b` -> `a%2Fb`. A segment of dots only is encoded too,
 * since URL libraries and proxies would resolve `..`. Half a surrogate pair has no bytes in UTF-8 and is sent as U+FFFD, as everywhere in URLs.
 */
export function urlPath(segments: readonly string[]): string {
  return `/${segments.map(encodeSegment).join("/")}`;
}

function encodeSegment(segment: string): string {
  return /^\.+$/u.test(segment) ? "%2E".repeat(segment.length) : encodeURIComponent(segment.replaceAll(/\p{Cs}/gu, "\ufffd"));
}

/**
 * A path below the base URL from plain names, each percent-encoded as one segment: `a/b` -> `a%2Fb`. A segment of dots only is encoded too,
 * since URL libraries and proxies would resolve `..`.
 */
export function urlPath(segments: readonly string[]): string {
  return `/${segments.map((segment) => (/^\.+$/u.test(segment) ? "%2E".repeat(segment.length) : encodeURIComponent(segment))).join("/")}`;
}

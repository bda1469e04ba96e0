import { own } from "./json.ts";

/** A JSON Pointer (RFC 6901): "" is the whole, "/a~1b/0" is member "a/b", element 0. */
export type Pointer = string;

export function toPointer(path: readonly (string | number)[]): Pointer {
  let pointer = "";
  for (const segment of path) pointer += `/${escaped(String(segment))}`;
  return pointer;
}

/** A name as a segment of a pointer. Hardly any name needs an escape. */
export const escaped = (segment: string): string =>
  segment.includes("~") || segment.includes("/") ? segment.replaceAll("~", "~0").replaceAll("/", "~1") : segment;

export function fromPointer(pointer: Pointer): readonly string[] {
  if (pointer === "") return [];
  const segments = pointer.slice(1).split("/");
  return pointer.includes("~") ? segments.map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~")) : segments;
}

/** The value at the pointer, or undefined if there is none. */
export function atPointer(root: unknown, pointer: Pointer): unknown {
  let value = root;
  for (const segment of fromPointer(pointer)) {
    if (typeof value !== "object" || value === null) return undefined;
    value = own(value as Record<string, unknown>, segment);
  }
  return value;
}

/** Whether `pointer` is `ancestor` itself or is below it. */
export function isWithin(pointer: Pointer, ancestor: Pointer): boolean {
  return pointer === ancestor || pointer.startsWith(`${ancestor}/`);
}

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

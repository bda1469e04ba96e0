import { isSecretReference } from "../settings/secret.ts";
import { isObject, type JsonValue, own } from "./json.ts";

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

interface Leaf {
  readonly path: Pointer;
  readonly value: JsonValue;
}

/**
 * The leaves of a JSON value, in its own order. A list, an empty map below the root and a `$secret`
 * reference are one leaf each. Members that are undefined are left out, as in JSON. `base` precedes each path.
 */
export function leavesOf(value: unknown, base: Pointer = ""): readonly Leaf[] {
  const leaves: Leaf[] = [];
  const visit = (node: unknown, path: Pointer): void => {
    if (node === undefined) return;
    const keys = isObject(node) && !isSecretReference(node) ? Object.keys(node) : [];
    // Only maps and scalars of JSON come here.
    if (!isObject(node) || (keys.length === 0 && path !== "")) leaves.push({ path, value: node as JsonValue });
    else for (const key of keys) visit(node[key], `${path}/${escaped(key)}`);
  };
  visit(value, base);
  return leaves;
}

import fc, { anyCodePoint } from "../support/fast-check.ts";

const dollar = "$";

/**
 * Texts that often break parsers, templates, look-ups and terminals. None contains a file or a
 * host.
 */
const nasty: readonly string[] = [
  "__proto__",
  "constructor",
  "toString",
  "null",
  "~",
  "true",
  "-0",
  "1e999",
  "9007199254740993",
  "0x1F",
  ".nan",
  "2026-02-30",
  "",
  " ",
  "\t",
  "\r\n",
  "\u0000",
  "\u001b[31m",
  "\u2028",
  "\ufeff",
  "\ud800",
  "ü",
  "𝄞",
  "%00",
  "%2e%2e",
  "{",
  "}",
  "[",
  "]",
  "[[[[[[[[",
  "{{{{",
  ": ",
  "- ",
  "? ",
  "| ",
  "> ",
  "---\n",
  "...\n",
  "<<: *a",
  "&a ",
  "*a",
  "!!js/function ",
  "!tag ",
  "#",
  '"',
  "'",
  "\\",
  `${dollar}{var.x}`,
  `${dollar}{env.X}`,
  `${dollar}{`,
  `${dollar}${dollar}{`,
  "$secret: { env: X }",
  "kind: Tag",
  "spec: 3",
  "metadata: {}",
  "apiVersion: dimsync/v2",
];

/** One change of a text, by fractions of its length. */
export type TextEdit = readonly [
  kind: "insert" | "cut" | "double" | "replace" | "swapLines" | "end",
  at: number,
  size: number,
  piece: string,
];

const fraction = fc.double({ min: 0, max: 1, noNaN: true });
export const textEdits: fc.Arbitrary<readonly TextEdit[]> = fc.array(
  fc.tuple(
    fc.constantFrom("insert", "cut", "double", "replace", "swapLines", "end" as const),
    fraction,
    fraction,
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...nasty) },
      { weight: 1, arbitrary: fc.string({ unit: anyCodePoint, maxLength: 6 }) },
    ),
  ),
  { minLength: 1, maxLength: 4 },
) as fc.Arbitrary<readonly TextEdit[]>;

export const edited = (text: string, edits: readonly TextEdit[]): string => edits.reduce(editOnce, text);

function editOnce(text: string, [kind, where, size, piece]: TextEdit): string {
  const at = Math.floor(where * text.length);
  const end = Math.min(text.length, at + 1 + Math.floor(size * 40));
  switch (kind) {
    case "insert":
      return text.slice(0, at) + piece + text.slice(at);
    case "cut":
      return text.slice(0, at) + text.slice(end);
    case "double":
      return text.slice(0, end) + text.slice(at);
    case "replace":
      return text.slice(0, at) + piece + text.slice(end);
    case "end":
      return text.slice(0, at);
    case "swapLines": {
      const lines = text.split("\n");
      const [a, b] = [Math.floor(where * lines.length), Math.floor(size * lines.length)];
      const [one = "", other = ""] = [lines[a], lines[b]];
      return lines.map((line, index) => (index === a ? other : index === b ? one : line)).join("\n");
    }
  }
}

const scalar: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, 0, -1, 1.5, 1e308, 2 ** 53, "", [], {}, [[]], [null], { id: 1 }, { items: null }),
  fc.constantFrom(...nasty),
  fc.string({ unit: anyCodePoint, maxLength: 5 }),
);

/**
 * One change of a JSON document: the node with that number gets another value, is removed, or gets
 * another member.
 */
export type NodeEdit = readonly [kind: "set" | "remove" | "add", node: number, value: unknown];

export const nodeEdits: fc.Arbitrary<readonly NodeEdit[]> = fc.array(
  fc.tuple(fc.constantFrom("set", "set", "remove", "add" as const), fc.nat({ max: 100_000 }), scalar),
  { minLength: 1, maxLength: 3 },
) as fc.Arbitrary<readonly NodeEdit[]>;

/** A copy of the document with changed nodes. */
export function withNodesEdited(document: unknown, edits: readonly NodeEdit[]): unknown {
  const box = { document: structuredClone(document) };
  for (const [kind, node, value] of edits) {
    const places = placesIn(box);
    const place = places[node % places.length];
    if (place === undefined) continue;
    const [holder, key] = place;
    if (kind === "set") define(holder, key, value);
    else if (kind === "remove") Array.isArray(holder) ? holder.splice(Number(key), 1) : Reflect.deleteProperty(holder, key);
    else if (typeof value === "string") define(holder, value, "added");
  }
  return box.document;
}

/** One value of a JSON document becomes `value`. */
export interface Retyped {
  readonly document: unknown;
  /** The name of the member. */
  readonly key: string;
}

/** A copy of the document with another value at the place with that number; undefined if the value there has the type of `value`. */
export function withNodeRetyped(document: unknown, node: number, value: unknown): Retyped | undefined {
  const box = { document: structuredClone(document) };
  const places = placesIn(box);
  const [holder, key] = places[node % places.length] ?? [box, "document"];
  const before = Object.getOwnPropertyDescriptor(holder, key)?.value;
  if (typeIn(before) === typeIn(value)) return undefined;
  define(holder, key, value);
  return { document: box.document, key };
}

const typeIn = (value: unknown): string => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value);

const define = (holder: object, key: string, value: unknown): void =>
  void Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true });

function placesIn(root: object): readonly (readonly [object, string])[] {
  return Object.entries(root).flatMap(([key, value]) => [
    [root, key] as const,
    ...(typeof value === "object" && value !== null ? placesIn(value as object) : []),
  ]);
}

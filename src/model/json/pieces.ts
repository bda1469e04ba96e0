import { emptyRecord, isObject } from "./json.ts";

/** As for JSON.stringify: what to print instead of a value. It gets the members of what it returned. */
export type Replacer = (key: string, value: unknown) => unknown;

export interface JsonForm {
  readonly replacer: Replacer;
  /** Two spaces, or "" for one line. */
  readonly space: "  " | "";
}

/**
 * What JSON.stringify returns for an object or a list, in pieces of some 64 KiB: the JSON of a large plan is longer than a string can be. Values at the
 * fourth level (a change, a request) are printed as a whole.
 */
export function* jsonPieces(value: object, form: JsonForm): Generator<string> {
  let piece = "";
  for (const text of textsOf(value, form, { indent: "", depth: 0 })) {
    piece += text;
    if (piece.length < pieceLength) continue;
    yield piece;
    piece = "";
  }
  yield piece;
}

/** What `canonicalJson` returns, in pieces. */
export const canonicalPieces = (value: object): Generator<string> => jsonPieces(value, { replacer: inKeyOrder, space: "" });

function inKeyOrder(_key: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  const sorted = emptyRecord<unknown>();
  for (const name of Object.keys(value).sort()) sorted[name] = value[name];
  return sorted;
}

const pieceLength = 65_536;
const wholeDepth = 4;

interface Place {
  readonly indent: string;
  readonly depth: number;
}

function* textsOf(value: object, form: JsonForm, { indent, depth }: Place): Generator<string> {
  const { replacer, space } = form;
  const isList = Array.isArray(value);
  const inner = indent + space;
  const [newLine, lastLine, colon] = space === "" ? ["", "", ":"] : [`\n${inner}`, `\n${indent}`, ": "];
  let isFirst = true;
  for (const [key, member] of Object.entries(replacer("", value) as Readonly<Record<string, unknown>>)) {
    if (member === undefined && !isList) continue;
    yield `${isFirst ? (isList ? "[" : "{") : ","}${newLine}${isList ? "" : `${JSON.stringify(key)}${colon}`}`;
    isFirst = false;
    if (depth + 1 < wholeDepth && isContainer(member)) yield* textsOf(member, form, { indent: inner, depth: depth + 1 });
    else yield wholeText(member, form).replaceAll("\n", newLine);
  }
  if (isFirst) yield isList ? "[]" : "{}";
  else yield `${lastLine}${isList ? "]" : "}"}`;
}

/** JSON.stringify returns undefined for undefined; in a list that is null. */
const wholeText = (value: unknown, { replacer, space }: JsonForm): string =>
  (JSON.stringify(value, replacer, space) as string | undefined) ?? "null";

const isContainer = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !("toJSON" in value && typeof value.toJSON === "function");

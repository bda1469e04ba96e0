import { emptyRecord } from "./json.ts";
import { isLazy, type KeyOrder, type Members, membersAt, plainMembers, readOnce } from "./lazy.ts";

export interface JsonForm {
  /** The keys of a map in the order in which they are printed. */
  readonly keysOf: (map: object) => readonly string[];
  /** Whether `keysOf` sorts. */
  readonly order: KeyOrder;
  /** Two spaces, or "" for one line. */
  readonly space: "  " | "";
  /** A string with quotes; JSON.stringify if absent. Not called for printable ASCII without quotes and backslashes. */
  readonly quoted?: (text: string) => string;
}

/**
 * What JSON.stringify returns for an object or a list, in pieces of some 64 KiB: the JSON of a large plan is longer than a string can be. Values at the
 * fourth level (a change, a request) are printed as a whole.
 */
export function* jsonPieces(value: object, form: JsonForm): Generator<string> {
  const members = streamed(value, form);
  yield* members === undefined ? [textOf(value, form, "")] : piecesOf(members, form, { indent: "", depth: 0 });
}

/** What `canonicalJson` returns, in pieces. */
export const canonicalPieces = (value: object): Generator<string> => jsonPieces(value, { keysOf: sortedKeys, order: "sorted", space: "" });

/** The keys as a map has them to which they are added in this order: whole numbers come first. */
export function mapOrder(keys: readonly string[]): readonly string[] {
  if (!keys.some(startsWithDigit)) return keys;
  const map = emptyRecord<true>();
  for (const key of keys) map[key] = true;
  return Object.keys(map);
}

const startsWithDigit = (key: string): boolean => key >= "0" && key < ":";

const sortedKeys = (map: object): readonly string[] => mapOrder(Object.keys(map).sort());

const pieceLength = 65_536;
const wholeDepth = 4;

interface Place {
  readonly indent: string;
  readonly depth: number;
}

function* piecesOf({ isList, each }: Members, form: JsonForm, { indent, depth }: Place): Generator<string> {
  const inner = indent + form.space;
  const before = newLine(form, inner);
  let text = "";
  let isFirst = true;
  for (const [key, member, below = depth < wholeDepth - 1 ? streamed(member, form) : undefined] of each) {
    if (member === undefined && !isList && below === undefined) continue;
    text += `${isFirst ? (isList ? "[" : "{") : ","}${before}${key === undefined ? "" : quoted(key, form) + colon(form)}`;
    isFirst = false;
    if (below === undefined) text += textOf(member, form, inner);
    else {
      yield text;
      text = "";
      yield* piecesOf(below, form, { indent: inner, depth: depth + 1 });
    }
    if (text.length < pieceLength) continue;
    yield text;
    text = "";
  }
  yield isFirst ? (isList ? "[]" : "{}") : `${text}${newLine(form, indent)}${isList ? "]" : "}"}`;
}

/** The members of a map or list; undefined for a scalar. */
function streamed(value: unknown, form: JsonForm): Members | undefined {
  const container = containerOf(value);
  return container === undefined ? undefined : { isList: Array.isArray(container), each: membersOf(container, form) };
}

function* membersOf(value: object, form: JsonForm): Generator<readonly [key: string | undefined, member: unknown, below?: Members]> {
  if (Array.isArray(value)) for (const element of value as readonly unknown[]) yield [undefined, element];
  else
    for (const key of form.keysOf(value)) {
      const below = membersAt(value, key, form.order);
      yield below === undefined ? [key, readOnce(value as JsonMap, key)] : [key, undefined, below];
    }
}

type JsonMap = Readonly<Record<string, unknown>>;

/** The value as JSON. Its lines after the first are indented. */
function textOf(value: unknown, form: JsonForm, indent: string): string {
  if (typeof value === "string") return quoted(value, form);
  if (typeof value === "boolean") return value ? "true" : "false";
  const container = containerOf(value);
  // JSON.stringify returns undefined for undefined; in a list that is null.
  if (container === undefined) return (JSON.stringify(value) as string | undefined) ?? "null";
  const inner = indent + form.space;
  const before = newLine(form, inner);
  let text = "";
  if (Array.isArray(container)) {
    for (const element of container as readonly unknown[]) text += `${text === "" ? "[" : ","}${before}${textOf(element, form, inner)}`;
    return text === "" ? "[]" : `${text}${newLine(form, indent)}]`;
  }
  const members = isLazy(container) ? plainMembers(container) : (container as JsonMap);
  for (const key of form.keysOf(container)) {
    const member = members[key];
    if (member !== undefined) text += `${text === "" ? "{" : ","}${before}${quoted(key, form)}${colon(form)}${textOf(member, form, inner)}`;
  }
  return text === "" ? "{}" : `${text}${newLine(form, indent)}}`;
}

const newLine = ({ space }: JsonForm, indent: string): string => (space === "" ? "" : `\n${indent}`);
const colon = ({ space }: JsonForm): string => (space === "" ? ":" : ": ");

const plainText = /^[ !#-[\]-~]*$/u;

const quoted = (text: string, form: JsonForm): string => (plainText.test(text) ? `"${text}"` : (form.quoted ?? JSON.stringify)(text));

/** A map or list as it is printed; undefined for a scalar. What only toJSON shows is asked of toJSON. */
function containerOf(value: unknown): object | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (isLazy(value) || !("toJSON" in value) || typeof value.toJSON !== "function") return value;
  const shown: unknown = value.toJSON();
  return typeof shown === "object" && shown !== null ? shown : undefined;
}

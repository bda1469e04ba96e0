import { colon, inQuotes, type JsonForm, newLine, quoted } from "./form.ts";
import { emptyRecord } from "./json.ts";
import { isLazy, jsonAt, type LeafMembers, type ListedMembers, type Members, membersAt, readOnce } from "./lazy.ts";
import type { Pointer } from "./pointer.ts";
import { reprinted } from "./reprint.ts";

/**
 * What JSON.stringify returns for an object or a list, in pieces of some 64 KiB: the JSON of a large plan is longer than a string can be. Values at the
 * fourth level (a change, a request) are printed as a whole.
 */
export function* jsonPieces(value: object, form: JsonForm): Generator<string> {
  const members = streamed(value, form);
  yield* members === undefined ? [textOf(value, form, "")] : piecesOf(members, form, { indent: "", depth: 0 });
}

/** What `canonicalJson` returns, in pieces. */
export const canonicalPieces = (value: object): Generator<string> => jsonPieces(value, { inOrder: sortedKeys, order: "sorted", space: "" });

/** The keys as a map has them to which they are added in this order: whole numbers come first. */
export function mapOrder(keys: readonly string[]): readonly string[] {
  if (!keys.some(startsWithDigit)) return keys;
  const map = emptyRecord<true>();
  for (const key of keys) map[key] = true;
  return Object.keys(map);
}

const startsWithDigit = (key: string): boolean => key >= "0" && key < ":";

const sortedKeys = (keys: readonly string[]): readonly string[] => mapOrder([...keys].sort());

const pieceLength = 65_536;
const wholeDepth = 4;
/** Four for each leaf, which has some hundred characters. */
const partsInPiece = 1024;

interface Place {
  readonly indent: string;
  readonly depth: number;
}

function piecesOf(members: Members, form: JsonForm, place: Place): Generator<string> {
  return "leaves" in members ? leafPieces(members, form, place.indent) : listedPieces(members, form, place);
}

function* listedPieces({ isList, each }: ListedMembers, form: JsonForm, { indent, depth }: Place): Generator<string> {
  const inner = indent + form.space;
  const before = newLine(form, inner);
  let text = "";
  let isFirst = true;
  for (const [key, member, below = depth < wholeDepth - 1 ? streamed(member, form) : undefined] of each) {
    if (member === undefined && !isList && below === undefined) continue;
    text += (isFirst ? (isList ? "[" : "{") : ",") + before;
    isFirst = false;
    if (below === undefined) text += memberText([key, member], form, inner);
    else {
      yield key === undefined ? text : text + quoted(key, form) + colon(form);
      text = "";
      yield* piecesOf(below, form, { indent: inner, depth: depth + 1 });
    }
    if (text.length < pieceLength) continue;
    yield text;
    text = "";
  }
  yield isFirst ? (isList ? "[]" : "{}") : `${text}${newLine(form, indent)}${isList ? "]" : "}"}`;
}

/** Leaves of a kind are the same except for their pointers, so each kind is printed once. */
function* leafPieces({ isList, leaves, make }: LeafMembers, form: JsonForm, indent: string): Generator<string> {
  const inner = indent + form.space;
  const around = leaves.kinds.map(({ suffix, value }) => {
    const [head, tail] = aroundPointer((pointer) => memberText(make(pointer, value), form, inner));
    return [newLine(form, inner) + head, `${inQuotes(suffix, form)}${tail},`] as const;
  });
  const { runs, names, kindAt } = leaves;
  let parts: string[] = [isList ? "[" : "{"];
  let at = 0;
  for (const { parent, end } of runs) {
    const start = inQuotes(parent, form);
    for (; at < end; at++) {
      const [head, tail] = around[kindAt[at] ?? 0] ?? [];
      if (head === undefined || tail === undefined) continue;
      parts.push(head, start, inQuotes(names[at] ?? "", form), at === leaves.length - 1 ? tail.slice(0, -1) : tail);
      if (parts.length < partsInPiece) continue;
      yield parts.join("");
      parts = [];
    }
  }
  if (leaves.length > 0) parts.push(newLine(form, indent));
  yield `${parts.join("")}${isList ? "]" : "}"}`;
}

/** What is before and after the pointer in a text that has it once: where the texts for two pointers differ. */
function aroundPointer(textFor: (pointer: Pointer) => string): readonly [head: string, tail: string] {
  const [one, other] = [textFor("a"), textFor("b")];
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  return [one.slice(0, at), one.slice(at + 1)];
}

/** The members of a map or list; undefined for a scalar. */
function streamed(value: unknown, form: JsonForm): Members | undefined {
  const container = containerOf(value);
  return container === undefined ? undefined : { isList: Array.isArray(container), each: membersOf(container, form) };
}

function* membersOf(value: object, form: JsonForm): Generator<readonly [key: string | undefined, member: unknown, below?: Members]> {
  if (Array.isArray(value)) for (const element of value as readonly unknown[]) yield [undefined, element];
  else
    for (const key of form.inOrder(Object.keys(value))) {
      const below = membersAt(value, key, form.order);
      yield below === undefined ? [key, readOnce(value as JsonMap, key)] : [key, undefined, below];
    }
}

type JsonMap = Readonly<Record<string, unknown>>;

/** A member as it is printed in a map or list. */
const memberText = ([key, member]: readonly [string | undefined, unknown], form: JsonForm, indent: string): string =>
  (key === undefined ? "" : quoted(key, form) + colon(form)) + textOf(member, form, indent);

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
  const map = container as JsonMap;
  const hasLazy = isLazy(map);
  for (const key of form.inOrder(Object.keys(map))) {
    const json = hasLazy ? jsonAt(map, key) : undefined;
    const member = json ?? (hasLazy ? readOnce(map, key) : map[key]);
    if (member === undefined) continue;
    text += `${text === "" ? "{" : ","}${before}${quoted(key, form)}${colon(form)}`;
    text += json === undefined ? textOf(member, form, inner) : reprinted(json, form, inner);
  }
  return text === "" ? "{}" : `${text}${newLine(form, indent)}}`;
}

/** A map or list as it is printed; undefined for a scalar. What only toJSON shows is asked of toJSON. */
function containerOf(value: unknown): object | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (isLazy(value) || !("toJSON" in value) || typeof value.toJSON !== "function") return value;
  const shown: unknown = value.toJSON();
  return typeof shown === "object" && shown !== null ? shown : undefined;
}

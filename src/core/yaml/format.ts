import {
  type Document,
  isCollection,
  isMap,
  isPair,
  isScalar,
  type Node,
  type Pair,
  type ParsedNode,
  type Scalar,
  type ScalarTag,
  visit,
  type YAMLMap,
} from "yaml";
import { sameJson } from "../model/json/json.ts";
import { type Pointer, toPointer } from "../model/json/pointer.ts";
import { composeDocuments } from "./parse.ts";
import { doubleQuoted, lineWidth } from "./print.ts";
import { read } from "./read.ts";

/**
 * The order of the members of the map at a place, in a document whose `kind` is that; unlisted
 * members follow. Empty: the author's order stays.
 */
type MemberOrder = (kind: string, pointer: Pointer) => readonly string[];

// Turning one collection into block style moves others, which may then fit or not. In practice, two
// passes are enough.
const maxPasses = 5;

/**
 * A text in canonical form: ordered members, two spaces per level, and collections in braces or
 * brackets in lines if they do not fit on one. Comments, names, quotes, anchors and values stay. A
 * text that is not valid YAML, or whose values the form would change, is returned unchanged. The
 * result is its own canonical form.
 */
export function formatYaml(text: string, order: MemberOrder): string {
  let formatted = text;
  for (let pass = 0; pass < maxPasses; pass += 1) {
    const next = formatOnce(formatted, order);
    if (next === formatted) break;
    formatted = next;
  }
  return sameJson(valuesOf(text), valuesOf(formatted)) ? formatted : text;
}

function formatOnce(text: string, order: MemberOrder): string {
  const documents = composeDocuments(text);
  if (documents.length === 0 || documents.some(({ errors }) => errors.length > 0)) return text;
  const texts = documents.map((document) => {
    orderDocument(document, text, order);
    breakLong(document);
    padMapsOnly(document);
    keepEscapes(document);
    return document.toString({ lineWidth: 0, indentSeq: true });
  });
  const whole = texts.reduce(
    (all, one) =>
      all === "" ? one : `${all}${all.endsWith("...\n") || one.startsWith("---") || one.startsWith("%") ? "" : "---\n"}${one}`,
    "",
  );
  // The library keeps carriage returns in comments of several lines.
  return whole.replaceAll("\r\n", "\n");
}

const valuesOf = (text: string): unknown => read(text).documents.map(({ value }) => value ?? null);

/** Orders members. Not in a document with aliases: each must follow its anchor. */
function orderDocument(document: Document.Parsed<ParsedNode>, text: string, order: MemberOrder): void {
  let hasAlias = false;
  visit(document, {
    Alias: () => {
      hasAlias = true;
      return visit.BREAK;
    },
  });
  const { contents } = document;
  if (hasAlias || !isMap(contents)) return;
  const kind = contents.get("kind");
  if (typeof kind === "string") orderNode(contents, "", { text, orderAt: (pointer) => order(kind, pointer) });
}

interface OrderContext {
  readonly text: string;
  readonly orderAt: (pointer: Pointer) => readonly string[];
}

function orderNode(node: unknown, pointer: Pointer, context: OrderContext): void {
  if (isMap(node)) {
    const names = context.orderAt(pointer);
    if (names.length > 0) orderMembers(node, names, pointer === "" ? "all" : isBesideKey(node, context.text) ? "first line" : "none");
    for (const { key, value } of node.items) if (isScalar(key)) orderNode(value, pointer + toPointer([String(key.value)]), context);
  } else if (isCollection(node)) {
    for (const [index, member] of node.items.entries())
      if (!isPair(member)) orderNode(member, pointer + toPointer([String(index)]), context);
  }
}

/**
 * Sorts the members of a map; unlisted ones come last. A comment moves with the member below it. A
 * comment on the whole map stays: at the top of a document, and on the line of the map's key.
 * `head` says how much of the comment that the library attaches to the map belongs to the map.
 */
function orderMembers(map: YAMLMap, names: readonly string[], head: "all" | "first line" | "none"): void {
  const rank = (pair: Pair): number => {
    const index = isScalar(pair.key) ? names.indexOf(String(pair.key.value)) : -1;
    return index < 0 ? names.length : index;
  };
  const sorted = [...map.items].sort((a, b) => rank(a) - rank(b));
  const was = keyNode(map.items[0]);
  const is = keyNode(sorted[0]);
  map.items = sorted;
  if (was === undefined || is === undefined || was === is) return;
  was.spaceBefore = is.spaceBefore === true;
  is.spaceBefore = false;
  if (head === "first line") {
    const [ofMap = "", ...ofMember] = (map.commentBefore ?? "").split("\n");
    was.commentBefore = joined(ofMember.join("\n"), was.commentBefore);
    map.commentBefore = ofMap;
  } else if (head === "none") {
    // The library attaches a comment above the first member to the map.
    was.commentBefore = joined(map.commentBefore, was.commentBefore);
    map.commentBefore = null;
  } else {
    is.commentBefore = joined(was.commentBefore, is.commentBefore);
    was.commentBefore = null;
  }
}

const joined = (...comments: readonly (string | null | undefined)[]): string | null =>
  comments.filter((comment) => (comment ?? "") !== "").join("\n") || null;

/**
 * Whether the map's comment begins on the line of its key (`create: # used once`): it then has one
 * line more than there are below the key.
 */
function isBesideKey({ commentBefore, range }: YAMLMap, text: string): boolean {
  if ((commentBefore ?? "") === "" || range === null || range === undefined) return false;
  const above = text.slice(0, range[0]).split("\n").slice(0, -1);
  const below = above.slice(above.findLastIndex((line) => /^\s*[^\s#]/u.test(line)) + 1);
  const count = (lines: readonly string[]): number => lines.filter((line) => line.trim() !== "").length;
  return count((commentBefore ?? "").split("\n")) > count(below);
}

// A parsed key is a node. Only one that code created can be a plain value.
const keyNode = (pair: Pair | undefined): Node | undefined => (pair === undefined ? undefined : (pair.key as Node));

/**
 * Collections in braces or brackets that contain a comment or do not fit on a line become lines.
 */
function breakLong(document: Document.Parsed<ParsedNode>): void {
  visit(document, {
    Collection: (_, node, path) => {
      if (node.flow !== true) return undefined;
      const levels = path.filter((parent) => isCollection(parent)).length;
      const column = Math.max(0, levels - 1) * 2 + keyWidth(path.at(-1));
      if (!hasComment(node) && column + flowWidth(node) <= lineWidth) return visit.SKIP;
      if (node.items.length > 0) node.flow = false;
      return undefined;
    },
  });
}

function hasComment(node: Node): boolean {
  let found = false;
  visit(node, {
    Node: (_, inner) => {
      if ((inner.commentBefore ?? "") === "" && ((inner.comment ?? "") === "" || inner === node)) return undefined;
      found = true;
      return visit.BREAK;
    },
  });
  return found;
}

/** Columns of `key: ` or `- `. */
function keyWidth(parent: unknown): number {
  return isPair(parent) ? scalarWidth(parent.key) + 2 : 2;
}

/** Columns of a value on one line; approximate if it has anchors, aliases or escapes. */
function flowWidth(node: unknown): number {
  if (isMap(node) && node.items.length > 0)
    return 2 + node.items.reduce((sum, { key, value }) => sum + scalarWidth(key) + 2 + flowWidth(value) + 2, 0);
  if (isCollection(node))
    return 2 + node.items.reduce((sum: number, member) => sum + flowWidth(member) + 2, 0) - (node.items.length > 0 ? 2 : 0);
  return scalarWidth(node);
}

function scalarWidth(node: unknown): number {
  if (!isScalar(node)) return 8;
  if (node.type === "QUOTE_DOUBLE") return doubleQuoted(String(node.value)).length;
  if (node.type === "QUOTE_SINGLE") return String(node.value).replaceAll("'", "''").length + 2;
  return (node.source ?? String(node.value ?? "null")).length;
}

/**
 * Strings in double quotes are printed as JSON, with escapes for invisible characters. The library
 * would write those out, and break long strings at their line breaks.
 */
function keepEscapes(document: Document.Parsed<ParsedNode>): void {
  document.schema.tags = document.schema.tags.map((tag) => {
    const { stringify } = tag as ScalarTag; // only scalars have this tag
    if (tag.tag !== "tag:yaml.org,2002:str" || stringify === undefined) return tag;
    const quoted: typeof stringify = (item, ...rest) => (isDoubleQuoted(item) ? doubleQuoted(item.value) : stringify(item, ...rest));
    return { ...tag, stringify: quoted } as ScalarTag;
  });
}

const isDoubleQuoted = (item: Scalar): item is Scalar<string> => item.type === "QUOTE_DOUBLE" && typeof item.value === "string";

/** `[a, b]` next to `{ a: b }`. The library pads both or neither. */
function padMapsOnly(document: Document.Parsed<ParsedNode>): void {
  visit(document, {
    Collection: (_, node) => {
      const print = node.toString.bind(node);
      const flowCollectionPadding = isMap(node) ? " " : "";
      node.toString = (context, ...rest) => print(context && { ...context, flowCollectionPadding }, ...rest);
    },
  });
}

import { type Document, isCollection, isMap, isPair, isScalar, type Node, type Pair, type ParsedNode, visit, type YAMLMap } from "yaml";
import { sameJson } from "../model/json.ts";
import { toPointer } from "../model/pointer.ts";
import { composeDocuments } from "../yaml/parse.ts";
import { read } from "../yaml/read.ts";
import { propertiesOf, type Schema, schemaParts } from "./schema/lookup.ts";

const widest = 120;
// Turning one collection into block style moves others, which may then fit or not; in practice two passes are enough.
const mostPasses = 5;

/**
 * A file of manifests in canonical form: members in the order of their schema (`schemaOf` gives it by kind), two spaces, collections in braces broken
 * up where they don't fit on a line. Comments, names, quotes, anchors and every value stay as they are. What can't be read as YAML, and what the form
 * would change a value of, is returned as it came. The result is its own canonical form.
 */
export function formatManifests(text: string, schemaOf: (kind: string) => Schema | undefined): string {
  let formatted = text;
  for (let pass = 0; pass < mostPasses; pass += 1) {
    const next = formatOnce(formatted, schemaOf);
    if (next === formatted) break;
    formatted = next;
  }
  return sameJson(valuesOf(text), valuesOf(formatted)) ? formatted : text;
}

function formatOnce(text: string, schemaOf: (kind: string) => Schema | undefined): string {
  const documents = composeDocuments(text);
  if (documents.length === 0 || documents.some(({ errors }) => errors.length > 0)) return text;
  for (const document of documents) {
    orderDocument(document, text, schemaOf);
    breakLong(document);
  }
  const texts = documents.map((document) => document.toString({ lineWidth: 0, indentSeq: true, flowCollectionPadding: true }));
  const whole = texts.reduce(
    (all, one) =>
      all === "" ? one : `${all}${all.endsWith("...\n") || one.startsWith("---") || one.startsWith("%") ? "" : "---\n"}${one}`,
    "",
  );
  return withoutListPadding(whole);
}

const valuesOf = (text: string): unknown => read(text).documents.map(({ value }) => value ?? null);

/** Members in the schema's order. Not in a document with aliases: each must stand after its anchor. */
function orderDocument(document: Document.Parsed<ParsedNode>, text: string, schemaOf: (kind: string) => Schema | undefined): void {
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
  const schema = typeof kind === "string" ? schemaOf(kind) : undefined;
  if (schema !== undefined) orderNode(contents, schema, "", text);
}

function orderNode(node: unknown, schema: Schema, pointer: string, text: string): void {
  if (isMap(node)) {
    const parts = schemaParts(schema, pointer);
    // A map that takes further members is the user's to order.
    const isOpen = parts.some((part) => part["additionalProperties"] !== undefined && part["additionalProperties"] !== false);
    const names = isOpen ? [] : parts.flatMap((part) => Object.keys(propertiesOf(part)));
    if (names.length > 0) orderMembers(node, names, pointer === "" ? "all" : isBesideKey(node, text) ? "first line" : "none");
    for (const { key, value } of node.items) if (isScalar(key)) orderNode(value, schema, pointer + toPointer([String(key.value)]), text);
  } else if (isCollection(node)) {
    for (const [index, member] of node.items.entries())
      if (!isPair(member)) orderNode(member, schema, pointer + toPointer([String(index)]), text);
  }
}

/**
 * Known members first, in the schema's order; unknown ones (they are errors elsewhere) stay in theirs. A comment moves with the member below it, but
 * for what is said of the whole map: at the top of a document, and beside the map's own key (`head`: how much of the comment that
 * the library gives to the map).
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
    // Above the first member the library takes a comment for one on the map.
    was.commentBefore = joined(map.commentBefore, was.commentBefore);
    map.commentBefore = null;
  } else {
    is.commentBefore = joined(was.commentBefore, is.commentBefore);
    was.commentBefore = null;
  }
}

const joined = (...comments: readonly (string | null | undefined)[]): string | null =>
  comments.filter((comment) => (comment ?? "") !== "").join("\n") || null;

/** Whether the comment on the map begins on the line of its key (`create: # used once`): it has one line more than stand below that. */
function isBesideKey({ commentBefore, range }: YAMLMap, text: string): boolean {
  if ((commentBefore ?? "") === "" || range === null || range === undefined) return false;
  const above = text.slice(0, range[0]).split("\n").slice(0, -1);
  const below = above.slice(above.findLastIndex((line) => /^\s*[^\s#]/u.test(line)) + 1);
  const count = (lines: readonly string[]): number => lines.filter((line) => line.trim() !== "").length;
  return count((commentBefore ?? "").split("\n")) > count(below);
}

// A parsed key is a node; only one made by hand may be a plain value.
const keyNode = (pair: Pair | undefined): Node | undefined => (pair === undefined ? undefined : (pair.key as Node));

/** Braces and brackets that hold a comment, or that don't fit on a line, become block style. */
function breakLong(document: Document.Parsed<ParsedNode>): void {
  visit(document, {
    Collection: (_, node, path) => {
      if (node.flow !== true) return undefined;
      const depth = path.filter((parent) => isCollection(parent)).length;
      if (!hasComment(node) && depth * 2 + keyWidth(path.at(-1)) + flowWidth(node) <= widest) return visit.SKIP;
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

function keyWidth(parent: unknown): number {
  return isPair(parent) && isScalar(parent.key) ? String(parent.key.source ?? parent.key.value).length + 2 : 2;
}

/** `[a, b]` beside `{ a: b }`: the library pads both or neither. */
function withoutListPadding(text: string): string {
  const gaps: number[] = [];
  for (const document of composeDocuments(text))
    visit(document, {
      Seq: (_, { flow, range, items }) => {
        if (flow !== true || items.length === 0 || range === null || range === undefined) return;
        const [start, end] = range;
        if (text[start] === "[" && text[start + 1] === " ") gaps.push(start + 1);
        if (text[end - 1] === "]" && text[end - 2] === " ") gaps.push(end - 2);
      },
    });
  let result = "";
  let from = 0;
  for (const gap of gaps.sort((a, b) => a - b)) {
    result += text.slice(from, gap);
    from = gap + 1;
  }
  return result + text.slice(from);
}

/** About how many columns the collection takes on one line. */
function flowWidth(node: unknown): number {
  if (isMap(node)) return 4 + node.items.reduce((sum, { key, value }) => sum + flowWidth(key) + 2 + flowWidth(value) + 2, 0);
  if (isCollection(node)) return 2 + node.items.reduce((sum: number, member) => sum + flowWidth(member) + 2, 0);
  if (isScalar(node))
    return (node.source ?? String(node.value ?? "")).length + (node.type === "QUOTE_DOUBLE" || node.type === "QUOTE_SINGLE" ? 2 : 0);
  return 8;
}

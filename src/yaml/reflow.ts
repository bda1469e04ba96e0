import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type Pair, visit, type YAMLMap, type YAMLSeq } from "yaml";
import type { JsonValue } from "../model/json.ts";
import { applyEdits, type Edit, type Path } from "./diff.ts";
import { indented, inlineYaml, memberLines } from "./print.ts";

// Where the parts of a YAML text stand: offsets from its beginning.

/** Written in lines, not in braces or brackets. */
export const isBlock = (node: YAMLMap | YAMLSeq): boolean => node.flow !== true;

/** Where an item's dash stands. */
export function dashOffsets(node: YAMLSeq<Node>): readonly number[] {
  const token = node.srcToken;
  if (token?.type !== "block-seq") return [];
  return token.items.map(({ start }) => start.find(({ type }) => type === "seq-item-ind")?.offset ?? 0);
}

/** Where the node begins, behind its anchor. */
export const startOf = (node: Node): number => node.range?.[0] ?? 0;

/** Where the last thing that the node holds ends, without comments and blank lines behind it. */
export function endOf(node: Node): number {
  if (isMap<Node, Node | null>(node) && node.flow !== true) {
    const last = node.items.at(-1);
    if (last !== undefined) return last.value === null ? endOf(last.key) : Math.max(endOf(last.value), endOf(last.key));
  }
  if (isSeq<Node>(node) && node.flow !== true) {
    const last = node.items.at(-1);
    if (last !== undefined) return endOf(last);
  }
  return node.range?.[1] ?? 0;
}

/** The beginning of the line of an offset. */
export const lineStart = (text: string, offset: number): number => text.lastIndexOf("\n", offset - 1) + 1;

/** Behind the line break that ends the line of `offset`; a block scalar ends behind its own. */
export function afterLine(text: string, offset: number): number {
  if (offset > 0 && text[offset - 1] === "\n") return offset;
  const end = text.indexOf("\n", offset);
  return end === -1 ? text.length : end + 1;
}

/** The node at the path from the root of the document. */
export function nodeAt(document: Document.Parsed, path: Path): Node | undefined {
  let node: Node | null | undefined = document.contents;
  for (const key of path) {
    if (isSeq<Node>(node)) node = node.items[Number(key)];
    else if (isMap<Node, Node | null>(node)) node = pairOf(node, String(key))?.value;
    else return undefined;
  }
  return node ?? undefined;
}

/** The member of that key; of several the last, which counts. */
const pairOf = (map: YAMLMap<Node, Node | null>, key: string): Pair<Node, Node | null> | undefined =>
  map.items.findLast((pair) => isScalar(pair.key) && String(pair.key.value) === key);

const longest = 120;

/** A member whose value is written anew, in lines. `edits` are those that it stands for. */
export interface ReflowEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly edits: readonly Edit[];
}

/**
 * Members whose value stands on one line, in braces, and would grow beyond a line: a person wants
 * to read it in several then, as a first import would have written it. Values with comments,
 * anchors or aliases in them stay in braces.
 */
export function reflowEdits(edits: readonly Edit[], document: Document.Parsed, text: string): readonly ReflowEdit[] {
  const groups = new Map<string, { readonly found: Found; readonly edits: Edit[] }>();
  for (const edit of edits) {
    const found = flowAbove(edit, document);
    if (found === undefined) continue;
    const key = JSON.stringify(found.path);
    const group = groups.get(key) ?? { found, edits: [] };
    groups.set(key, group);
    group.edits.push(edit);
  }
  return [...groups.values()].flatMap(({ found, edits: inside }) => {
    const made = unfolding(found, inside, document, text);
    return made === undefined ? [] : [made];
  });
}

interface Found {
  readonly key: Node;
  readonly value: YAMLMap;
  readonly path: Path;
}

/**
 * The outermost map in braces on the way to what is edited, with its key in a map that is written
 * in lines.
 */
function flowAbove({ path }: Edit, document: Document.Parsed): Found | undefined {
  for (let depth = 0; depth < path.length; depth++) {
    const map = nodeAt(document, path.slice(0, depth));
    const pair = isMap<Node, Node | null>(map) && isBlock(map) ? pairOf(map, String(path[depth])) : undefined;
    if (pair !== undefined && isMap(pair.value) && !isBlock(pair.value))
      return { key: pair.key, value: pair.value, path: path.slice(0, depth + 1) };
  }
  return undefined;
}

function unfolding({ key, value, path }: Found, edits: readonly Edit[], document: Document.Parsed, text: string): ReflowEdit | undefined {
  const [start, end] = [startOf(key), endOf(value)];
  const lineEnd = text.indexOf("\n", end);
  const column = start - lineStart(text, start);
  const isPlain = !/[#\n]/u.test(text.slice(start, lineEnd === -1 ? undefined : lineEnd)) && !hasReferences(value);
  // A person who likes long lines keeps them.
  if (!isPlain || column + end - start > longest) return undefined;
  const inside = edits.map((edit) => ({ ...edit, path: edit.path.slice(path.length) }));
  const after = applyEdits(value.toJS(document) as JsonValue, inside); // what YAML's core schema reads is JSON
  const lines = memberLines(String(path.at(-1)), after);
  if (lines.length === 1 || column + `${String(path.at(-1))}: ${inlineYaml(after)}`.length <= longest) return undefined;
  const [first = "", ...rest] = lines;
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  return { start, end, text: [first, ...indented(rest, " ".repeat(column))].join(eol), edits };
}

function hasReferences(value: Node): boolean {
  let found = false;
  visit(value, {
    Node: (_, node) => {
      found ||= isAlias(node) || ("anchor" in node && node.anchor !== undefined);
    },
  });
  return found;
}

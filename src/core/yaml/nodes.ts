import { type Document, isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap, type YAMLSeq } from "yaml";
import type { Path } from "./diff.ts";

// Where the parts of a YAML text are: offsets from its beginning, in syntax trees with source
// tokens.

/** In lines, not in braces or brackets. */
export const isBlock = (node: YAMLMap | YAMLSeq): boolean => node.flow !== true;

/** The offsets of a block list's dashes. */
export function dashOffsets(node: YAMLSeq<Node>): readonly number[] {
  const token = node.srcToken;
  if (token?.type !== "block-seq") return [];
  return token.items.map(({ start }) => start.find(({ type }) => type === "seq-item-ind")?.offset ?? 0);
}

/** The offset after the colon of a block map's member. */
export function colonEnd(pair: Pair<Node, Node | null>): number | undefined {
  const colon = pair.srcToken?.sep?.find(({ type }) => type === "map-value-ind");
  return colon === undefined ? undefined : colon.offset + 1;
}

/** Where the node begins, after its anchor. */
export const startOf = (node: Node): number => node.range?.[0] ?? 0;

/** Where the last value inside the node ends, without the comments and blank lines after it. */
export function endOf(node: Node): number {
  if (isMap<Node, Node | null>(node) && node.flow !== true) {
    const last = node.items.at(-1);
    if (last !== undefined) return endOfPair(last);
  }
  if (isSeq<Node>(node) && node.flow !== true) {
    const last = node.items.at(-1);
    if (last !== undefined) return endOf(last);
  }
  return node.range?.[1] ?? 0;
}

export const endOfPair = ({ key, value }: Pair<Node, Node | null>): number =>
  value === null ? endOf(key) : Math.max(endOf(value), endOf(key));

/** The beginning of the line of an offset. */
export const lineStart = (text: string, offset: number): number => text.lastIndexOf("\n", offset - 1) + 1;

/**
 * After the line break that ends the line of `offset`. A block scalar ends after its own line
 * break.
 */
export function afterLine(text: string, offset: number): number {
  if (offset > 0 && text[offset - 1] === "\n") return offset;
  const end = text.indexOf("\n", offset);
  return end === -1 ? text.length : end + 1;
}

export const columnOf = (text: string, offset: number): number => offset - lineStart(text, offset);

/** The line break of the first line. */
export const eolOf = (text: string): string => (text[text.indexOf("\n") - 1] === "\r" ? "\r\n" : "\n");

/** A child of a list or map. Null: a member without a value. */
export function childOf(node: Node | null, key: string | number): Node | null | undefined {
  if (isSeq<Node>(node)) return node.items[Number(key)];
  return isMap<Node, Node | null>(node) ? pairOf(node, String(key))?.value : undefined;
}

/** The node at the path from the root of the document. Aliases are not followed. */
export function nodeAt(document: Document.Parsed, path: Path): Node | undefined {
  let node: Node | null | undefined = document.contents;
  for (const key of path) node = node === undefined ? undefined : childOf(node, key);
  return node ?? undefined;
}

/** The member of that key; of duplicates the last one, which counts. */
export const pairOf = (map: YAMLMap<Node, Node | null>, key: string): Pair<Node, Node | null> | undefined =>
  map.items.findLast((pair) => isScalar(pair.key) && String(pair.key.value) === key);

/** By how many columns the file indents a level on the way to `path`; 2 if there is no example. */
export function stepTo(document: Document.Parsed, path: Path, text: string): number {
  let step = 2;
  let node: Node | null | undefined = document.contents;
  for (const key of path) {
    const child: Node | null | undefined = node === undefined ? undefined : childOf(node, key);
    if (isMap<Node>(node) && isMap<Node>(child) && isBlock(node) && isBlock(child)) {
      const [outer, inner] = [node, child].map((map) => columnOf(text, startOf(map)));
      if (outer !== undefined && inner !== undefined && inner > outer) step = inner - outer;
    }
    node = child;
  }
  return step;
}

import { isMap, isSeq, type Node, type YAMLMap, type YAMLSeq } from "yaml";

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

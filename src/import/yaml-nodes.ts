import { type Document, isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap } from "yaml";
import type { Path } from "./value-edits.ts";

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
export const pairOf = (map: YAMLMap<Node, Node | null>, key: string): Pair<Node, Node | null> | undefined =>
  map.items.findLast((pair) => isScalar(pair.key) && String(pair.key.value) === key);

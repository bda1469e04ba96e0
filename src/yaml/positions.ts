import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node } from "yaml";
import { secretRanges } from "../manifests/secrets/mask.ts";
import { fromPointer } from "../model/pointer.ts";
import type { SourceLocation } from "../model/problem.ts";
import type { Range, TextPositions } from "./fast/positions.ts";
import { composeDocuments } from "./read.ts";

/** Positions in any text, by the YAML library: some forty milliseconds for a hundred kilobytes. */
export function yamlPositions(text: string): TextPositions {
  const counter = new LineCounter();
  let documents: readonly Document.Parsed[] = [];
  try {
    documents = composeDocuments(text, counter);
  } catch {
    // Nested too deeply for the parser: offsets can still be told.
    counter.lineStarts = [0, ...[...text.matchAll(/\n/gu)].map(({ index }) => index + 1)];
  }
  if (counter.lineStarts[0] !== 0) counter.lineStarts.unshift(0);
  let masks: readonly Range[] | undefined;
  return {
    lineStarts: counter.lineStarts,
    offsetOf: (place) => offsetOf(place, documents),
    masksIn: (start, end) => {
      masks ??= documents.flatMap(secretRanges);
      return masks.filter(([from, to]) => to > start && from < end);
    },
    isBroken: (document) => (documents[document]?.errors.length ?? 1) > 0,
  };
}

function offsetOf({ pointer, document, on }: Omit<SourceLocation, "file">, documents: readonly Document.Parsed[]): number | undefined {
  if (pointer.startsWith("@")) return Number(pointer.slice(1));
  const root = documents[document];
  if (root === undefined) return documents.length === 0 ? 0 : undefined;
  let node: Node | null = root.contents;
  let key: Node | undefined;
  for (const segment of fromPointer(pointer)) {
    const within: Node | null | undefined = isAlias(node) ? node.resolve(root) : node;
    if (isSeq<Node>(within)) {
      const item: Node | undefined = within.items[Number(segment)];
      if (item === undefined) break;
      [node, key] = [item, undefined];
    } else if (isMap<Node, Node | null>(within)) {
      // Of a key that stands twice the last one holds, as in the values.
      const pair = within.items.findLast((candidate) => isScalar(candidate.key) && String(candidate.key.value) === segment);
      if (pair === undefined) break;
      [node, key] = [pair.value, pair.key];
    } else break;
  }
  const isEmpty = node === null || (isScalar(node) && node.range !== undefined && node.range !== null && node.range[0] === node.range[1]);
  const meant = key !== undefined && (on === "key" || isEmpty) ? key : node;
  return meant?.range?.[0] ?? root.range[0];
}

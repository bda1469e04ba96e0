import { fromPointer } from "../../model/json/pointer.ts";
import type { SourceLocation } from "../../model/problem.ts";
import { lineStartsOf } from "../../text/lines.ts";
import { enterItem, enterMap, enterMember, type Range, type SecretScope, type SecretTest, wholeDocument } from "../mask.ts";
import type { Positions } from "../positions.ts";
import { type PlainNode, plainNodes } from "./nodes.ts";

/**
 * Positions in a text that the fast path can read, the same as the YAML library gives and fifty
 * times faster; undefined for any other. An offset is undefined, too, if only the library knows it:
 * documents without a value, list items without one, and offsets in the text.
 */
export function fastPositions(text: string, isSecret: SecretTest): Positions | undefined {
  const roots = plainNodes(text);
  if (roots === undefined) return undefined;
  return {
    lineStarts: lineStartsOf(text),
    offsetOf: ({ document, pointer, on }) => {
      const root = roots.get(document);
      return root === undefined || pointer.startsWith("@") ? undefined : offsetOf(root, pointer, on);
    },
    masksIn: (start, end) => [...roots.values()].flatMap((root) => masksIn(root, [start, end], isSecret)),
    isBroken: () => false,
  };
}

/** Of the last value on the way to the pointer, if it does not exist. */
function offsetOf(root: PlainNode, pointer: string, on: SourceLocation["on"]): number | undefined {
  let node = root;
  let keyStart: number | undefined;
  for (const segment of fromPointer(pointer)) {
    const index = node.names === undefined ? Number(segment) : node.names.indexOf(segment);
    const next = node.nodes?.[index];
    if (next === undefined) break;
    keyStart = node.keyStarts[index];
    node = next;
  }
  return on === "key" || node.start === undefined ? (keyStart ?? node.start) : node.start;
}

/** The secret literals that overlap a line, given by its offsets. A literal can span several lines. */
function masksIn(root: PlainNode, [start, end]: Range, test: SecretTest): readonly Range[] {
  const ranges: Range[] = [];
  const kind = root.nodes?.[root.names?.indexOf("kind") ?? -1]?.literal;
  const isSecret = test.bind(undefined, typeof kind === "string" ? kind : undefined);
  const visit = (node: PlainNode, scope: SecretScope): void => {
    const { nodes, names, keyStarts } = node;
    if (nodes === undefined) {
      if (scope.to === "mask" && node.literal !== undefined && node.start !== undefined) ranges.push([node.start, node.end]);
      return;
    }
    const inside = names === undefined ? scope : enterMap(scope, () => names.includes("$secret"));
    for (const [index, child] of nodes.entries()) {
      const from = keyStarts[index] ?? child.start ?? start;
      const upTo = keyStarts[index + 1] ?? nodes[index + 1]?.start ?? end;
      if (from >= end) break;
      if (upTo <= start) continue;
      const name = names?.[index];
      visit(
        child,
        name === undefined ? enterItem(inside, index) : enterMember(inside, name, { isMap: child.names !== undefined, isSecret }),
      );
    }
  };
  visit(root, wholeDocument);
  return ranges.filter(([from, to]) => to > start && from < end);
}

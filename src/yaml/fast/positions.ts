import { enterItem, enterMap, enterMember, type SecretScope, wholeDocument } from "../../manifests/secrets/mask.ts";
import { fromPointer } from "../../model/pointer.ts";
import type { SourceLocation } from "../../model/problem.ts";
import { type PlainNode, plainNodes } from "./nodes.ts";

/** A part of a text: offsets, the end exclusive. */
export type Range = readonly [start: number, end: number];

/** What a parser knows of a text. Offsets are in UTF-16 units. */
export interface TextPositions {
  /** Offsets of the beginnings of lines. */
  readonly lineStarts: readonly number[];
  /** Where the value or the key at a place begins; of what isn't there, where the last value on the way to it begins. */
  readonly offsetOf: (place: Omit<SourceLocation, "file">) => number | undefined;
  /** Secrets that are written out, as far as they touch what is between two offsets. */
  readonly masksIn: (start: number, end: number) => readonly Range[];
  /** Whether the document isn't well formed, so that values can't be told for certain. */
  readonly isBroken: (document: number) => boolean;
}

/**
 * Positions in a text that is plain (plain-yaml.ts), the same as the YAML library gives and fifty times faster; undefined in any other. An offset is
 * undefined too where only the library knows: documents without a value, list entries without one, and offsets in the text.
 */
export function plainPositions(text: string): TextPositions | undefined {
  const roots = plainNodes(text);
  if (roots === undefined) return undefined;
  const lineStarts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lineStarts.push(at + 1);
  return {
    lineStarts,
    offsetOf: ({ document, pointer, on }) => {
      const root = roots.get(document);
      return root === undefined || pointer.startsWith("@") ? undefined : offsetOf(root, pointer, on);
    },
    masksIn: (start, end) => [...roots.values()].flatMap((root) => masksIn(root, start, end)),
    isBroken: () => false,
  };
}

/** Of the last value on the way to the pointer, if it isn't there. */
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

/** The literals between two offsets, which are those of a line, that hold secrets. */
function masksIn(root: PlainNode, start: number, end: number): readonly Range[] {
  const ranges: Range[] = [];
  const kind = root.nodes?.[root.names?.indexOf("kind") ?? -1]?.literal;
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
        name === undefined
          ? enterItem(inside, index)
          : enterMember(inside, typeof kind === "string" ? kind : undefined, name, child.names !== undefined),
      );
    }
  };
  visit(root, wholeDocument);
  return ranges.filter(([from]) => from >= start && from < end);
}

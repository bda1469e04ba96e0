import { fromPointer } from "../model/json/pointer.ts";
import { once } from "../model/maps.ts";
import type { SourceLocation } from "../model/problem.ts";
import { lineStartsOf } from "../text/file-text.ts";
import { documentRanges } from "./document-ranges.ts";
import { type Range, type SecretTest, secretByName, secretRanges } from "./mask.ts";
import { nodesOf, type PlainNode } from "./nodes.ts";

/**
 * A place in a text, without its file. A pointer `@12` is the offset 12, for problems that are not
 * at a value.
 */
type Place = Omit<SourceLocation, "file">;

/** Where things are in a text. Offsets are in UTF-16 units. */
export interface Positions {
  /** Offsets at which the lines begin. */
  readonly lineStarts: readonly number[];
  /**
   * Where the value or key at a place begins. For a place that does not exist, where the last value
   * on the way to it begins.
   */
  readonly offsetOf: (place: Place) => number | undefined;
  /** Literal secrets that overlap the range between two offsets. */
  readonly masksIn: (start: number, end: number) => readonly Range[];
  /** Whether the document is not valid YAML, so that its values are not certain. */
  readonly isBroken: (document: number) => boolean;
}

/** Positions in any text, of each document when it is asked for. Never throws. */
export function positionsIn(text: string, isSecret: SecretTest = secretByName): Positions {
  const documents = documentRanges(text).map(([start, end]) => {
    const nodes = once(() => nodesOf(text, [start, end]));
    const root = (): PlainNode | undefined => {
      const found = nodes();
      return typeof found === "string" ? undefined : found;
    };
    const masks = once(() => {
      const found = root();
      return found === undefined ? [] : secretRanges(found, isSecret);
    });
    return { start, end, root, masks, isBroken: () => nodes() === "broken" };
  });
  return {
    lineStarts: lineStartsOf(text),
    offsetOf: (place) => {
      if (place.pointer.startsWith("@")) return Number(place.pointer.slice(1));
      const document = documents[place.document];
      const root = document?.root();
      return root === undefined ? document?.start : offsetOf(root, place);
    },
    masksIn: (from, to) =>
      documents
        .filter(({ start, end }) => start < to && end > from)
        .flatMap(({ masks }) => masks())
        .filter(([first, last]) => last > from && first < to),
    isBroken: (document) => documents[document]?.isBroken() ?? true,
  };
}

/** Of the last value on the way to the pointer, if it does not exist. */
function offsetOf(root: PlainNode, { pointer, on }: Place): number {
  let node = root;
  let keyStart: number | undefined;
  for (const segment of fromPointer(pointer)) {
    const { names, nodes, keyStarts } = node.target?.() ?? node;
    // Of duplicate keys the last one counts, as in the values.
    const index = names === undefined ? Number(segment) : names.lastIndexOf(segment);
    const next = nodes?.[index];
    if (next === undefined) break;
    keyStart = keyStarts[index];
    node = next;
  }
  return (on === "key" ? (keyStart ?? node.start) : (node.start ?? keyStart)) ?? root.end;
}

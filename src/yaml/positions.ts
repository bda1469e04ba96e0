import { type Document, isAlias, isMap, isScalar, isSeq, type Node } from "yaml";
import { fromPointer } from "../model/json/pointer.ts";
import type { SourceLocation } from "../model/problem.ts";
import { lineStartsOf } from "../text/lines.ts";
import { markedRanges } from "./document-ranges.ts";
import { fastPositions } from "./fast/positions.ts";
import { type Range, type SecretTest, secretByName, secretRanges } from "./mask.ts";
import { composeDocument, composeDocuments } from "./parse.ts";
import type { YamlParser } from "./read.ts";

/**
 * A place in a text, without its file. A pointer `@12` is the offset 12, for problems that are not
 * at a value.
 */
export type Place = Omit<SourceLocation, "file">;

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

export interface PositionOptions {
  readonly parser?: YamlParser;
  readonly isSecret?: SecretTest | undefined;
}

/**
 * Positions in any text. The fast path handles plain texts. The library, which needs about 40 ms
 * for 100 kB, is used only if necessary. Never throws.
 */
export function positionsIn(text: string, { parser, isSecret = secretByName }: PositionOptions = {}): Positions {
  const fast = parser === "library" ? undefined : fastPositions(text, isSecret);
  if (fast === undefined) return libraryPositions(text, isSecret);
  let library: Positions | undefined;
  return {
    ...fast,
    offsetOf: (place) => {
      const known = fast.offsetOf(place);
      if (known !== undefined) return known;
      library ??= libraryPositions(text, isSecret);
      return library.offsetOf(place);
    },
  };
}

/** Positions by the YAML library alone. */
export function libraryPositions(text: string, isSecret: SecretTest = secretByName): Positions {
  const documents = composeEach(text);
  let masks: readonly Range[] | undefined;
  return {
    lineStarts: lineStartsOf(text),
    offsetOf: (place) => offsetOf(place, documents),
    masksIn: (start, end) => {
      masks ??= documents.flatMap(({ root }) => (root === undefined ? [] : secretRanges(root, isSecret)));
      return masks.filter(([from, to]) => to > start && from < end);
    },
    isBroken: (document) => (documents[document]?.root?.errors.length ?? 1) > 0,
  };
}

/** A document; the root is undefined if it is nested too deeply, or has no value. */
interface Composed {
  readonly start: number;
  readonly root: Document.Parsed | undefined;
}

function composeEach(text: string): readonly Composed[] {
  const ranges = markedRanges(text);
  if (ranges !== undefined) return ranges.map((range) => ({ start: range[0], root: unlessTooDeep(() => composeDocument(text, range)) }));
  return (unlessTooDeep(() => composeDocuments(text)) ?? []).map((root) => ({ start: root.range[0], root }));
}

function unlessTooDeep<T>(compose: () => T): T | undefined {
  try {
    return compose();
  } catch {
    return undefined;
  }
}

function offsetOf({ pointer, document, on }: Place, documents: readonly Composed[]): number | undefined {
  if (pointer.startsWith("@")) return Number(pointer.slice(1));
  const { root, start } = documents[document] ?? {};
  if (root === undefined) return documents.length === 0 ? 0 : start;
  let node: Node | null = root.contents;
  let key: Node | undefined;
  for (const segment of fromPointer(pointer)) {
    const within: Node | null | undefined = isAlias(node) ? node.resolve(root) : node;
    if (isSeq<Node>(within)) {
      const item: Node | undefined = within.items[Number(segment)];
      if (item === undefined) break;
      [node, key] = [item, undefined];
    } else if (isMap<Node, Node | null>(within)) {
      // Of duplicate keys the last one counts, as in the values.
      const pair = within.items.findLast((candidate) => isScalar(candidate.key) && String(candidate.key.value) === segment);
      if (pair === undefined) break;
      [node, key] = [pair.value, pair.key];
    } else break;
  }
  const isEmpty = node === null || (isScalar(node) && node.range !== undefined && node.range !== null && node.range[0] === node.range[1]);
  const target = key !== undefined && (on === "key" || isEmpty) ? key : node;
  return target?.range?.[0] ?? root.range[0];
}

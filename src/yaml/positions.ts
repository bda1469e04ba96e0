import { type Document, isAlias, isMap, isScalar, isSeq, type Node } from "yaml";
import { fromPointer } from "../model/json/pointer.ts";
import type { SourceLocation } from "../model/problem.ts";
import { lineStartsOf } from "../text/lines.ts";
import { markedRanges } from "./document-ranges.ts";
import { fastPositions } from "./fast/positions.ts";
import { type Range, type SecretTest, secretByName, secretRanges } from "./mask.ts";
import { composeDocument, composeDocuments } from "./parse.ts";
import { mostByLibrary } from "./problems.ts";
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
 * for 100 kB, is used only if necessary, for single documents. Never throws.
 */
export function positionsIn(text: string, { parser, isSecret = secretByName }: PositionOptions = {}): Positions {
  const fast = parser === "library" ? undefined : fastPositions(text, isSecret);
  if (fast === undefined) return libraryPositions(text, isSecret, parser);
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

/**
 * Positions by the YAML library, of each document when it is asked for; of plain documents that are too
 * large for the library by the fast path. Of other large ones, only the beginning is known.
 */
export function libraryPositions(text: string, isSecret: SecretTest = secretByName, parser?: YamlParser): Positions {
  const documents = documentsOf(text, isSecret, parser !== "library");
  return {
    lineStarts: lineStartsOf(text),
    offsetOf: (place) => {
      if (place.pointer.startsWith("@")) return Number(place.pointer.slice(1));
      if (documents.length === 0) return 0;
      return documents[place.document]?.positions().offsetOf(place);
    },
    masksIn: (from, to) =>
      documents.filter(({ start, end }) => start < to && end > from).flatMap((one) => one.positions().masksIn(from, to)),
    isBroken: (document) => documents[document]?.positions().isBroken(document) ?? true,
  };
}

type InDocument = Omit<Positions, "lineStarts">;

/** One document of a text. Its positions are those in the text, and found once. */
interface LocatedDocument {
  readonly start: number;
  readonly end: number;
  readonly positions: () => InDocument;
}

function documentsOf(text: string, isSecret: SecretTest, isBounded: boolean): readonly LocatedDocument[] {
  const ranges = markedRanges(text);
  const isTooLarge = (length: number): boolean => isBounded && length > mostByLibrary;
  if (ranges === undefined) {
    if (isTooLarge(text.length)) return [{ start: 0, end: text.length, positions: () => unknownIn(0) }];
    const roots = unlessTooDeep(() => composeDocuments(text)) ?? [];
    return roots.map((root) => ({
      start: root.range[0],
      end: root.range[2],
      positions: once(() => positionsBelow(root, root.range[0], isSecret)),
    }));
  }
  return ranges.map(([start, end]) => {
    const find = (): InDocument =>
      isTooLarge(end - start)
        ? (plainPositions(text, [start, end], isSecret) ?? unknownIn(start))
        : positionsBelow(
            unlessTooDeep(() => composeDocument(text, [start, end])),
            start,
            isSecret,
          );
    return { start, end, positions: once(find) };
  });
}

const unknownIn = (start: number): InDocument => ({ offsetOf: () => start, masksIn: () => [], isBroken: () => true });

/** Of a document that the fast path supports. */
function plainPositions(text: string, [start, end]: Range, isSecret: SecretTest): InDocument | undefined {
  const fast = fastPositions(text.slice(start, end), isSecret);
  if (fast === undefined) return undefined;
  return {
    offsetOf: (place) => start + (fast.offsetOf({ ...place, document: 0 }) ?? 0),
    masksIn: (from, to) => fast.masksIn(from - start, to - start).map(([first, last]): Range => [first + start, last + start]),
    isBroken: () => false,
  };
}

/** `root`: undefined if it is nested too deeply, or has no value. */
function positionsBelow(root: Document.Parsed | undefined, start: number, isSecret: SecretTest): InDocument {
  const masks = once(() => (root === undefined ? [] : secretRanges(root, isSecret)));
  return {
    offsetOf: (place) => (root === undefined ? start : offsetOf(place, root)),
    masksIn: (from, to) => masks().filter(([first, last]) => last > from && first < to),
    isBroken: () => (root?.errors.length ?? 1) > 0,
  };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function unlessTooDeep<T>(compose: () => T): T | undefined {
  try {
    return compose();
  } catch {
    return undefined;
  }
}

function offsetOf({ pointer, on }: Place, root: Document.Parsed): number {
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

import { type Document, isAlias, isMap, isScalar, isSeq, type Node } from "yaml";
import { fromPointer } from "../model/json/pointer.ts";
import { once } from "../model/maps.ts";
import type { SourceLocation } from "../model/problem.ts";
import { lineStartsOf } from "../text/lines.ts";
import { markedRanges } from "./document-ranges.ts";
import { type PlainNode, plainNodes } from "./fast/nodes.ts";
import { type Range, type SecretTest, secretByName, secretRanges } from "./mask.ts";
import { composeDocument, composeDocuments } from "./parse.ts";
import { mostByLibrary } from "./problems.ts";
import type { YamlParser } from "./read.ts";

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

interface PositionOptions {
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
  const library = once(() => libraryPositions(text, isSecret));
  return { ...fast, offsetOf: (place) => fast.offsetOf(place) ?? library().offsetOf(place) };
}

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
    offsetOf: (place) => {
      const root = roots.get(place.document);
      return root === undefined || place.pointer.startsWith("@") ? undefined : offsetOf(root, place);
    },
    masksIn: (start, end) => [...roots.values()].flatMap((root) => secretRanges(root, isSecret, [start, end])),
    isBroken: () => false,
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

/** `document`: undefined if it is nested too deeply, or has no value. */
function positionsBelow(document: Document.Parsed | undefined, start: number, isSecret: SecretTest): InDocument {
  if (document === undefined) return unknownIn(start);
  const root = nodeOf(document.contents, document);
  const masks = once(() => secretRanges(root, isSecret));
  return {
    offsetOf: (place) => offsetOf(root, place) ?? document.contents?.range[0] ?? document.range[0],
    masksIn: (from, to) => masks().filter(([first, last]) => last > from && first < to),
    isBroken: () => document.errors.length > 0,
  };
}

function unlessTooDeep<T>(compose: () => T): T | undefined {
  try {
    return compose();
  } catch {
    return undefined;
  }
}

/** Of the last value on the way to the pointer, if it does not exist. */
function offsetOf(root: PlainNode, { pointer, on }: Place): number | undefined {
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
  return on === "key" || node.start === undefined ? (keyStart ?? node.start) : node.start;
}

/** The same of a node of the library. */
export function nodeOf(node: Node | null, document: Document.Parsed): PlainNode {
  const [from = 0, end = from] = node?.range ?? [];
  const start = node === null || (isScalar(node) && from === end) ? undefined : from;
  const plain: PlainNode = { start, end, literal: undefined, nodes: undefined, names: undefined, keyStarts: [] };
  if (isAlias(node)) return { ...plain, target: () => nodeOf(node.resolve(document) ?? null, document) };
  if (isScalar(node)) return typeof node.value === "string" || typeof node.value === "number" ? { ...plain, literal: node.value } : plain;
  const starts = (nodes: readonly (Node | null)[]): readonly number[] => nodes.map((one) => one?.range?.[0] ?? 0);
  // An item without a value has no other position.
  if (isSeq<Node>(node)) return { ...plain, nodes: node.items.map((item) => nodeOf(item, document)), keyStarts: starts(node.items) };
  if (!isMap<Node, Node | null>(node)) return plain;
  const keys = node.items.map(({ key }) => key);
  return {
    ...plain,
    nodes: node.items.map(({ value }) => nodeOf(value, document)),
    names: keys.map((key) => (isScalar(key) ? String(key.value) : "")),
    keyStarts: starts(keys),
  };
}

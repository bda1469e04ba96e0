import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node } from "yaml";
import { fromPointer } from "../model/pointer.ts";
import type { Locate, Place } from "../model/problem.ts";
import { makeExcerpt } from "./excerpt.ts";
import { maskBySight, type Range, secretRanges } from "./secret-masks.ts";
import { composeDocuments } from "./yaml-documents.ts";

interface Positions {
  readonly text: string;
  readonly lines: readonly string[];
  readonly documents: readonly Document.Parsed[];
  readonly counter: LineCounter;
  readonly masks: Map<Document.Parsed, readonly Range[]>;
}

/**
 * Looks places up, parsing each file that is asked for once. `textOf` gives the text that was loaded; other files are read. A pointer that
 * begins with `@` is an offset in the text, for mistakes that stand in no value. Never throws.
 */
export function makeLocate(cwd: string, textOf: (file: string) => string | undefined): Locate {
  const cache = new Map<string, Positions | undefined>();
  const positionsOf = (file: string): Positions | undefined => {
    if (!cache.has(file)) cache.set(file, parsePositions(textOf(file) ?? readText(resolve(cwd, file))));
    return cache.get(file);
  };
  return (place) => {
    const positions = positionsOf(place.file);
    const offset = positions === undefined ? undefined : offsetOf(place, positions.documents);
    if (positions === undefined || offset === undefined) return { file: place.file };
    const { line, col } = positions.counter.linePos(offset);
    return { file: place.file, line, column: col, excerpt: excerptAt(positions, place.document, line, col) };
  };
}

function parsePositions(text: string | undefined): Positions | undefined {
  if (text === undefined) return undefined;
  const counter = new LineCounter();
  let documents: readonly Document.Parsed[] = [];
  try {
    documents = composeDocuments(text, counter);
  } catch {
    // Nested too deeply for the parser: offsets can still be told.
    counter.lineStarts = [0, ...[...text.matchAll(/\n/gu)].map(({ index }) => index + 1)];
  }
  if (counter.lineStarts[0] !== 0) counter.lineStarts.unshift(0);
  return { text, lines: text.split(/\r?\n/u), documents, counter, masks: new Map() };
}

function offsetOf({ pointer, document, on }: Place, documents: readonly Document.Parsed[]): number | undefined {
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

function excerptAt(positions: Positions, index: number, line: number, column: number): readonly [string, string] {
  const source = positions.lines[line - 1] ?? "";
  const start = positions.counter.lineStarts[line - 1] ?? 0;
  const end = start + source.length;
  const masks = positions.documents
    .flatMap((document) => masksOf(positions, document))
    .flatMap(([from, to]): readonly Range[] => {
      if (to <= start || from >= end) return [];
      const indent = source.length - source.trimStart().length;
      return [[Math.max(from - start, indent), Math.min(to - start, source.length)]];
    });
  const isBroken = (positions.documents[index]?.errors.length ?? 1) > 0;
  const inUrls = [...source.matchAll(/(?<=:\/\/)[^/\s@"']*(?=@)/gu)].map((found): Range => [found.index, found.index + found[0].length]);
  const bySight = isBroken ? maskBySight(positions.lines, line - 1) : undefined;
  return makeExcerpt(source, Math.min(column - 1, source.length), [...masks, ...inUrls, ...(bySight === undefined ? [] : [bySight])]);
}

function masksOf({ masks }: Positions, document: Document.Parsed): readonly Range[] {
  const known = masks.get(document);
  if (known !== undefined) return known;
  const found = secretRanges(document);
  masks.set(document, found);
  return found;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").replace(/^\ufeff/u, "");
  } catch {
    return undefined;
  }
}

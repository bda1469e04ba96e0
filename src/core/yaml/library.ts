import { type Document, isAlias, isMap, isScalar, isSeq, type Node, visit } from "yaml";
import { DeepNesting } from "../model/json/parse.ts";
import { once } from "../model/maps.ts";
import { lineAndColumn, lineStartsOf } from "../text/lines.ts";
import type { DocumentRange } from "./document-ranges.ts";
import { composeDocument, composeDocuments, maxAliasCount } from "./parse.ts";
import {
  aliasProblem,
  duplicateKeyProblem,
  messageFor,
  missingSeparatorProblem,
  syntaxProblem,
  tooDeep,
  type YamlProblem,
} from "./problems.ts";
import { firstSyntaxError } from "./syntax-errors.ts";

/** Values and problems. A document with problems has no value. */
export interface LibraryText {
  readonly documents: readonly { readonly index: number; readonly value: unknown }[];
  readonly problems: readonly YamlProblem[];
}

/** A text, and the line of an offset in it, from 1. */
export interface NumberedText {
  readonly text: string;
  readonly lineOf: (offset: number) => number;
}

/** Finds the lines when the first one is asked for. */
export function numberedText(text: string): NumberedText {
  const lineStarts = once(() => lineStartsOf(text));
  return { text, lineOf: (offset) => lineAndColumn(lineStarts(), offset).line };
}

/**
 * The whole of any text by the YAML library, which is about fifty times slower than the fast path.
 * Never throws.
 */
export function readByLibrary(source: NumberedText): LibraryText {
  return orTooDeep(0, 0, () => {
    const read = composeDocuments(source.text).map((document, index) => readDocument(document, index, source));
    return { documents: read.flatMap(({ documents }) => documents), problems: read.flatMap(({ problems }) => problems) };
  });
}

/** One document of a text by the YAML library, with the offsets of the text. Never throws. */
export function readOneByLibrary(source: NumberedText, range: DocumentRange, index: number): LibraryText {
  return orTooDeep(index, range[0], () => {
    const document = composeDocument(source.text, range);
    return document === undefined ? { documents: [], problems: [] } : readDocument(document, index, source);
  });
}

function orTooDeep(index: number, start: number, read: () => LibraryText): LibraryText {
  try {
    return read();
  } catch (error) {
    return { documents: [], problems: [tooDeep(index, error instanceof DeepNesting ? error.offset : start)] };
  }
}

function readDocument(document: Document.Parsed, index: number, source: NumberedText): LibraryText {
  const problems = problemsOf(document, index, source);
  if (problems.length > 0 || document.contents === null) return { documents: [], problems };
  const outcome = toValue(document, index);
  if ("problem" in outcome) return { documents: [], problems: [outcome.problem] };
  return { documents: outcome.value === null ? [] : [{ index, value: outcome.value }], problems };
}

/** The first syntax error; without one, every unknown tag and every duplicate key. */
function problemsOf(document: Document.Parsed, index: number, source: NumberedText): readonly YamlProblem[] {
  const error = firstSyntaxError(document, index, source);
  if (error !== undefined) return [error];
  const tags = document.warnings.map((warning) => syntaxProblem(index, warning.pos[0], messageFor(warning.code)));
  const found: Found = { duplicates: [], aliases: 0 };
  collect(document.contents, found, true);
  // The library searches among all aliases for each of them.
  const tooMany = found.aliases < maxAliasCount ? [] : [aliasProblem(index, document.contents?.range?.[0] ?? 0, "too many")];
  return [...tags, ...tooMany, ...duplicateProblems(found.duplicates, index, source)];
}

/** Offsets of a key and of the first one of that name in its map. */
interface Duplicate {
  readonly offset: number;
  readonly first: number;
  readonly name: unknown;
  readonly isAtTop: boolean;
}

function duplicateProblems(duplicates: readonly Duplicate[], index: number, { lineOf }: NumberedText): readonly YamlProblem[] {
  if (duplicates.length === 0) return [];
  const starts = documentStarts(duplicates.filter(({ isAtTop }) => isAtTop));
  return [
    ...starts.map(({ offset, first }) => missingSeparatorProblem(index, offset, lineOf(first))),
    ...duplicates
      .filter(({ isAtTop }) => !isAtTop || starts.length === 0)
      .map(({ offset, first }) => duplicateKeyProblem(index, offset, lineOf(first))),
  ];
}

/**
 * The keys at which documents seem to begin without a `---` line: if several keys at the top
 * repeat.
 */
function documentStarts(duplicates: readonly Duplicate[]): readonly Duplicate[] {
  let names = new Set(duplicates.map(({ name }) => name));
  if (names.size < 2) return [];
  return duplicates.filter(({ name }) => {
    const isStart = names.has(name);
    names = isStart ? new Set([name]) : names.add(name);
    return isStart;
  });
}

interface Found {
  readonly duplicates: Duplicate[];
  aliases: number;
}

function collect(node: Node | null, found: Found, isAtTop = false): void {
  if (isAlias(node)) found.aliases++;
  if (isSeq<Node>(node)) for (const item of node.items) collect(item, found);
  if (!isMap<Node, Node | null>(node)) return;
  const firstByName = new Map<unknown, number>();
  for (const { key, value } of node.items) {
    const name = isScalar(key) ? key.value : undefined;
    const offset = key.range?.[0] ?? 0;
    const first = firstByName.get(name);
    if (first === undefined) firstByName.set(name, offset);
    else found.duplicates.push({ offset, first, name, isAtTop });
    collect(value, found);
  }
}

function toValue(document: Document.Parsed, index: number): { readonly value: unknown } | { readonly problem: YamlProblem } {
  try {
    return { value: document.toJS({ maxAliasCount }) };
  } catch (error) {
    if (error instanceof RangeError) throw error;
    const offset = document.contents?.range?.[0] ?? 0;
    const unresolved = unresolvedAt(document);
    return {
      problem: unresolved === undefined ? aliasProblem(index, offset, "too many") : aliasProblem(index, unresolved, "unresolved"),
    };
  }
}

function unresolvedAt(document: Document.Parsed): number | undefined {
  let offset: number | undefined;
  visit(document, {
    Alias: (_, alias) => {
      if (alias.resolve(document) !== undefined) return undefined;
      offset = alias.range?.[0];
      return visit.BREAK;
    },
  });
  return offset;
}

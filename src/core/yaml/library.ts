import { type Document, isAlias, isMap, isScalar, isSeq, Lexer, type Node, visit } from "yaml";
import { DeepNesting } from "../model/json/parse.ts";
import { once } from "../model/maps.ts";
import { enumerate } from "../text/describe.ts";
import { conflictMarkers } from "../text/file-text.ts";
import { lineAndColumn, lineStartsOf } from "../text/lines.ts";
import type { DocumentRange } from "./document-ranges.ts";
import { lineStart } from "./nodes.ts";
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

/** Values and problems. A document with problems has no value. */
export interface LibraryText {
  readonly documents: readonly { readonly index: number; readonly value: unknown }[];
  readonly problems: readonly YamlProblem[];
}

/** A text, and the line of an offset in it, from 1. */
interface NumberedText {
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

// How the library's messages about something unclosed begin. Their codes (MISSING_CHAR, BAD_INDENT) are those of other errors, too.
// If a version words them in another way, the problem has the same place and a less helpful message.
const texts = { bracket: "Flow ", quote: "Missing closing" } as const;

/**
 * A problem for the first syntax error of a document: the library's other errors follow from it.
 */
function firstSyntaxError(document: Document.Parsed, index: number, source: NumberedText): YamlProblem | undefined {
  const [first, second] = document.errors;
  if (first === undefined) return undefined;
  const [start] = first.pos;
  const { text } = source;
  const conflict = conflictMarkers(text);
  if (conflict !== undefined) return syntaxProblem(index, conflict.offset, conflict.message);
  const place: Place = { document: index, from: Math.min(document.range[0], start), offset: start };
  if (first.message.startsWith(texts.bracket)) return unclosedBracket(source, place) ?? syntaxProblem(index, start, messageFor(first.code));
  if (first.message.startsWith(texts.quote)) return unclosedQuote(text, place) ?? syntaxProblem(index, start, messageFor(first.code));
  if (first.code === "BAD_INDENT") return wrongColumn(text, place);
  // `a: 1`, and a deeper `b: 2` on the next line: the library takes `1 b` for a key.
  const misread = [first, second].find((error) => error?.code === "MULTILINE_IMPLICIT_KEY");
  if (first.code === "BLOCK_AS_IMPLICIT_KEY" && misread !== undefined) return wrongColumn(text, { ...place, offset: misread.pos[1] - 1 });
  return syntaxProblem(index, start, messageFor(first.code));
}

/** Of an error. `from` is where its document begins. */
interface Place {
  readonly document: number;
  readonly from: number;
  readonly offset: number;
}

interface Opening {
  readonly offset: number;
  readonly sign: string;
}

/** What is still open at an offset: brackets, from the outermost, and the last quote. */
function openAt(
  text: string,
  { from, offset: until }: Place,
): { readonly brackets: readonly Opening[]; readonly quote: Opening | undefined } {
  const brackets: Opening[] = [];
  let quote: Opening | undefined;
  let offset = from;
  let isScalar = false;
  for (const token of new Lexer().lex(text.slice(from))) {
    // The lexer's own marks take no space in the text.
    const isMark = token === "\u0002" || token === "\u0018" || token === "\u001f";
    if (offset >= until || (token === "\u0018" && offset + 1 >= until)) break;
    if (!isScalar && (token === "{" || token === "[")) brackets.push({ offset, sign: token });
    else if (!isScalar && (token === "}" || token === "]")) brackets.pop();
    else if (!isScalar && /^["']/u.test(token)) quote = { offset, sign: token.slice(0, 1) };
    isScalar = token === "\u001f";
    if (!isMark) offset += token.length;
  }
  return { brackets, quote };
}

function unclosedBracket({ text, lineOf }: NumberedText, place: Place): YamlProblem | undefined {
  const { document, offset } = place;
  const open = openAt(text, place).brackets.at(-1);
  if (open === undefined) return undefined;
  const close = open.sign === "{" ? "}" : "]";
  const line = lineOf(offset);
  const found = text.slice(offset, offset + 1);
  const message =
    text.slice(offset).trim() === ""
      ? `This \`${open.sign}\` is never closed. Add \`${close}\`.`
      : /[}\]]/u.test(found) && found !== close
        ? `This \`${open.sign}\` is closed by \`${found}\` on line ${line}. Write \`${close}\`.`
        : `This \`${open.sign}\` is not closed, and line ${line} is not indented enough to be inside it. Add \`${close}\` before line ${line}, or indent the line.`;
  return syntaxProblem(document, open.offset, message);
}

function unclosedQuote(text: string, place: Place): YamlProblem | undefined {
  const { document } = place;
  const { quote } = openAt(text, place);
  if (quote === undefined) return undefined;
  const name = quote.sign === "'" ? "single" : "double";
  return syntaxProblem(document, quote.offset, `This ${name} quote is never closed. Add the closing quote at the end of the string.`);
}

/** A line that begins in a column in which it cannot begin. */
function wrongColumn(text: string, { document, from, offset }: Place): YamlProblem {
  const start = lineStart(text, offset);
  const [line = ""] = text.slice(start).split("\n", 1);
  const indent = line.length - line.trimStart().length;
  const [one, many] = isItem(line) ? ["item", "items"] : ["key", "keys"];
  const above = columnsAbove(text.slice(from, start).split("\n").slice(0, -1), isItem(line));
  const rule = "All keys of a map, and all items of a list, begin in the same column.";
  const message =
    above.length === 0
      ? `This line begins in column ${indent + 1}, which does not match the lines above. ${rule}`
      : `This ${one} begins in column ${indent + 1}. The ${many} above it begin in ${above.length === 1 ? "column" : "columns"} ${enumerate(above.map(String), "and")}. ${rule}`;
  return syntaxProblem(document, start + indent, message);
}

const isItem = (line: string): boolean => /^\s*-(?:\s|$)/u.test(line);

/** The columns, from 1, of the keys or items that enclose the next line or are on its level. */
function columnsAbove(lines: readonly string[], items: boolean): readonly number[] {
  const columns = new Set<number>();
  let limit = Number.POSITIVE_INFINITY;
  for (const line of [...lines].reverse()) {
    if (/^\s*(?:#|$)/u.test(line)) continue;
    if (/^(?:---|\.\.\.)/u.test(line)) break;
    const indent = line.length - line.trimStart().length;
    if (indent >= limit) continue;
    limit = indent;
    const dashes = /^\s*(?:-\s+)*/u.exec(line)?.[0].length ?? indent;
    if (items ? isItem(line) : /:(?:\s|$)/u.test(line.slice(dashes))) columns.add((items ? indent : dashes) + 1);
    if (indent === 0) break;
  }
  return [...columns].sort((a, b) => a - b);
}

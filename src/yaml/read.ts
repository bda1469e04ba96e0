import { documentRanges } from "./document-ranges.ts";
import { parsePlainYaml } from "./fast/transcode.ts";
import { readByLibrary } from "./library.ts";
import type { YamlProblem } from "./problems.ts";

/** One document as plain values. Maps and lists behind one anchor can be the same object. */
export interface ValueDocument {
  /** Position in the file, from 0, empty documents counted. */
  readonly index: number;
  readonly value: unknown;
  /**
   * Certainly JSON without references (`${…}`, `$secret`), aliases that expand far, deep nesting,
   * and numbers or characters that JSON cannot hold.
   */
  readonly isInert: boolean;
}

export interface YamlText {
  /** Without empty documents, and without those that have a problem. */
  readonly documents: readonly ValueDocument[];
  readonly problems: readonly YamlProblem[];
}

/** "library": read everything with the YAML library, never with the fast path. */
export type YamlParser = "library" | undefined;

export interface ReadOptions {
  readonly parser?: YamlParser;
}

/**
 * The values of a text and the problems in its YAML. Callers cannot see which parser ran: the fast
 * path gives the same result as the library, or leaves the document to it (test/yaml/fast). Never
 * throws. Positions: `positionsIn`.
 */
export function read(text: string, { parser }: ReadOptions = {}): YamlText {
  if (parser === "library") return fromLibrary(text);
  return readPlain(text) ?? readEach(text) ?? fromLibrary(text);
}

function readPlain(text: string): YamlText | undefined {
  const documents = parsePlainYaml(text);
  if (documents === undefined) return undefined;
  // The fast path reads no escape for a dollar sign, and none of the other things.
  const isInert = !text.includes("$");
  return { documents: documents.map((document) => ({ ...document, isInert })), problems: [] };
}

function fromLibrary(text: string): YamlText {
  const { documents, problems } = readByLibrary(text);
  return { documents: documents.map((document) => ({ ...document, isInert: false })), problems };
}

/**
 * The documents of a text one by one, so that one that needs the library does not slow the others;
 * undefined if the text has only one document, or if markers other than `---` separate them.
 */
function readEach(text: string): YamlText | undefined {
  if (!text.includes("\n---") || /^(?:%|\.\.\.)/mu.test(text)) return undefined;
  const documents: ValueDocument[] = [];
  const problems: YamlProblem[] = [];
  for (const [index, [start, end]] of documentRanges(text).entries()) {
    const one = readPlain(text.slice(start, end)) ?? readFrom(text, start, end);
    if (one.documents.some((document) => document.index > 0)) return undefined;
    documents.push(...one.documents.map((document) => ({ ...document, index })));
    problems.push(...one.problems.map((problem) => ({ ...problem, document: index })));
  }
  return { documents, problems };
}

/** A part of a text by the library, with the offsets and lines of the whole text. */
function readFrom(text: string, start: number, end: number): YamlText {
  const before = text.slice(0, start).replaceAll(/[^\n]/gu, "");
  const { documents, problems } = fromLibrary(before + text.slice(start, end));
  return {
    documents,
    problems: problems.map((problem) => ({ ...problem, offset: Math.max(problem.offset, before.length) - before.length + start })),
  };
}

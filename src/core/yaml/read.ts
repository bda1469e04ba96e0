import { addAll } from "../model/maps.ts";
import { lineStartsOf } from "../text/lines.ts";
import { markedRanges } from "./document-ranges.ts";
import { parsePlainYaml, transcode } from "./fast/transcode.ts";
import { disputedLineBreaks } from "./hidden.ts";
import { type LibraryText, numberedText, readByLibrary, readOneByLibrary } from "./library.ts";
import { mostByLibrary, syntaxProblem, tooLarge, type YamlProblem } from "./problems.ts";

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

interface ReadOptions {
  readonly parser?: YamlParser;
}

/**
 * The values of a text and the problems in its YAML. Callers cannot see which parser ran: the fast
 * path gives the same result as the library, or leaves the document to it (test/core/yaml/fast). Each
 * document is left on its own, so that one does not slow the others. What is too large for the library
 * is a problem. Never throws. Positions: `positionsIn`.
 */
export function read(text: string, { parser }: ReadOptions = {}): YamlText {
  const disputed = disputedLineBreaks(text, mostByLibrary);
  if (disputed.length > 0) return { documents: [], problems: disputed.map(({ offset, message }) => syntaxProblem(0, offset, message)) };
  const isPlain = parser === undefined;
  const plain = isPlain ? readPlain(text) : undefined;
  if (plain !== undefined) return { documents: plain, problems: [] };
  const source = numberedText(text);
  const ranges = markedRanges(text);
  if (ranges === undefined) return isPlain && text.length > mostByLibrary ? refused(text, 0, 0) : fromLibrary(readByLibrary(source));
  const documents: ValueDocument[] = [];
  const problems: YamlProblem[] = [];
  let left = isPlain ? mostByLibrary : Number.POSITIVE_INFINITY;
  for (const [index, range] of ranges.entries()) {
    const one = text.slice(range[0], range[1]);
    const values = isPlain && ranges.length > 1 ? readPlain(one) : undefined;
    if (values !== undefined) {
      for (const { value, isInert } of values) documents.push({ index, value, isInert });
      continue;
    }
    left -= one.length;
    const slow = left < 0 ? refused(one, range[0], index) : fromLibrary(readOneByLibrary(source, range, index));
    addAll(documents, slow.documents);
    addAll(problems, slow.problems);
  }
  return { documents, problems };
}

/** A text that is too large for the library. `start`: where it begins in the file. */
function refused(text: string, start: number, index: number): YamlText {
  const line = transcode(text, undefined, () => {}) ?? 0;
  return { documents: [], problems: [tooLarge(index, start + (lineStartsOf(text)[line] ?? 0))] };
}

function readPlain(text: string): readonly ValueDocument[] | undefined {
  // The fast path reads no escape for a dollar sign, and none of the other things.
  const isInert = !text.includes("$");
  return parsePlainYaml(text)?.map(({ index, value }) => ({ index, value, isInert }));
}

const fromLibrary = ({ documents, problems }: LibraryText): YamlText => ({
  documents: documents.map(({ index, value }) => ({ index, value, isInert: false })),
  problems,
});

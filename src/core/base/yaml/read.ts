import { addAll } from "../model/maps.ts";
import { documentRanges } from "./document-ranges.ts";
import { disputedLineBreaks } from "./hidden.ts";
import { parseDocument, quotedRanges } from "./parse.ts";
import { syntaxProblem, type YamlProblem } from "./problems.ts";

/** One document as plain values. Maps and lists behind one anchor can be the same object. */
export interface ValueDocument {
  /** Position in the file, from 0, empty documents counted. */
  readonly index: number;
  readonly value: unknown;
  /** Certainly JSON without references (`${…}`, `$secret`), and without aliases, numbers and characters that JSON cannot hold. */
  readonly isInert: boolean;
}

export interface YamlText {
  /** Without empty documents, and without those that have a problem. */
  readonly documents: readonly ValueDocument[];
  readonly problems: readonly YamlProblem[];
}

/** The values of a text and the problems in its YAML, each document on its own. Never throws. Positions: `positionsIn`. */
export function read(text: string): YamlText {
  const disputed = disputedLineBreaks(text, () => quotedRanges(text));
  if (disputed.length > 0) return { documents: [], problems: disputed.map(({ offset, message }) => syntaxProblem(0, offset, message)) };
  const documents: ValueDocument[] = [];
  const problems: YamlProblem[] = [];
  for (const [index, range] of documentRanges(text).entries()) {
    const { value, isInert, problems: found } = parseDocument(text, range, index);
    addAll(problems, found);
    if (value !== null) documents.push({ index, value, isInert });
  }
  return { documents, problems };
}

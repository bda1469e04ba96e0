import { composeDocuments } from "./parse.ts";

/** From the first character of a document to the end of its last one. */
export type DocumentRange = readonly [start: number, end: number];

/**
 * Where each document of a YAML text is, with its `---` line. `---` at the beginning of a line ends
 * a document whatever the context, so a search finds it. Only a text with directives or document
 * end markers (`%YAML`, `...`) must be parsed.
 */
export function documentRanges(text: string): readonly DocumentRange[] {
  return markedRanges(text) ?? parsedRanges(text);
}

/**
 * As `documentRanges`; undefined if something other than `---` may separate documents. Lines end
 * where the library ends them: not at U+2028, U+2029 or a lone CR.
 */
export function markedRanges(text: string): readonly DocumentRange[] | undefined {
  if (/(?:^|\n)(?:\ufeff|%|\.\.\.)/u.test(text)) return undefined;
  const starts = [...text.matchAll(/(?<=^|\n)---(?![^ \t\r\n])/gu)].map(({ index }) => index);
  // A `---` after nothing but comments begins the first document and separates nothing.
  const hasContent = /(?:^|\n)[ \t]*(?:[^ \t\r\n#]|\r(?!\n))/u.test(text.slice(0, starts[0] ?? 0));
  if (hasContent) starts.unshift(0);
  else starts[0] = 0;
  return starts.map((start, index) => [start, starts[index + 1] ?? text.length]);
}

function parsedRanges(text: string): readonly DocumentRange[] {
  return composeDocuments(text).map(({ range }) => {
    const marker = text.slice(range[0], range[2]).search(/(?<=^|\n)\.\.\.(?:\s|$)/u);
    return [range[0], marker === -1 ? range[2] : range[0] + marker];
  });
}

import { composeDocuments } from "./parse.ts";

/** From the first character of a document to the end of its last one. */
export type DocumentRange = readonly [start: number, end: number];

/**
 * Where each document of a YAML text is, with its `---` line. `---` at the beginning of a line ends
 * a document whatever the context, so a search finds it. Only a text with directives or document
 * end markers (`%YAML`, `...`) must be parsed.
 */
export function documentRanges(text: string): readonly DocumentRange[] {
  if (/^(?:%|\.\.\.(?:\s|$))/mu.test(text)) return parsedRanges(text);
  const breaks = [...text.matchAll(/^---(?:[ \t].*)?\r?$/gmu)].map((found) => found.index);
  // A `---` after nothing but comments begins the first document and separates nothing.
  const beginning = text.slice(0, breaks[0] ?? 0).replaceAll(/^\s*(?:#.*)?$/gmu, "");
  const starts = beginning.trim() === "" ? [0, ...breaks.slice(1)] : [0, ...breaks];
  return starts.map((start, index) => [start, starts[index + 1] ?? text.length]);
}

function parsedRanges(text: string): readonly DocumentRange[] {
  return composeDocuments(text).map(({ range }) => {
    const marker = text.slice(range[0], range[2]).search(/^\.\.\.(?:\s|$)/mu);
    return [range[0], marker === -1 ? range[2] : range[0] + marker];
  });
}

import { parseAllDocuments } from "yaml";

/** From the first letter of a document to behind its last one. */
export type Range = readonly [start: number, end: number];

/**
 * Where each document of a YAML text stands, its line of dashes with it. Dashes at the beginning of
 * a line end a document wherever they stand, so they are looked for; only a text with directives or
 * ends of documents (`%YAML`, `...`) has to be read for it.
 */
export function documentRanges(text: string): readonly Range[] {
  if (/^(?:%|\.\.\.(?:\s|$))/mu.test(text)) return parsedRanges(text);
  const breaks = [...text.matchAll(/^---(?:[ \t].*)?\r?$/gmu)].map((found) => found.index);
  // Dashes before which nothing but comments stands begin the first document; they separate
  // nothing.
  const beginning = text.slice(0, breaks[0] ?? 0).replaceAll(/^\s*(?:#.*)?$/gmu, "");
  const starts = beginning.trim() === "" ? [0, ...breaks.slice(1)] : [0, ...breaks];
  return starts.map((start, index) => [start, starts[index + 1] ?? text.length]);
}

function parsedRanges(text: string): readonly Range[] {
  return parseAllDocuments(text, { version: "1.2", schema: "core", uniqueKeys: false, prettyErrors: false }).map(({ range }) => {
    const marker = text.slice(range[0], range[2]).search(/^\.\.\.(?:\s|$)/mu);
    return [range[0], marker === -1 ? range[2] : range[0] + marker];
  });
}

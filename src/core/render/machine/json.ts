import { documentJson } from "../../base/text/control-characters.ts";
import type { Document, Renderer } from "../document.ts";

/** The document as JSON, in the format of a saved plan. */
export const renderJson: Renderer = (document) => [...documentPieces(document)].join("");

/** The same in pieces. */
export function* documentPieces(document: Document): Generator<string> {
  yield* documentJson(document);
  yield "\n";
}

/** A document, or a list of several, in pieces. */
export function* jsonOfAll(documents: readonly Document[]): Generator<string> {
  const [only, second] = documents;
  if (only !== undefined && second === undefined) {
    yield* documentPieces(only);
    return;
  }
  for (const [index, document] of documents.entries()) {
    yield index === 0 ? "[\n" : ",\n";
    yield* documentJson(document);
  }
  yield "\n]\n";
}

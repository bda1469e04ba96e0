import { documentJson } from "../../text/document-json.ts";
import type { Document, Renderer, Shown } from "../document.ts";

/** The document as JSON, in the format of a saved plan. */
export const renderJson: Renderer = (document) => [...documentPieces(document)].join("");

/** The same in pieces. */
export function* documentPieces(document: Shown): Generator<string> {
  yield* documentJson(document);
  yield "\n";
}

/** A list of documents, one per target, in pieces. */
export function* documentListPieces(documents: readonly Document[]): Generator<string> {
  for (const [index, document] of documents.entries()) {
    yield index === 0 ? "[\n" : ",\n";
    yield* documentJson(document);
  }
  yield "\n]\n";
}

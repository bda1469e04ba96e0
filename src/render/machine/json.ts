import { byText } from "../../model/address.ts";
import type { JsonForm } from "../../model/json/form.ts";
import { jsonPieces, mapOrder } from "../../model/json/pieces.ts";
import { printableJson } from "../../text/control-characters.ts";
import type { Document, Renderer } from "../document.ts";

// The most important members come first, in this order. All others follow by name.
const order = [
  "formatVersion id address kind action outcome liveId liveName dependsOn planId runId createdAt startedAt finishedAt tool name version",
  "target account git commit dirty manifestDigest complete executable calls read planned create update relate bind noop",
  "rule method path before after expected actual risk cause code severity message instruction reason file line column",
  "items manual blocked deferred held unmanaged unverifiable newColumns goneColumns seenColumns policy guards diagnostics protects exposes summary",
  "changes requests body observed bindings exit reasons",
].flatMap((line) => line.split(" "));
const rank: ReadonlyMap<string, number> = new Map(order.map((name, index) => [name, index]));

/** The document as JSON: indented by two spaces, keys in a fixed order, control characters escaped. */
export const renderJson: Renderer = (document) => [...documentPieces(document)].join("");

/** The same in pieces. */
export function* documentPieces(document: Document): Generator<string> {
  yield* jsonPieces(document, newForm());
  yield "\n";
}

/** A list of documents, one per target, in pieces. */
export function* documentListPieces(documents: readonly Document[]): Generator<string> {
  const form = newForm();
  for (const [index, document] of documents.entries()) {
    yield index === 0 ? "[\n" : ",\n";
    yield* jsonPieces(document, form);
  }
  yield "\n]\n";
}

/** Many maps have the same keys, so their order is found once. */
function newForm(): JsonForm {
  const known = new Map<string, readonly string[]>();
  const inOrder = (keys: readonly string[]): readonly string[] => {
    if (keys.length > mostKeys) return mapOrder([...keys].sort(byRank));
    const shape = keys.join("\n");
    const sorted = known.get(shape) ?? mapOrder([...keys].sort(byRank));
    if (known.size < mostShapes) known.set(shape, sorted);
    return sorted;
  };
  return { inOrder, order: "sorted", space: "  ", quoted: (text) => printableJson(JSON.stringify(text)) };
}

// Bodies have the names of schemas, tables and columns as keys, which may all be different.
const mostShapes = 1000;
const mostKeys = 100;

function byRank(a: string, b: string): number {
  return (rank.get(a) ?? order.length) - (rank.get(b) ?? order.length) || byText(a, b);
}

import { type Document, type LineCounter, type ParsedNode, parseAllDocuments } from "yaml";

/**
 * The documents of a text as syntax trees, errors included. YAML 1.2 core whatever a %YAML line says; keys are their source text (`1.0`, `~`
 * and `true` are names like any other); duplicate keys are left to the caller, since the library's own check is quadratic.
 * Throws RangeError where the nesting is too deep for the stack.
 */
export function composeDocuments(text: string, lineCounter?: LineCounter): readonly Document.Parsed<ParsedNode>[] {
  return parseAllDocuments(text, {
    version: "1.2",
    schema: "core",
    merge: false,
    stringKeys: true,
    uniqueKeys: false,
    resolveKnownTags: false,
    prettyErrors: false,
    ...(lineCounter === undefined ? {} : { lineCounter }),
  });
}

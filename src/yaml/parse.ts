import { type Document, type ParsedNode, parseAllDocuments } from "yaml";

/**
 * How dimsync reads YAML: version 1.2, core schema, whatever a %YAML line says. Keys are their
 * source text (`1.0`, `~` and `true` are names). Callers look for duplicate keys themselves,
 * because the library's check is quadratic.
 */
export const parserOptions = {
  version: "1.2",
  schema: "core",
  merge: false,
  stringKeys: true,
  uniqueKeys: false,
  resolveKnownTags: false,
  prettyErrors: false,
} as const;

/**
 * The documents of a text as syntax trees, errors included. `keepSourceTokens` keeps the tokens,
 * which editing needs. Throws RangeError if the nesting is too deep for the stack.
 */
export function composeDocuments(text: string, keepSourceTokens = false): readonly Document.Parsed<ParsedNode>[] {
  return parseAllDocuments(text, { ...parserOptions, keepSourceTokens });
}

import { Composer, type CST, type Document, Lexer, type ParsedNode, type ParseOptions, Parser } from "yaml";
import { DeepNesting, deepestNesting } from "../model/json/parse.ts";
import type { DocumentRange } from "./document-ranges.ts";

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
 * How many aliases a document may have, and how often an anchor may be used, weighted with the
 * aliases inside it. The library shares the value behind an anchor, so this bounds the work of
 * everything that walks the values.
 */
export const maxAliasCount = 10_000;

/**
 * The documents of a text as syntax trees, errors included. Throws DeepNesting.
 */
export function composeDocuments(text: string, options: ComposeOptions = {}): readonly Document.Parsed<ParsedNode>[] {
  return [...new Composer<ParsedNode>({ ...parserOptions, ...options }).compose(tokensOf(text))];
}

/** `keepSourceTokens`: needed for editing. */
type ComposeOptions = Pick<ParseOptions, "keepSourceTokens">;

/**
 * One document of a text, with offsets in the text; undefined if there is nothing but comments. The
 * library also gets the marker of the next document, as it would if it read the whole text. Throws
 * DeepNesting.
 */
export function composeDocument(text: string, [start, end]: DocumentRange): Document.Parsed<ParsedNode> | undefined {
  const [document] = new Composer<ParsedNode>(parserOptions).compose(firstDocument(tokensOf(text.slice(start, end + "---".length), start)));
  return document;
}

/** Without the document that the next marker begins. */
function* firstDocument(tokens: Iterable<CST.Token>): Generator<CST.Token> {
  let documents = 0;
  for (const token of tokens) {
    if (token.type === "document" && ++documents > 1) return;
    yield token;
  }
}

/**
 * The library's tokens. Its parser and composer recurse, so the nesting is counted as the lexer, which does not, goes on. A marker of a document within
 * a line is an error: after `|` and `>`, the lexer finds one in any column, and what follows it would belong to another document.
 */
function* tokensOf(text: string, start = 0): Generator<CST.Token> {
  const parser = new Parser();
  parser.offset = start;
  let isInScalar = false;
  for (const lexeme of new Lexer().lex(text)) {
    const at = parser.offset - start;
    if ((lexeme === "---" || lexeme === "...") && !isInScalar && at > 0 && !"\n\ufeff".includes(text.charAt(at - 1))) {
      yield { type: "error", offset: parser.offset, message: "", source: lexeme };
      parser.offset += lexeme.length;
      continue;
    }
    isInScalar = lexeme === "\u001f";
    yield* parser.next(lexeme);
    // The stack also contains the document and the scalar that is being read.
    if (parser.stack.length > deepestNesting + 2) throw new DeepNesting(parser.offset);
  }
  yield* parser.end();
}

import { deepestNesting } from "../model/json/parse.ts";

/** A problem in the YAML itself, at an offset of the text (UTF-16 code units). */
export interface YamlProblem {
  readonly document: number;
  readonly offset: number;
  readonly code: "E_YAML_SYNTAX" | "E_YAML_TOO_LARGE" | "E_TOO_DEEP" | "E_DUPLICATE_KEY" | "E_ALIAS_EXPANSION";
  readonly message: string;
}

/**
 * Messages by the library's codes. The library's own messages quote the text, which may be a
 * secret.
 */
const messages = new Map<string, string>([
  ["BAD_ALIAS", "An alias (`*name`) is not well formed here. Put text that begins with `*` in quotes."],
  ["BAD_DQ_ESCAPE", "YAML has no such escape in double quotes. Use single quotes, or double the backslash."],
  ["BAD_INDENT", "The indentation does not match the lines above. All keys of a map, and all items of a list, begin in the same column."],
  ["BAD_SCALAR_START", "A plain value cannot begin with this character. Put the value in quotes."],
  [
    "BLOCK_AS_IMPLICIT_KEY",
    "There is a second `key: value` on the same line. Move it to its own line, or put a value that contains a colon in quotes.",
  ],
  ["BLOCK_IN_FLOW", "A comma is missing here, or an indented block is inside { } or [ ], which is not allowed."],
  ["KEY_OVER_1024_CHARS", "A key is longer than 1024 characters."],
  ["MISSING_CHAR", "A character is missing here: a closing quote, bracket or brace, a comma, or the colon after a key."],
  ["MULTILINE_IMPLICIT_KEY", "A key spans several lines. The line above probably lacks a colon at its end."],
  ["MULTIPLE_ANCHORS", "A value has two anchors."],
  ["MULTIPLE_TAGS", "A value has two tags."],
  ["NON_STRING_KEY", "A list or a map cannot be a key. Put text that begins with [ or { in quotes."],
  ["TAB_AS_INDENT", "YAML does not allow tabs as indentation. Use spaces."],
  ["TAG_RESOLVE_FAILED", "Tags such as `!name` and `!!binary` are not allowed in manifests. Put text that begins with `!` in quotes."],
  [
    "UNEXPECTED_TOKEN",
    "Unexpected text after a value. Check quotes (inside single quotes, write an apostrophe twice), brackets and indentation.",
  ],
]);

/** The message for an error code of the library. */
export const messageFor = (libraryCode: string): string => messages.get(libraryCode) ?? "This is not valid YAML.";

export function syntaxProblem(document: number, offset: number, message: string): YamlProblem {
  return { document, offset, code: "E_YAML_SYNTAX", message };
}

export const tooDeep = (document: number, offset: number): YamlProblem => ({
  document,
  offset,
  code: "E_TOO_DEEP",
  message: `Here the values are nested more than ${deepestNesting} levels deep. Manifests need only a few levels. Check for brackets or dashes that are never closed.`,
});

/** The most UTF-16 units of a file that the YAML library reads: a second's work, which no signal interrupts. */
export const mostByLibrary = 2 * 1024 * 1024;

export const tooLarge = (document: number, offset: number): YamlProblem => ({
  document,
  offset,
  code: "E_YAML_TOO_LARGE",
  message: `On this line there is, or ends, something that only a slow parser reads, and that parser reads at most ${mostByLibrary / 1024 / 1024} MiB of a file. Look for a syntax error, a key that is there twice, a tab, a tag (\`!name\`), a key after \`?\` or an unusual number (\`0x1F\`). Fix it, write it plainly, or split the file.`,
});

export function duplicateKeyProblem(document: number, offset: number, firstLine: number): YamlProblem {
  const message = `The same key is already on line ${firstLine}, in the same map. Remove one of them.`;
  return { document, offset, code: "E_DUPLICATE_KEY", message };
}

/** Instead of one problem per duplicate key at the top of a document. */
export function missingSeparatorProblem(document: number, offset: number, firstLine: number): YamlProblem {
  const message = `This key is already on line ${firstLine}, and so are keys below it. If a second document begins here, add a line \`---\` above it.`;
  return { document, offset, code: "E_DUPLICATE_KEY", message };
}

const aliasMessages = {
  unresolved: "An alias (`*name`) has no anchor (`&name`) above it in the same document. Put text that begins with `*` in quotes.",
  circular: "An alias is inside the value that it refers to, so the value would never end. Write the value out.",
  "too many": "The aliases of this document expand to far more than is written. Write the values out, or use a RuleSet.",
};

export function aliasProblem(document: number, offset: number, why: keyof typeof aliasMessages): YamlProblem {
  const message = aliasMessages[why];
  return why === "unresolved"
    ? { document, offset, code: "E_YAML_SYNTAX", message }
    : { document, offset, code: "E_ALIAS_EXPANSION", message };
}

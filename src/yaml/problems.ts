/** A problem in the YAML itself, at an offset of the text (UTF-16 code units). */
export interface YamlProblem {
  readonly document: number;
  readonly offset: number;
  readonly code: "E_YAML_SYNTAX" | "E_DUPLICATE_KEY" | "E_ALIAS_EXPANSION";
  readonly summary: string;
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
  ["BLOCK_IN_FLOW", "An indented block is not allowed inside { } or [ ]."],
  ["KEY_OVER_1024_CHARS", "A key is longer than 1024 characters."],
  ["MISSING_CHAR", "A character is missing here: a closing quote, bracket or brace, a comma, or the colon after a key."],
  ["MULTILINE_IMPLICIT_KEY", "A key spans several lines. The line above probably lacks a colon at its end."],
  ["MULTIPLE_ANCHORS", "A value has two anchors."],
  ["MULTIPLE_TAGS", "A value has two tags."],
  ["NON_STRING_KEY", "A list or a map cannot be a key. Put text that begins with [ or { in quotes."],
  ["RESOURCE_EXHAUSTION", "The values are nested too deeply. Manifests need only a few levels."],
  ["TAB_AS_INDENT", "YAML does not allow tabs as indentation. Use spaces."],
  ["TAG_RESOLVE_FAILED", "Tags such as `!name` and `!!binary` are not allowed in manifests. Put text that begins with `!` in quotes."],
  ["UNEXPECTED_TOKEN", "Unexpected text: the value before it has ended. Check quotes, brackets and indentation."],
]);

export function syntaxProblem(document: number, offset: number, libraryCode: string): YamlProblem {
  const message = messages.get(libraryCode) ?? "This is not valid YAML.";
  return { document, offset, code: "E_YAML_SYNTAX", summary: "Invalid YAML", message };
}

export function duplicateKeyProblem(document: number, offset: number): YamlProblem {
  return {
    document,
    offset,
    code: "E_DUPLICATE_KEY",
    summary: "Duplicate key",
    message: "The same key appears twice in one map. Remove one.",
  };
}

const aliasMessages = {
  unresolved: "An alias (`*name`) has no anchor (`&name`) above it in the same document. Put text that begins with `*` in quotes.",
  circular: "An alias is inside the value that it refers to, so the value would never end. Write the value out.",
  "too many": "The aliases of this document expand to far more than is written. Write the values out, or use a RuleSet.",
};

export function aliasProblem(document: number, offset: number, why: keyof typeof aliasMessages): YamlProblem {
  const message = aliasMessages[why];
  return why === "unresolved"
    ? { document, offset, code: "E_YAML_SYNTAX", summary: "Unknown alias", message }
    : { document, offset, code: "E_ALIAS_EXPANSION", summary: "Aliases expand too far", message };
}

/** A mistake in the YAML itself, at an offset of the text (UTF-16 code units). */
export interface Fault {
  readonly document: number;
  readonly offset: number;
  readonly code: "E_YAML_SYNTAX" | "E_DUPLICATE_KEY" | "E_ALIAS_EXPANSION";
  readonly summary: string;
  readonly message: string;
}

/** Own sentences by the library's codes: its messages may quote the text, which may be a secret. */
const sentences = new Map<string, string>([
  ["BAD_ALIAS", "An alias (`*name`) is not well formed here. Put text that begins with `*` in quotes."],
  ["BAD_DQ_ESCAPE", "A backslash in double quotes begins an escape that YAML doesn't know. Use single quotes, or double the backslash."],
  [
    "BAD_INDENT",
    "The indentation doesn't fit what stands above it. Members of one map, and entries of one list, begin in the same column.",
  ],
  ["BAD_SCALAR_START", "Plain text can't begin with this character. Put the text in quotes."],
  [
    "BLOCK_AS_IMPLICIT_KEY",
    "A second `key: value` stands on the same line. Put it on a line of its own, or put text that holds a colon in quotes.",
  ],
  ["BLOCK_IN_FLOW", "An indented block can't stand between { } or [ ]."],
  ["KEY_OVER_1024_CHARS", "A key is longer than 1024 characters."],
  ["MISSING_CHAR", "A character is missing here: a closing quote, bracket or brace, a comma, or the colon after a key."],
  ["MULTILINE_IMPLICIT_KEY", "A key goes over several lines; a colon is probably missing at the end of the line above."],
  ["MULTIPLE_ANCHORS", "A value has two anchors."],
  ["MULTIPLE_TAGS", "A value has two tags."],
  ["NON_STRING_KEY", "A list or a map can't be a key. Put text that begins with [ or { in quotes."],
  ["RESOURCE_EXHAUSTION", "The values are nested too deeply. No manifest needs more than a few levels."],
  ["TAB_AS_INDENT", "A tab can't indent YAML. Use spaces."],
  ["TAG_RESOLVE_FAILED", "Tags such as `!name` and `!!binary` have no meaning in a manifest. Put text that begins with `!` in quotes."],
  ["UNEXPECTED_TOKEN", "This doesn't belong here: the value before it has ended. Check quotes, brackets and indentation."],
]);

export function syntaxFault(document: number, offset: number, libraryCode: string): Fault {
  const message = sentences.get(libraryCode) ?? "The text isn't well-formed YAML here.";
  return { document, offset, code: "E_YAML_SYNTAX", summary: "Not well-formed YAML", message };
}

export function duplicateKeyFault(document: number, offset: number): Fault {
  return {
    document,
    offset,
    code: "E_DUPLICATE_KEY",
    summary: "Key given twice",
    message: "The same key stands twice in one map, and only one of them could hold. Remove one.",
  };
}

export function aliasFault(document: number, offset: number, why: "unresolved" | "circular" | "too many"): Fault {
  const messages = {
    unresolved: "An alias (`*name`) has no anchor (`&name`) above it in the same document. Put text that begins with `*` in quotes.",
    circular: "An alias stands inside the value that it names, so that the value would have no end. Write the value out.",
    "too many": "The aliases of this document stand for far more than is written in it. Write the values out, or use a RuleSet.",
  };
  return why === "unresolved"
    ? { document, offset, code: "E_YAML_SYNTAX", summary: "Unknown alias", message: messages[why] }
    : { document, offset, code: "E_ALIAS_EXPANSION", summary: "Too much behind aliases", message: messages[why] };
}

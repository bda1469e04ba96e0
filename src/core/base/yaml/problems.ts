import { deepestNesting } from "../model/json/parse.ts";

/** A problem in the YAML itself, at an offset of the text (UTF-16 code units). */
export interface YamlProblem {
  readonly document: number;
  readonly offset: number;
  readonly code: "E_YAML_SYNTAX" | "E_DUPLICATE_KEY";
  readonly message: string;
}

export function syntaxProblem(document: number, offset: number, message: string): YamlProblem {
  return { document, offset, code: "E_YAML_SYNTAX", message };
}

export const tooDeep = (document: number, offset: number): YamlProblem => ({
  document,
  offset,
  code: "E_YAML_SYNTAX",
  message: `Here the values are nested more than ${deepestNesting} levels deep. Manifests need only a few levels. Check for brackets or dashes that are never closed.`,
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
  return syntaxProblem(document, offset, aliasMessages[why]);
}

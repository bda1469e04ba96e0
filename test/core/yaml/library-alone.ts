import { parseAllDocuments } from "yaml";
import { parserOptions } from "../../../src/core/yaml/parse.ts";

/** The values as the YAML library gives them for the whole text; undefined if it refuses it. */
export function byLibraryAlone(text: string): unknown {
  const documents = parseAllDocuments(text, { ...parserOptions, uniqueKeys: true });
  if (documents.some(({ errors, warnings }) => errors.length + warnings.length > 0)) return undefined;
  try {
    return documents
      .map((document, index) => ({ index, value: document.toJS({ maxAliasCount: 10_000 }) as unknown }))
      .filter(({ value }) => value !== null);
  } catch {
    return undefined;
  }
}

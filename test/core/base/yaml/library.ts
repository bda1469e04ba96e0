import { type Document, parseAllDocuments } from "yaml";
import { parserOptions } from "../../../../src/core/base/yaml/edit.ts";

/** The documents of a text for the package `yaml`; undefined if it refuses the text. */
export function documentsByLibrary(text: string): readonly Document.Parsed[] | undefined {
  const documents = parseAllDocuments(text, { ...parserOptions, uniqueKeys: true });
  return documents.some(({ errors, warnings }) => errors.length + warnings.length > 0) ? undefined : documents;
}

/** As text, in which infinity is not null; undefined if the package refuses the text, or an alias is in its own value. */
export function valuesByLibrary(text: string): string | undefined {
  try {
    const values = documentsByLibrary(text)?.map((document) => document.toJS({ maxAliasCount: -1 }) as unknown);
    return values && asText(values.filter((value) => value !== null));
  } catch {
    return undefined;
  }
}

export const asText = (values: readonly unknown[]): string =>
  JSON.stringify(values, (_, value: unknown) => (typeof value === "number" && !Number.isFinite(value) ? String(value) : value));

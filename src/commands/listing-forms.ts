import { markdownTable, tableText } from "./table.ts";

/** Formats in which live things are printed. */
export const listingFormats: readonly string[] = ["human", "json", "ndjson", "yaml", "markdown"];

export interface ListingShape {
  /** What JSON and YAML hold. */
  readonly value: unknown;
  /** What tables and lines hold, one each. */
  readonly rows: readonly unknown[];
  /** Members, or members joined by dots, that the tables show. */
  readonly columns: readonly string[];
}

/** A function for each of `listingFormats`. */
export function listingForms({ value, rows, columns }: ListingShape) {
  return {
    human: () => (rows.length === 0 ? "There are none.\n" : tableText(rows, columns)),
    ...dataForms(value, rows),
    markdown: () => markdownTable(rows, columns),
  };
}

/** What scripts read, of an answer as the service gave it. */
export const rawForms = (value: unknown, lines: readonly unknown[]) => {
  const data = dataForms(value, lines);
  return { human: data.json, ...data };
};

function dataForms(value: unknown, lines: readonly unknown[]) {
  return {
    json: () => `${JSON.stringify(value, undefined, 2)}\n`,
    ndjson: () => lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
    yaml: async () => {
      const { stringify } = await import("yaml");
      // Without aliases: what is alike by chance is not one thing.
      return stringify(value, { aliasDuplicateObjects: false, lineWidth: 0 });
    },
  };
}

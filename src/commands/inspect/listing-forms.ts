import { isObject, own } from "../../model/json.ts";
import { code, table } from "../../render/markdown/escape.ts";
import { visible } from "../../text/control-characters.ts";

/** Aligned columns with a heading; a column is a member, or members joined by dots. */
function tableText(rows: readonly unknown[], columns: readonly string[]): string {
  const cells = cellTexts(rows, columns);
  const headings = columns.map(heading).map((text) => text.toUpperCase());
  const widths = headings.map((text, index) => Math.max(text.length, ...cells.map((row) => row[index]?.length ?? 0)));
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, index) => text.padEnd(widths[index] ?? 0))
      .join("  ")
      .trimEnd();
  return `${[headings, ...cells].map(line).join("\n")}\n`;
}

/** The same as a Markdown table. */
function markdownTable(rows: readonly unknown[], columns: readonly string[]): string {
  return `${table(
    columns.map(heading),
    cellTexts(rows, columns).map((texts) => texts.map((text) => (text === absent ? text : code(text)))),
  )}\n`;
}

const absent = "-";

/** "source.lastUpdatedAt" -> "source last updated at" */
const heading = (column: string): string =>
  column
    .replaceAll(".", " ")
    .replaceAll(/(?<=[a-z])(?=[A-Z])/gu, " ")
    .toLowerCase();

function cellTexts(rows: readonly unknown[], columns: readonly string[]): readonly (readonly string[])[] {
  return rows.map((row) =>
    columns.map((column) =>
      cellText(column.split(".").reduce<unknown>((value, key) => (isObject(value) ? own(value, key) : undefined), row)),
    ),
  );
}

function cellText(value: unknown): string {
  if (value === undefined || value === null || value === "") return absent;
  return visible(typeof value === "string" ? value : JSON.stringify(value));
}

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

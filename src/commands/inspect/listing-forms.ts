import { isObject, type JsonValue, own } from "../../model/json.ts";
import { code, table } from "../../render/markdown/escape.ts";
import { visible } from "../../text/control-characters.ts";
import { blockLines } from "../../yaml/print.ts";

/** Aligned columns with headings. A column is a member, or a path of members with dots. */
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

/** The formats for live objects. */
export const listingFormats: readonly string[] = ["human", "json", "ndjson", "yaml", "markdown"];

export interface ListingShape {
  /** For JSON and YAML. */
  readonly value: unknown;
  /** For tables and NDJSON. */
  readonly rows: readonly unknown[];
  /** The columns of tables. */
  readonly columns: readonly string[];
}

/** A function for each of `listingFormats`. */
export function listingForms({ value, rows, columns }: ListingShape) {
  return {
    human: () => (rows.length === 0 ? "No objects found.\n" : tableText(rows, columns)),
    ...dataForms(value, rows),
    markdown: () => markdownTable(rows, columns),
  };
}

/** The formats for an unchanged response. */
export const rawForms = (value: unknown, lines: readonly unknown[]) => {
  const data = dataForms(value, lines);
  return { human: data.json, ...data };
};

function dataForms(value: unknown, lines: readonly unknown[]) {
  return {
    json: () => `${JSON.stringify(value, undefined, 2)}\n`,
    ndjson: () => lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
    yaml: () => `${blockLines(value as JsonValue).join("\n")}\n`,
  };
}

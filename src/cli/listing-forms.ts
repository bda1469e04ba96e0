import { isObject, type JsonValue, own } from "../core/model/json/json.ts";
import { textTable } from "../core/render/blocks.ts";
import type { RenderOptions } from "../core/render/document.ts";
import { code, table } from "../core/render/markdown/escape.ts";
import { tableText } from "../core/render/terminal/blocks.ts";
import { jsonDocument } from "../core/text/control-characters.ts";
import { yamlDocuments } from "../core/yaml/print.ts";

/** A column is a member, or a path of members with dots. */
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
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The formats for live objects. */
export const listingFormats: readonly string[] = ["human", "json", "yaml", "markdown"];

interface ListingShape {
  /** For JSON and YAML. */
  readonly value: unknown;
  /** For tables. */
  readonly rows: readonly unknown[];
  /** The columns of tables. */
  readonly columns: readonly string[];
  /** Whether a terminal shows the table. Otherwise each row is a line, for tools such as grep. */
  readonly isTty: boolean;
}

/** A function for each of `listingFormats`. */
export function listingForms({ value, rows, columns, isTty }: ListingShape) {
  return {
    human: ({ color, width = 100 }: RenderOptions) =>
      rows.length === 0
        ? "No objects found.\n"
        : tableText(textTable(columns.map(heading), cellTexts(rows, columns)), { color, width: isTty ? width : Number.POSITIVE_INFINITY }),
    json: () => jsonDocument(value),
    yaml: () => yamlDocuments([value as JsonValue]),
    markdown: () => markdownTable(rows, columns),
  };
}

import { isObject, own } from "../model/json.ts";
import { code, table } from "../render/markdown/escape.ts";
import { visible } from "../render/visible.ts";

/** Aligned columns with a heading; a column is a member, or members joined by dots. */
export function tableText(rows: readonly unknown[], columns: readonly string[]): string {
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
export function markdownTable(rows: readonly unknown[], columns: readonly string[]): string {
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

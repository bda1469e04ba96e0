import { isObject, own } from "../model/json.ts";
import { visible } from "../render/visible.ts";

/** Aligned columns with a heading; a column is a member, or members joined by dots. */
export function tableText(rows: readonly unknown[], columns: readonly string[]): string {
  const cells = rows.map((row) =>
    columns.map((column) =>
      cellText(column.split(".").reduce<unknown>((value, key) => (isObject(value) ? own(value, key) : undefined), row)),
    ),
  );
  const headings = columns.map((column) => column.toUpperCase().replace(".", " "));
  const widths = headings.map((heading, index) => Math.max(heading.length, ...cells.map((row) => row[index]?.length ?? 0)));
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, index) => text.padEnd(widths[index] ?? 0))
      .join("  ")
      .trimEnd();
  return `${[headings, ...cells].map(line).join("\n")}\n`;
}

function cellText(value: unknown): string {
  if (value === undefined || value === null) return "-";
  return visible(typeof value === "string" ? value : JSON.stringify(value));
}

import type { Register, RegisterRow } from "../../../core/model/register.ts";
import { visible } from "../../../core/text/control-characters.ts";

/** RFC 4180: lines end with CR LF, and values with commas, quotes or line breaks are quoted. No cell has characters that a reader cannot see, or begins a formula. */
const line = (values: readonly string[]): string =>
  `${values
    .map(safeCell)
    .map((value) => (/[",\r\n]/u.test(value) ? `"${value.replaceAll('"', '""')}"` : value))
    .join(",")}\r\n`;

/** Spreadsheets show a cell that begins with an apostrophe as text, without the apostrophe. */
const safeCell = (value: string): string => `${/^[=+\-@\t\r]/u.test(value) ? "'" : ""}${visible(value)}`;

/** The columns of the CSV file, in its order, and the members that they have. */
const registerColumns: readonly (readonly [name: string, member: keyof RegisterRow])[] = [
  ["integration", "integration"],
  ["integration_id", "integrationId"],
  ["schema", "schema"],
  ["table", "table"],
  ["column", "column"],
  ["destination_schema", "destinationSchema"],
  ["destination_table", "destinationTable"],
  ["destination_column", "destinationColumn"],
  ["label", "label"],
  ["label_source", "labelSource"],
  ["replicated", "replicated"],
  ["hashed", "hashed"],
  ["rule", "rule"],
  ["reason", "reason"],
  ["exemption", "exemption"],
  ["approved_by", "approvedBy"],
  ["expires", "expires"],
];

const names = registerColumns.map(([name]) => name);

export function* registerCsv({ rows }: Register): Iterable<string> {
  yield line(names);
  for (const row of rows) yield line(registerColumns.map(([, member]) => String(row[member])));
}

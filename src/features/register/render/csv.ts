import type { Register, RegisterDiff, RegisterRow } from "../../../core/model/register.ts";
import { visible } from "../../../core/text/control-characters.ts";

/** RFC 4180: lines end with CR LF, and values with commas, quotes or line breaks are quoted. No cell has characters that a reader cannot see, or begins a formula. */
const line = (values: readonly string[]): string =>
  `${values
    .map(safeCell)
    .map((value) => (/[",\r\n]/u.test(value) ? `"${value.replaceAll('"', '""')}"` : value))
    .join(",")}\r\n`;

/** A row with its cells as a CSV file has them. */
export const safeRow = (row: RegisterRow): RegisterRow =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, typeof value === "string" ? safeCell(value) : value]),
  ) as unknown as RegisterRow; // the same members

/** Spreadsheets show a cell that begins with an apostrophe as text, without the apostrophe. */
const safeCell = (value: string): string => `${/^[=+\-@\t\r]/u.test(value) ? "'" : ""}${visible(value)}`;

/** The columns of the CSV file, in its order, and the members that they have. */
export const registerColumns: readonly (readonly [name: string, member: keyof RegisterRow])[] = [
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

/** The same columns, with what changed before them. */
export function* registerDiffCsv({ changes }: RegisterDiff): Iterable<string> {
  yield line(["change", "changed", ...names]);
  for (const { change, row, values } of changes) {
    const changed = values.map(({ name, from, to }) => `${name}: ${from} -> ${to}`).join("; ");
    yield line([change, changed, ...registerColumns.map(([, member]) => String(row[member]))]);
  }
}

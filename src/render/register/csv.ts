import type { Register, RegisterDiff } from "../../model/register.ts";
import { registerColumns } from "./columns.ts";

// RFC 4180: lines end with CR LF, and values with commas, quotes or line breaks are quoted.

const line = (values: readonly string[]): string =>
  `${values.map((value) => (/[",\r\n]/u.test(value) ? `"${value.replaceAll('"', '""')}"` : value)).join(",")}\r\n`;

const names = registerColumns.map(([name]) => name);

export function* registerCsv({ rows }: Register): Iterable<string> {
  yield line(names);
  for (const row of rows()) yield line(registerColumns.map(([, value]) => value(row)));
}

/** The same columns, with what changed before them. */
export function* registerDiffCsv({ changes }: RegisterDiff): Iterable<string> {
  yield line(["change", "changed", ...names]);
  for (const { change, row, values } of changes) {
    const changed = values.map(({ name, from, to }) => `${name}: ${from} -> ${to}`).join("; ");
    yield line([change, changed, ...registerColumns.map(([, value]) => value(row))]);
  }
}

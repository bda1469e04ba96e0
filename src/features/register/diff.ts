import { byPlace, type RegisterChange, type RegisterRow, rowKey } from "../../core/model/register.ts";

/** What matters in a row, apart from what identifies it. Files and lines are left out: moving a rule changes nothing. */
const compared = [
  "replicated",
  "hashed",
  "destinationSchema",
  "destinationTable",
  "destinationColumn",
  "exemption",
  "approvedBy",
  "expires",
  "breaks",
] as const satisfies readonly (keyof RegisterRow)[];

/** The rows that only one of two registers has, and those that differ. */
export function registerChanges(before: Iterable<RegisterRow>, after: Iterable<RegisterRow>): readonly RegisterChange[] {
  const rows = new Map([...before].map((row) => [rowKey(row), row]));
  const changes: RegisterChange[] = [];
  for (const row of after) {
    const key = rowKey(row);
    const earlier = rows.get(key);
    rows.delete(key);
    if (earlier === undefined) changes.push({ change: "added", row, values: [] });
    else {
      const values = compared
        .map((name) => ({ name, from: textOf(earlier[name]), to: textOf(row[name]) }))
        .filter(({ from, to }) => from !== to);
      if (values.length > 0) changes.push({ change: "changed", row, values });
    }
  }
  for (const row of rows.values()) changes.push({ change: "removed", row, values: [] });
  return changes.sort((a, b) => byPlace(a.row, b.row));
}

const textOf = (value: RegisterRow[(typeof compared)[number]]): string => (typeof value === "object" ? value.join(", ") : String(value));

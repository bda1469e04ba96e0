// Lists fit into a narrow terminal, and are lines elsewhere.
import { describe, expect, test } from "vitest";
import { textTable } from "../../../../src/core/render/blocks.ts";
import { tableText } from "../../../../src/core/render/terminal/blocks.ts";

const headings = ["id", "name", "source", "last updated at"];
const rows = [
  ["8f1c", "Orders", "postgres", "2026-03-01T09:00:00Z"],
  ["7a2b", "Billing of all business units in Europe", "-", "2026-03-01T09:00:00Z"],
];

describe("get, list and audit", () => {
  test("on a narrow terminal, what does not fit is below its row, after its heading", () => {
    expect(tableText(textTable(headings, rows), { color: false, width: 60 })).toBe(
      `ID     NAME                                      SOURCE
8f1c   Orders                                    postgres
    last updated at: 2026-03-01T09:00:00Z
7a2b   Billing of all business units in Europe   -
    last updated at: 2026-03-01T09:00:00Z
`,
    );
  });

  test("without a terminal each row is one line", () => {
    expect(tableText(textTable(headings, rows), { color: false, width: Number.POSITIVE_INFINITY })).toBe(
      `ID     NAME                                      SOURCE     LAST UPDATED AT
8f1c   Orders                                    postgres   2026-03-01T09:00:00Z
7a2b   Billing of all business units in Europe   -          2026-03-01T09:00:00Z
`,
    );
  });
});

import { expect, test } from "vitest";
import { registerCsv } from "../../../../src/features/register/render/csv.ts";
import { registerOf, rows } from "./registers.ts";

test("quotes what RFC 4180 requires, and ends lines with CR LF", () => {
  const text = [...registerCsv(registerOf(rows))].join("");
  const lines = text.split("\r\n");
  expect(lines).toHaveLength(rows.length + 2);
  expect(lines[1]).toContain('Orders <b>,8f1c,public,customers,"say ""hi"", a|b",');
  expect(lines[3]).toMatch(/,DPIA-41,privacy@example\.com,2027-03-31$/u);
});

test("is a piece per row, so that a register of any size is written without being in memory", () => {
  expect([...registerCsv(registerOf(rows))]).toHaveLength(rows.length + 1);
});

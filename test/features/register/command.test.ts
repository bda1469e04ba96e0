// The register fits a terminal, and is CSV as RFC 4180 says.
import { expect, test } from "vitest";
import { registerCsv, registerText, sourcePath } from "../../../src/features/register/command.ts";
import { registerOf, rows } from "./registers.ts";

const lines = (width: number, verbose = false): readonly string[] =>
  [...registerText(registerOf(rows), { color: false, width, verbose })].join("").split("\n");

test.each([40, 60, 80, 100, 140, 400])("a column has one line if the terminal has %i columns", (width) => {
  const names = rows.map((row) => `  ${sourcePath(row)} `);
  const all = lines(width);
  const found = all.flatMap((line, index) => (names.some((name) => `${line} `.startsWith(name)) ? [index] : []));
  expect(found).toHaveLength(rows.length);
  // Nothing of a column is below it.
  for (const index of found) expect(all[index + 1] ?? "").not.toMatch(/^ {4}/u);
});

test("a narrow terminal has the states, a wide one the rules, and -v everything", () => {
  expect(lines(60).join("\n")).toMatch(/public\.customers\.phone.*readable/u);
  expect(lines(60).join("\n")).toContain("The terminal is too narrow for everything: -v shows it.");
  expect(lines(400).join("\n")).not.toContain("too narrow");
  expect(lines(400).join("\n")).toContain("dial (manifests/shops.yaml:12) @call centre");
  expect(lines(60, true).join(" ").replaceAll(/\s+/gu, " ")).toContain("dial (manifests/shops.yaml:12) @call centre");
});

test("a narrow terminal marks what breaks a policy, and a column with two labels is one column", () => {
  expect(lines(60).join("\n")).toMatch(/say .*✗ readable/u);
  expect(lines(80).join("\n")).toContain("Breaks Policy/pii-hashed");
  const [first, second] = rows;
  if (first === undefined || second === undefined) throw new Error("no rows");
  const text = [
    ...registerText(registerOf([first, { ...first, label: "secret", breaks: [] }, second]), { color: false, verbose: false, width: 100 }),
  ];
  expect(text.join("")).toContain("2 labelled columns in 2 integrations: 1 hashed, 1 readable, 0 not replicated. 1 breaks a policy.");
});

test("the CSV quotes what RFC 4180 requires, and ends lines with CR LF", () => {
  const text = registerCsv(registerOf(rows));
  const lines = text.split("\r\n");
  expect(lines).toHaveLength(rows.length + 2);
  expect(lines[1]).toContain('Orders <b>,8f1c,public,customers,"say ""hi"", a|b",');
  expect(lines[3]).toMatch(/,DPIA-41,privacy@example\.com,2027-03-31$/u);
});

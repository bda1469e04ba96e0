// A table fits into its terminal, without losing a word.
import { describe, expect, test } from "vitest";
import { renderers } from "../../../../src/core/render/index.ts";
import { cell, headedLines, joined, tableLines, widthOf, wrap } from "../../../../src/core/render/terminal/layout.ts";
import fc from "../../../support/fast-check.ts";
import { runs } from "../../../support/sample.ts";
import { fleetPlan } from "../fleet-plan.ts";
import { driftReport, fullPlan, planOfColumns } from "../full-plan.ts";
import { tracedReport } from "../html-report.ts";
import { fullResult } from "../results.ts";

const row = (...texts: readonly string[]) => texts.map((text) => cell(text));

describe("a table", () => {
  test("aligns its columns, without those that are empty", () => {
    expect(tableLines([row("a", "", "long name", "x"), row("bcd", "", "n", "y")], "  ", 40)).toEqual([
      "  a     long name   x",
      "  bcd   n           y",
    ]);
  });

  test("wraps the words of its last column below each other", () => {
    expect(tableLines([row("a", "one two three four five six seven"), row("b", "one")], "", 30)).toEqual([
      "a   one two three four five",
      "    six seven",
      "b   one",
    ]);
  });

  test("puts columns that do not fit below each row, also if they are equal", () => {
    const cause = "manifests/customers.yaml:40";
    expect(tableLines([row("public.users.email", "true", cause), row("public.users.phone", "true", cause)], "", 40)).toEqual([
      "public.users.email   true",
      `    ${cause}`,
      "public.users.phone   true",
      `    ${cause}`,
    ]);
  });

  test("with headings repeats the heading of what does not fit, in every row that has a value", () => {
    const rows = [row("8f1c", "Orders", "postgres", "2026-03-01"), row("7a2b", "Billing of the whole group", "-", "")];
    expect(headedLines(row("ID", "NAME", "SOURCE", "LAST UPDATED AT"), rows, "", 40)).toEqual([
      "ID     NAME",
      "8f1c   Orders",
      "    source: postgres",
      "    last updated at: 2026-03-01",
      "7a2b   Billing of the whole group",
    ]);
  });

  test("a wide cell only pushes its own row", () => {
    const rows = [row("a", "1", "x"), row("b", "1", "x"), row("c", "1", "x"), row("a_name_that_is_much_wider_than_the_others", "1", "x")];
    expect(tableLines(rows, "", 50)).toEqual([
      `${"a".padEnd(44)}1   x`,
      `${"b".padEnd(44)}1   x`,
      `${"c".padEnd(44)}1   x`,
      "a_name_that_is_much_wider_than_the_others   1   x",
    ]);
    expect(tableLines(rows, "", 40)).toEqual([
      "a   1   x",
      "b   1   x",
      "c   1   x",
      "a_name_that_is_much_wider_than_the_others",
      "    1   x",
    ]);
  });

  test("colors each part of a wrapped cell on each line", () => {
    const red = (text: string): string => `<${text}>`;
    const parts = joined(cell("one two "), cell("three four five six seven", red));
    expect(tableLines([[cell("a"), parts]], "", 28)).toEqual(["a   one two <three four five>", "    <six seven>"]);
  });
});

test("a message keeps its long words, and is one paragraph", () => {
  expect(wrap("one two three four-and-a-very-long-word\nfive", "  ", 14)).toEqual([
    "  one two",
    "  three",
    "  four-and-a-very-long-word\\nfive",
  ]);
  expect(wrap("", "  ", 14)).toEqual([]);
});

test("no line of a table is wider than the screen, unless it is a single word", () => {
  const word = fc.string({ unit: fc.constantFrom(..."abc→日é"), minLength: 1, maxLength: 20 });
  const text = fc.array(word, { maxLength: 6 }).map((words) => words.join(" "));
  fc.assert(
    fc.property(
      fc.array(fc.array(text, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 40, max: 130 }),
      (rows, width) => {
        const lines = tableLines(
          rows.map((texts) => row(...texts)),
          "    ",
          width,
        );
        const words = (of: string): readonly string[] => of.split(/ +/u).filter((one) => one !== "");
        for (const line of lines) if (widthOf(line) > width) expect(words(line)).toHaveLength(1);
      },
    ),
    { numRuns: runs(100, 3_000) },
  );
});

// Sources, commands and desired states are never wrapped, so that they can be copied.
const isCopied = (line: string): boolean => /^\s*(?:dimsync |--allow )|^ {4}(?:\d+)? *\||^ {4,}[\w."-]+:|^ {4,}- /u.test(line);

describe.each([60, 80, 120])("%i columns", (width) => {
  test.each(
    Object.entries({
      "a plan": fullPlan,
      "a drift report": driftReport,
      "a drift report with attribution": tracedReport,
      "a plan by rule": planOfColumns(40),
      "a fleet": fleetPlan(),
      "the drift of a fleet": fleetPlan("DriftReport"),
      "a result": fullResult,
    }),
  )("%s fits", (_, document) => {
    for (const verbose of [false, true]) {
      const text = renderers.human(document, { color: false, verbose, width });
      for (const line of text.split("\n"))
        if (!isCopied(line) && /\S +\S/u.test(line.trim())) expect(widthOf(line), line).toBeLessThanOrEqual(width);
    }
  });
});

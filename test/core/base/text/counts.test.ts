// Counts and times are in words, and a list says what it leaves out.
import { expect, test } from "vitest";
import { counted, durationText } from "../../../../src/core/base/text/counts.ts";
import { andMore } from "../../../../src/core/base/text/lists.ts";

test.each([
  [0, "0 s"],
  [-5_000, "0 s"],
  [119_400, "119 s"],
  [120_000, "2 min"],
  [7_199_000, "120 min"],
  [7_200_000, "2 h"],
  [60_000, "1 min"],
  [3_600_000, "1 h"],
  [24 * 3_600_000, "1 day"],
  [47 * 3_600_000, "47 h"],
  [48 * 3_600_000, "2 days"],
])("%d ms are %s", (ms, text) => expect(durationText(ms)).toBe(text));

test.each([
  ["column", "2 columns"],
  ["policy", "2 policies"],
  ["address", "2 addresses"],
  ["key", "2 keys"],
])("several of %s are %s", (one, text) => expect(counted(2, one)).toBe(text));

test("a list says what it leaves out", () => {
  expect(andMore(["a", "b", "c", "d"], "table")).toBe("a, b, c and 1 more table");
  expect(andMore(["a", "b"], "entry", { shown: 1, total: 9 })).toBe("a and 8 more entries");
});

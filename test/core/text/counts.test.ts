import { expect, test } from "vitest";
import { durationText, exactDuration } from "../../../src/core/text/counts.ts";

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
  [0, "0 s"],
  [45_000, "45 s"],
  [60_000, "1 min"],
  [253_000, "4 min 13 s"],
  [7_500_000, "2 h 5 min"],
  [3_659_000, "1 h"],
  [187_200_000, "2 days 4 h"],
])("%d ms are exactly %s", (ms, text) => expect(exactDuration(ms)).toBe(text));

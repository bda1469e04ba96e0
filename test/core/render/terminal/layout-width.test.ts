// Text is as wide as a terminal shows it.
import { expect, test } from "vitest";
import { widthOf } from "../../../../src/core/render/terminal/layout.ts";

test.each([
  ["", 0],
  ["public.users.email", 18],
  ["false → true", 12],
  ["✓ …", 3],
  ["Übersicht", 9],
  ["e\u0301", 1],
  ["日本", 4],
  ["👩‍👩‍👧", 2],
])("%j takes %i columns", (text, columns) => {
  expect(widthOf(text)).toBe(columns);
});

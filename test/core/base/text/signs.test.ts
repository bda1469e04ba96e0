// Errors come first, in their own order.
import { expect, test } from "vitest";
import { errorsFirst } from "../../../../src/core/base/text/signs.ts";

test("errors come first, in their own order", () => {
  const entries = (["info", "error", "warning", "error"] as const).map((severity, index) => ({ severity, index }));
  expect(errorsFirst(entries).map(({ index }) => index)).toEqual([1, 3, 2, 0]);
});

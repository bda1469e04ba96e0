import { expect, test } from "vitest";
import { recentlyUsed } from "../../../../src/features/controller/projects/kept-project.ts";

const keysOf = (values: { readonly get: (key: string) => number | undefined }): string =>
  ["a", "b", "c", "d"].filter((key) => values.get(key) !== undefined).join(" ");

test("the values that were not used for the longest time are removed first", () => {
  const values = recentlyUsed<number>(10);
  for (const key of ["a", "b", "c"]) values.set(key, 1, 3);
  values.get("a");
  values.set("d", 1, 4);
  expect(keysOf(values)).toBe("a c d");
});

test("a larger value removes several", () => {
  const values = recentlyUsed<number>(10);
  for (const key of ["a", "b", "c"]) values.set(key, 1, 3);
  values.set("d", 1, 9);
  expect(keysOf(values)).toBe("d");
});

test("a value that is larger than everything may be is not kept, nor is its earlier one", () => {
  const values = recentlyUsed<number>(10);
  values.set("a", 1, 3);
  values.set("b", 1, 3);
  values.set("a", 2, 11);
  expect(keysOf(values)).toBe("b");
});

test("a value that is set again counts once", () => {
  const values = recentlyUsed<number>(10);
  for (const size of [4, 5, 6]) values.set("a", size, size);
  values.set("b", 1, 4);
  expect([values.get("a"), values.get("b")]).toEqual([6, 1]);
});

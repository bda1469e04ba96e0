import { expect, test } from "vitest";
import { nearest } from "../../src/text/suggest.ts";

test.each<[string, string, readonly string[], string | undefined]>([
  ["a missing letter", "custmers", ["customers", "orders"], "customers"],
  ["two swapped letters, also in a short name", "emial", ["mail", "email"], "email"],
  ["two swapped letters at the end", "tabel", ["label", "table"], "table"],
  ["the same letters in another case, before other similar names", "Orders", ["order", "orders"], "orders"],
  ["nothing for a name that is not similar enough", "id", ["email", "orders"], undefined],
])("%s", (_sentence, text, candidates, expected) => {
  expect(nearest(text, candidates)).toBe(expected);
});

import { expect, test } from "vitest";
import { nearest } from "../../src/text/suggest.ts";

test.each<[string, string, readonly string[], string | undefined]>([
  ["a letter less", "custmers", ["customers", "orders"], "customers"],
  ["two neighbours swapped, in a short name too", "emial", ["mail", "email"], "email"],
  ["two neighbours swapped at the end", "tabel", ["label", "table"], "table"],
  ["another case before any other likeness", "Orders", ["order", "orders"], "orders"],
  ["nothing that is as near as that", "id", ["email", "orders"], undefined],
])("%s", (_sentence, text, candidates, expected) => {
  expect(nearest(text, candidates)).toBe(expected);
});

// A similar name is suggested as it must be written in YAML.
import { expect, test } from "vitest";
import { parse } from "yaml";
import { didYouMean, nearest } from "../../../../src/core/base/text/suggest.ts";

test.each<[string, string, readonly string[], string | undefined]>([
  ["a missing letter", "custmers", ["customers", "orders"], "customers"],
  ["two swapped letters, also in a short name", "emial", ["mail", "email"], "email"],
  ["two swapped letters at the end", "tabel", ["label", "table"], "table"],
  ["the same letters in another case, before other similar names", "Orders", ["order", "orders"], "orders"],
  ["the same letters in another Unicode form, before other similar names", "pr\u00e9nom", ["prenom", "pre\u0301nom"], "pre\u0301nom"],
  ["the same letters with white space around them", "PII", ["PIN", "\u00a0PII   "], "\u00a0PII   "],
  ["the same letters with a character that cannot be seen", "PII", ["PIN", "P\u200bII"], "P\u200bII"],
  ["nothing for a name that is not similar enough", "id", ["email", "orders"], undefined],
])("%s", (_sentence, text, candidates, expected) => {
  expect(nearest(text, candidates)).toBe(expected);
});

test.each<[string, string, string, string]>([
  ["another name as it is", "custmers", "customers", " Did you mean customers?"],
  ["another case as it is", "pii", "PII", " Did you mean PII?"],
  [
    "a decomposed letter with escapes",
    "pr\u00e9nom",
    "pre\u0301nom",
    ' Did you mean "pre\\u0301nom"? That name has the same letters in another Unicode form; paste it with the quotes.',
  ],
  [
    "a composed letter with escapes",
    "pre\u0301nom",
    "pr\u00e9nom",
    ' Did you mean "pr\\u00e9nom"? That name has the same letters in another Unicode form; paste it with the quotes.',
  ],
  [
    "white space with quotes and escapes",
    "PII",
    "PII \u00a0",
    ' Did you mean "PII \\u00a0"? That name differs in white space or invisible characters; paste it with the quotes.',
  ],
])("the suggestion writes %s", (_sentence, text, candidate, expected) => {
  expect(didYouMean(text, [candidate])).toBe(expected);
});

test("what is suggested with quotes is read by YAML as the name", () => {
  const name = 'a"\\\u0301\u{1f600}\u00a0';
  const [quoted] = /".*"(?=\?)/u.exec(didYouMean(name.normalize("NFKC").trim(), [name])) ?? [];
  expect(parse(quoted ?? "")).toBe(name);
});

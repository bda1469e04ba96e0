// A name is written as a pattern that matches this name only.
import { expect, test } from "vitest";
import { nameMatcher } from "../../../../src/core/kinds/patterns/names.ts";
import { escapeGlob } from "../../../../src/features/import/schemas/infer-rules.ts";

test.each(["users", "a*b", "[a]", "{a,b}", "!x", "\\", "\\*", "!", "a?b", "100%", "a,b", "}", "__proto__"])(
  "the pattern for %j matches this name only",
  (name) => {
    const pattern = escapeGlob(name) ?? "";
    const matches = nameMatcher([pattern]);
    expect(matches(name)).toBe(true);
    expect(["axb", "a", "b", "x", "*", "ab", "users2", "\\x"].filter((other) => other !== name && matches(other))).toEqual([]);
  },
);

test("the empty name has no pattern", () => {
  expect(escapeGlob("")).toBeUndefined();
});

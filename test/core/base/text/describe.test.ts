// A rule is named in sentences as its author named it.
import { expect, test } from "vitest";
import { ruleText } from "../../../../src/core/base/text/describe.ts";

test.each([
  ["emails", 'rule "emails"'],
  ["rule 3", "rule 3"],
  ["pii rule 12", "rule 12 of pii"],
  ["my rule", 'rule "my rule"'],
])("the rule named %s is %s in a sentence", (name, expected) => {
  expect(ruleText(name)).toBe(expected);
});

// A value is shown so that it can be recognised and pasted, and a secret is not.
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { isObject, type JsonValue } from "../../../../src/core/base/model/json/json.ts";
import { isSecretName } from "../../../../src/core/base/model/settings/secret.ts";
import { cutMiddle, valueAt, valueLines, valueText } from "../../../../src/core/base/text/values.ts";
import fc, { anyCodePoint } from "../../../support/fast-check.ts";

describe("a value on one line", () => {
  test.each<[JsonValue, string]>([
    ["a\nb", '"a\\nb"'],
    [null, "null"],
    [[1, "x"], '[1, "x"]'],
    [{}, "{}"],
    [{ "a.b": { c: true } }, '{ "a.b": { c: true } }'],
  ])("%j -> %s", (value, text) => {
    expect(valueText(value)).toBe(text);
  });
});

test("a long value keeps both ends", () => {
  expect(cutMiddle("abcdefghij", 5)).toBe("ab…ij");
  expect(cutMiddle("abcde", 5)).toBe("abcde");
  expect(cutMiddle("😀😀😀😀😀", 3)).toBe("😀…😀");
});

test("the last name of a pointer decides whether a string is a secret", () => {
  expect(valueAt("/connection/password", "canary")).toBe("(secret)");
  expect(valueAt("/connection/host", "db")).toBe('"db"');
  expect(valueAt("", "db")).toBe('"db"');
});

test("a value in lines is YAML of the same value", () => {
  const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<JsonValue>("yes", "true", "1h", "a b", "- x", "{", "#", "", "x: y", null, true, 12, -1.5),
      fc.string({ unit: anyCodePoint, maxLength: 5 }),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(fc.oneof(fc.string({ maxLength: 4 }), fc.constantFrom("null", "-", "a.b", "1")), tie("value"), {
        maxKeys: 3,
        noNullPrototype: true,
      }),
    ),
  }));
  fc.assert(
    fc.property(
      value.filter((candidate) => !hasOddKey(candidate)),
      (value) => {
        expect(parse(valueLines(value).join("\n"))).toEqual(value);
      },
    ),
  );
});

// Masked on purpose, or changed by the parser instead of the renderer.
function hasOddKey(value: JsonValue): boolean {
  if (Array.isArray(value)) return value.some(hasOddKey);
  return (
    isObject(value) &&
    Object.entries(value).some(([key, member]) => key === "__proto__" || isSecretName(key) || hasOddKey(member as JsonValue))
  );
}

import type { JsonValue } from "../../../../src/core/base/model/json/json.ts";
import fc, { anyCodePoint } from "../../../support/fast-check.ts";

const scalar = fc.oneof(
  fc.string({ maxLength: 6, unit: anyCodePoint }),
  fc.string({ maxLength: 6 }),
  fc.constantFrom("yes", "~", "1e3", "- a", "a: b", "#", "\u0024{x}", "__proto__", " x "),
  fc.boolean(),
  fc.integer(),
  fc.constant(null),
);
/** Any JSON value, with strings and keys that YAML could take for something else. */
export const json = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    scalar,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.constantFrom("a", "b", "c", "id"), fc.string({ maxLength: 4 })), tie("value"), { maxKeys: 4 }),
  ),
})).value;
/** A map with one to three of the keys a, b and c. */
export const map = fc.dictionary(fc.constantFrom("a", "b", "c"), json, { minKeys: 1 });

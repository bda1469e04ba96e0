// Visible text stays as it is in JSON.
import { expect, test } from "vitest";
import { visible } from "../../../../src/core/base/text/control-characters.ts";
import fc, { anyCodePoint } from "../../../support/fast-check.ts";

test("visible text is the same string in JSON", () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCodePoint }), (text) => {
      expect(JSON.parse(visible(JSON.stringify(text)))).toBe(text);
    }),
  );
});

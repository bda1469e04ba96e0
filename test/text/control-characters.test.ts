import fc from "fast-check";
import { expect, test } from "vitest";
import { visible } from "../../src/text/control-characters.ts";

test("visible text is the same string in JSON", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(JSON.parse(visible(JSON.stringify(text)))).toBe(text);
    }),
  );
});

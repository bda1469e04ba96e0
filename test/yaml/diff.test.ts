import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson } from "../../src/model/json/json.ts";
import { applyEdits, valueEdits } from "../../src/yaml/diff.ts";
import { json } from "./values.ts";

test("the edits turn one value into the other", () => {
  fc.assert(
    fc.property(json, json, (a, b) => {
      expect(canonicalJson(applyEdits(a, valueEdits(a, b)))).toBe(canonicalJson(b));
    }),
    { numRuns: 500 },
  );
});

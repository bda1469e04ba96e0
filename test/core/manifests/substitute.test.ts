// Values are substituted in place, whatever their names.
import { expect, test } from "vitest";
import { read } from "../../../src/core/base/yaml/read.ts";
import { makeEffective } from "../../../src/core/manifests/substitute.ts";
import fc from "../../support/fast-check.ts";
import { runs } from "../../support/sample.ts";
import { mutatedManifest } from "../base/yaml/texts.ts";

const noVariables = { kind: undefined, variables: new Map(), textLength: 0 };

test("names like __proto__ stay own members", () => {
  const names = ["__proto__", "constructor", "toString", "a/b", "", "<<"];
  const value = read(names.map((name) => `${JSON.stringify(name)}: { enabled: true }`).join("\n")).documents[0]?.value;
  const { value: after } = makeEffective({ spec: value }, { file: "", document: 0, pointer: "" }, noVariables);
  expect(Object.keys((after as Record<string, object>)["spec"] ?? {})).toEqual(names);
});

test("a tree that is skipped because its text has no special characters has no problems and no references", () => {
  const place = { file: "", document: 0, pointer: "" };
  const wrapped = mutatedManifest.map((text) => `kind: SchemaConfig\nspec:\n  token: 1\n  schemas:\n${text.replaceAll(/^/gmu, "    ")}\n`);
  const numRuns = runs(100, 8_000);
  let passedOver = 0;
  fc.assert(
    fc.property(fc.oneof(mutatedManifest, wrapped), (text) => {
      for (const { value, isInert } of read(text).documents) {
        if (!isInert) continue;
        const options = { ...noVariables, kind: "SchemaConfig", textLength: text.length };
        const inert = makeEffective(value, place, { ...options, isInert });
        expect(inert).toEqual(makeEffective(value, place, options));
        expect(inert.value).toBe(value);
        passedOver++;
      }
    }),
    { numRuns },
  );
  expect(passedOver).toBeGreaterThan(numRuns / 40);
});

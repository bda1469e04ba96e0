import { expect, test } from "vitest";
import { renderers } from "../../../src/render/index.ts";
import { invalid } from "../diagnostics.ts";
import { driftReport, fullPlan } from "../full-plan.ts";
import { fullResult } from "../results.ts";

const options = { color: true, verbose: false };

test.each([
  ["a plan", fullPlan],
  ["a drift report", driftReport],
  ["a result", fullResult],
  ["a validation", invalid],
])("%s is printed completely, and ends with one newline", (_, document) => {
  const text = renderers.json(document, options);
  expect(JSON.parse(text)).toEqual(document);
  expect(text).toMatch(/^\{\n {2}"(?:formatVersion|kind)".*[^\n]\n$/su);
});

test("the order of keys does not depend on their order in the input", () => {
  const backwards = reversed(fullPlan) as typeof fullPlan;
  expect(Object.keys(backwards)[0]).not.toBe("formatVersion");
  expect(renderers.json(backwards, options)).toBe(renderers.json(fullPlan, options));
});

test("a member named __proto__ is an ordinary one", () => {
  const bindings = JSON.parse('{ "__proto__": "p-1", "constructor": "c-1" }') as Record<string, string>;
  expect(renderers.json({ ...fullResult, bindings }, options)).toMatch(/"__proto__": "p-1",\n\s+"constructor": "c-1"/u);
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, reversed(member)]),
  );
}

// JSON is what JSON.stringify would print, whatever its size.
import { expect, test } from "vitest";
import { formats } from "../../../../src/core/render/formats.ts";
import { renderers } from "../../../../src/core/render/index.ts";
import { documentPieces } from "../../../../src/core/render/machine/json.ts";
import { readySteps, withReady } from "../../../support/steps.ts";
import { invalid } from "../diagnostics.ts";
import { driftReport, fullPlan } from "../full-plan.ts";
import { fullResult } from "../results.ts";

const options = { color: true, verbose: false };

test.each([
  ["a plan", fullPlan],
  ["a drift report", driftReport],
  ["a result", fullResult],
  ["a validation", invalid],
])("%s is what JSON.stringify would print", (_, document) => {
  const text = renderers.json(document, options);
  expect(JSON.parse(text)).toEqual(document);
  expect(text).toBe(`${JSON.stringify(JSON.parse(text), undefined, 2)}\n`);
});

/** A plan whose first two items change very many columns. */
function largePlan(columns: number): typeof fullPlan {
  const names = Array.from({ length: columns }, (_, i) => `c${i}`);
  const change = { field: "hashed", before: false, after: true, risk: "protects", count: columns, nodes: { s: { t: names } } } as const;
  return withReady(
    fullPlan,
    readySteps(fullPlan).map((item, index) => (index < 2 ? { ...item, changes: [change] } : item)),
  );
}

test("a large item is printed in one line and in a piece of its own, so that no string is too long", () => {
  const plan = largePlan(20_000);
  const pieces = [...documentPieces(plan)];
  const text = pieces.join("");
  expect(text).toBe(renderers.json(plan, options));
  expect(JSON.parse(text)).toEqual(plan);
  const large = pieces.filter((piece) => piece.length > 100_000);
  expect(large.map((piece) => piece.trim().split("\n").length)).toEqual([2, 2]);
  expect(pieces.filter((piece) => piece.length < 100_000).join("")).toContain('\n      "id": "s3",\n');
});

test("the documents of several targets are one list", async () => {
  const render = await formats.json();
  const text = [...render([fullPlan, driftReport], options)].join("");
  expect(JSON.parse(text)).toEqual([fullPlan, driftReport]);
  expect(text).toBe(`[\n${renderers.json(fullPlan, options).trimEnd()},\n${renderers.json(driftReport, options).trimEnd()}\n]\n`);
});

test("a member named __proto__ is an ordinary one", () => {
  const bindings = JSON.parse('{ "__proto__": "p-1", "constructor": "c-1" }') as Record<string, string>;
  expect(renderers.json({ ...fullResult, bindings }, options)).toMatch(/"__proto__": "p-1",\n\s+"constructor": "c-1"/u);
});

import { expect, test } from "vitest";
import { formats } from "../../../src/render/formats.ts";
import { renderers } from "../../../src/render/index.ts";
import { documentPieces } from "../../../src/render/machine/json.ts";
import { ndjsonPieces } from "../../../src/render/machine/ndjson.ts";
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

test.each([
  ["a plan", fullPlan],
  ["a drift report", driftReport],
  ["a result", fullResult],
  ["a validation", invalid],
])("%s is what JSON.stringify would print", (_, document) => {
  const text = renderers.json(document, options);
  expect(text).toBe(`${JSON.stringify(JSON.parse(text), undefined, 2)}\n`);
});

/** A plan with one item that changes very many columns. */
function largePlan(count: number): typeof fullPlan {
  const [item] = fullPlan.items;
  if (item === undefined) throw new Error("The plan has no item.");
  const changes = Array.from({ length: count }, (_, i) => ({
    path: `/schemas/s/tables/t/columns/c${i}/hashed`,
    before: false,
    after: true,
    risk: "protects" as const,
  }));
  return { ...fullPlan, items: [{ ...item, changes }] };
}

test("a large plan is printed in pieces, so that its length is not limited by that of a string", () => {
  const plan = largePlan(20_000);
  const pieces = [...documentPieces(plan)];
  expect(pieces.join("")).toBe(renderers.json(plan, options));
  expect(JSON.parse(pieces.join(""))).toEqual(plan);
  expect(pieces.length).toBeGreaterThan(20);
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(200_000);
});

test("events are printed piece by piece, one on each line", () => {
  const pieces = [...ndjsonPieces(fullPlan)];
  const text = pieces.join("");
  expect(text).toBe(renderers.ndjson(fullPlan));
  expect(pieces.length).toBeGreaterThan(text.split("\n").length);
  for (const line of text.trimEnd().split("\n")) expect(JSON.parse(line)).toMatchObject({ formatVersion: "1.0" });
});

test("the documents of several targets are one list", async () => {
  const render = await formats.json();
  const text = [...render([fullPlan, driftReport], options)].join("");
  expect(JSON.parse(text)).toEqual([fullPlan, driftReport]);
  expect(text).toBe(`[\n${renderers.json(fullPlan, options).trimEnd()},\n${renderers.json(driftReport, options).trimEnd()}\n]\n`);
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

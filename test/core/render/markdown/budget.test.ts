// A comment fits, keeps its totals and says what it leaves out.
import { describe, expect, test } from "vitest";
import { toPointer } from "../../../../src/core/base/model/json/pointer.ts";
import type { Plan } from "../../../../src/core/base/model/plan.ts";
import { type Code, titles } from "../../../../src/core/base/model/titles.ts";
import { renderers } from "../../../../src/core/render/index.ts";
import { contentText } from "../../../../src/core/render/report/headline.ts";
import { endedFrom, stepsFrom } from "../../../support/steps.ts";
import { diagnostics, invalid } from "../diagnostics.ts";
import { fullPlan, planOfColumns } from "../full-plan.ts";
import { change, item, plan } from "../plans.ts";
import { fullResult } from "../results.ts";
import { faults } from "./structure.ts";

const codes = Object.keys(titles) as readonly Code[];

const many = <T>(draw: (index: number) => T, count = 1_000): T[] => Array.from({ length: count }, (_, index) => draw(index));
const columnChange = (index: number) =>
  change({ path: toPointer(["schemas", "public", "tables", `t${index % 90}`, "columns", `c${index}`, "hashed"]) });

const plans: Readonly<Record<string, Plan>> = {
  "one object with 1 000 changes by one rule": plan({ items: [item({ changes: many(columnChange) })] }),
  "one object with 1 000 changes by 1 000 rules": plan({
    items: [
      item({ changes: many((index) => ({ ...columnChange(index), cause: { rule: `rule ${index}`, file: "a.yaml", line: index } })) }),
    ],
  }),
  "1 000 objects with one change each": plan({
    items: many((index) => item({ id: `i${index}`, address: `Schemas/o${index}`, changes: [columnChange(index)] })),
  }),
  "1 000 relations of one tag": plan({
    items: many((index) => item({ id: `i${index}`, address: `Tag/pii#${index}`, verb: "relate" })),
  }),
  "1 000 differences by hand": plan({
    steps: stepsFrom({
      byHand: many((index) => ({ address: `Integration/i${index}`, path: "/paused", instruction: "Resume it. ".repeat(9) })),
    }),
  }),
  "1 000 policy findings": plan({
    findings: many((index) => ({
      rule: "Policy/p",
      severity: "error" as const,
      state: "new" as const,
      address: "Schemas/b",
      path: columnChange(index).path,
      message: "unhashed",
    })),
  }),
  "3 000 columns of an object that waits": plan({
    steps: stepsFrom({
      waiting: [
        {
          verb: "update",
          address: "Schemas/b",
          waitsFor: ["Integration/b"],
          desired: Object.fromEntries(many((index) => [`c${index}`, { hashed: true }], 3_000)),
        },
      ],
    }),
  }),
  "a value of 100 000 characters": plan({ items: [item({ changes: [change({ path: "/description", after: "x".repeat(100_000) })] })] }),
};

describe.each(Object.entries(plans))("%s", (_, large) => {
  test.each([60_000, 4_000, 700])("fits in %i characters, is well-formed, and has the totals", (budget) => {
    const text = renderers.markdown(large, { color: false, verbose: false, budget });
    expect(text.length).toBeLessThanOrEqual(budget);
    expect(faults(text)).toEqual([]);
    expect(text).toContain(contentText(large));
  });
});

test("a plan of 212 changes is as short as one of 1 000", () => {
  const lines = (count: number): number => renderers.markdown(planOfColumns(count), { color: false, verbose: false }).split("\n").length;
  expect(lines(212)).toBe(lines(1_000));
  expect(lines(212)).toBeLessThan(30);
});

test("a document that fits is not shortened", () => {
  expect(renderers.markdown(fullPlan, { color: false, verbose: false })).not.toContain("Shortened");
});

test("a document is shortened only as far as necessary, and says so", () => {
  const text = renderers.markdown(plans["1 000 differences by hand"] ?? fullPlan, { color: false, verbose: false });
  expect(text).toContain("**Shortened:** Lists end after 100 entries. See everything with `dimsync plan -v`");
  expect(text).toContain("and 900 more steps");
});

test("results and validations are within the budget, too", () => {
  const items = many((index) => ({
    address: `Tag/t${index}`,
    kind: "Tag",
    outcome: "failed" as const,
    message: "It was refused. ".repeat(9),
  }));
  const validation = {
    ...invalid,
    findings: many((index) => ({
      ...diagnostics[0],
      rule: codes[index % codes.length] ?? "E_USAGE",
      severity: "error" as const,
      summary: "x",
      message: "y",
    })),
  };
  for (const document of [{ ...fullResult, steps: endedFrom(items) }, validation]) {
    const text = renderers.markdown(document, { color: false, verbose: false });
    expect(text.length).toBeLessThanOrEqual(60_000);
    expect(text).toContain("1000 ");
    expect(text).toContain("more");
    expect(faults(text)).toEqual([]);
  }
});

// Plans, reports and results are plain data, and apply of a parsed plan does what the plan says.
import { expect, test } from "vitest";
import { eachChange } from "../../src/core/base/model/changes.ts";
import { canonicalJson } from "../../src/core/base/model/json/json.ts";
import { type Plan, type Result, type Step, stepsOf } from "../../src/core/base/model/plan.ts";
import { renderers } from "../../src/core/render/index.ts";
import type { Exchange } from "../../src/embedded/index.ts";
import { isPlain } from "../support/changes.ts";
import fc from "../support/fast-check.ts";
import { runs } from "../support/sample.ts";
import { readySteps } from "../support/steps.ts";
import { accountOf, manifestsOf, randomAccount } from "./accounts.ts";
import { inOneFile, withProject } from "./run.ts";

const usual = { numRuns: runs(2, 200) };

/** What JSON.parse returns for the printed document. */
const parsed = <T>(document: T): T => JSON.parse(JSON.stringify(document)) as T;

/** Every object copied by a spread. */
function spread<T>(value: T): T {
  if (Array.isArray(value)) return value.map(spread) as T;
  if (typeof value !== "object" || value === null) return value;
  const copy: object = { ...value };
  for (const [key, member] of Object.entries(copy)) Object.defineProperty(copy, key, { value: spread(member) });
  return copy as T;
}

function expectPlain<T extends Plan | Result>(document: T): void {
  expect(parsed(document)).toEqual(document);
  expect(isPlain(document)).toBe(true);
  const options = { color: false, verbose: true };
  for (const copy of [parsed(document), spread(document)])
    for (const render of Object.values(renderers)) expect(render(copy, options)).toBe(render(document, options));
}

const listed = (items: readonly Step[]): readonly string[] =>
  items.flatMap((item) => Array.from(eachChange(item), (change) => canonicalJson([item.address, change])));

test("plans, drift reports and results are plain data; apply of a parsed plan sends its requests and reports its changes", async () => {
  await fc.assert(
    fc.asyncProperty(randomAccount, async (random) => {
      const files = inOneFile(manifestsOf(random));
      await withProject(accountOf(random, false), files, random.form, async ({ plan, drift, apply, calls }) => {
        const made = await plan();
        const report = await drift();
        for (const document of [made, report]) expectPlain(document);
        calls();
        const result = await apply({ saved: parsed(made) });
        expectPlain(result);
        const sent = calls().filter(({ method }: Exchange) => method !== "GET");
        expect(sent.length).toBeGreaterThanOrEqual(readySteps(made).flatMap(({ requests }) => requests).length);
        const ofPlan = new Set(readySteps(made).map(({ address }) => address));
        const reported = stepsOf(result, "ready").filter(({ address }) => ofPlan.has(address));
        expect(new Set(listed(reported))).toEqual(new Set(listed(readySteps(made))));
      });
    }),
    usual,
  );
});

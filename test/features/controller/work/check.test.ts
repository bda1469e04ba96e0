import { expect, test } from "vitest";
import { checkProject } from "../../../../src/features/controller/work/check.ts";
import { findingsOf } from "../../../../src/features/controller/work/findings.ts";
import { env, story } from "../../../core/drift/account.ts";

const manifest = "apiVersion: dimsync/v1\nkind: Integration\nmetadata: { name: orders }\nspec:\n  match: { name: Orders }\n";

test.each<[string, number, boolean]>([
  ["429", 429, true],
  ["503", 503, true],
  ["403", 403, false],
])("a read that fails with %s makes the check fail; only an overload slows the next one down", async (_, status, isThrottled) => {
  const at = await story({ "orders.yaml": manifest }, { client: { retries: 0 } });
  at.service.addFault(`GET /v1/integrations=status:${status}`);
  const outcome = await checkProject(at.load, { env: env(at.service), signal: new AbortController().signal });
  expect(outcome).toMatchObject({ exit: { code: 1 }, isThrottled });
  expect(outcome.report?.diagnostics).toEqual([expect.objectContaining({ code: "E_READ_FAILED", status })]);
  // One failed read is one cause: the failure of the run, not each object that it leaves unknown.
  expect(outcome.report?.blocked.length).toBeGreaterThan(0);
  expect(outcome.report && findingsOf(outcome.report)).toEqual([]);
});

// The example of personal data is valid, has the plan of its README, and matches after apply.

import { expect, test } from "vitest";
import { policyFindings } from "../../src/core/base/model/findings.ts";
import { diagnosticsOf } from "../support/findings.ts";
import { byHandSteps, readySteps } from "../support/steps.ts";
import { exampleOf, expectShown } from "./example.ts";

test("the example is valid, has the plan of its README, and matches after apply", async () => {
  const { run, made } = exampleOf("pii");
  expect(await run("validate")).toMatchObject({ code: 0, stdout: expect.stringContaining("no problems found") });
  const plan = await run("plan");
  expectShown("pii", plan.stdout);
  expect(diagnosticsOf(await made("plan"))).toEqual([]);
  expect((await run("apply", "--yes")).code).toBe(0);
  const left = await made("plan");
  expect([readySteps(left), byHandSteps(left), policyFindings(left), diagnosticsOf(left)]).toEqual([[], [], [], []]);
  expect((await run("drift")).code).toBe(0);
});

test("before apply, drift reports that the account violates the policy", async () => {
  const { made } = exampleOf("pii");
  const report = await made("drift");
  const [policy, exit] = [policyFindings(report), report.exit];
  expect(exit.code).toBe(3);
  expect([...new Set(policy.map(({ rule }) => rule))]).toEqual(["Policy/pii-must-be-hashed"]);
  expect(policy.map(({ path }) => path.split("/").slice(4).join("/"))).toContain("customers/columns/email/hashed");
});

test("without the rules, or without the exemption, the policy reports unhashed columns", async () => {
  const { made, change } = exampleOf("pii");
  change(
    "manifests/integrations.yaml",
    "spec:\n  integration: billing\n  rules:\n    - use: pii-columns\n",
    "spec:\n  integration: billing\n",
  );
  change("manifests/policies.yaml", "column: phone", "column: fax");
  const planned = await made("plan");
  const [policy, exit] = [policyFindings(planned), planned.exit];
  expect(exit).toEqual({ code: 0, reasons: [] });
  const existing = policy.filter(({ state }) => state === "existing");
  expect(existing.map(({ address, path, file, line }) => `${address} ${path.split("/").slice(4).join("/")} ${file}:${line}`)).toEqual([
    "Schemas/billing invoices/columns/billing_email/hashed manifests/policies.yaml:11",
    "Schemas/orders customers/columns/phone/hashed manifests/integrations.yaml:27",
  ]);
  expect((await made("plan", "--fail-on", "policy")).exit).toEqual({ code: 2, reasons: ["policy"] });
});

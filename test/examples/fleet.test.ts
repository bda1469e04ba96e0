// The example of a fleet is valid, has the plan of its README, and matches after apply.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { policyFindings } from "../../src/core/base/model/findings.ts";
import type { SchemaMap } from "../../src/embedded/data/account.ts";
import { diagnosticsOf } from "../support/findings.ts";
import { byHandSteps, readySteps } from "../support/steps.ts";
import { exampleOf, expectShown } from "./example.ts";

test("the fleet is valid, has the plan of its README, and matches after apply", async () => {
  const { run, made } = exampleOf("fleet");
  expect(await run("validate")).toMatchObject({ code: 0, stdout: expect.stringContaining("no problems found") });
  const plan = await run("plan");
  expectShown("fleet", plan.stdout);
  expect(diagnosticsOf(await made("plan"))).toEqual([]);
  expect((await run("apply", "--yes")).code).toBe(0);
  const left = await made("plan");
  expect([readySteps(left), byHandSteps(left), policyFindings(left), diagnosticsOf(left)]).toEqual([[], [], [], []]);
  expect((await run("drift")).code).toBe(0);
});

test("a new column in one shard is counted, listed on request, and can fail a run", async () => {
  const { run, made, folder } = exampleOf("fleet");
  expect((await run("apply", "--yes")).code).toBe(0);
  const before = await made("plan");
  expect(before.unmanaged.tables).toBeUndefined();
  const account = join(folder, ".dimsync/account.json");
  const text = readFileSync(account, "utf8");
  const state = JSON.parse(text) as { integrations: { id: string; schemas: SchemaMap }[] };
  const orders = state.integrations.find(({ id }) => id === "51a2")?.schemas["public"]?.tables["orders"];
  Object.assign(orders?.columns ?? {}, {
    social_security_no: { nameInDestination: "ssn", enabled: true, hashed: false, isPrimaryKey: false },
  });
  writeFileSync(account, JSON.stringify(state));

  const after = await made("plan", "-v");
  expect(after.unmanaged.columns).toBe(before.unmanaged.columns + 1);
  expect(after.unmanaged.tables?.filter(({ columns = [] }) => columns.includes("social_security_no"))).toEqual([
    expect.objectContaining({ address: "Schemas/shop-shard-02", schema: "public", table: "orders" }),
  ]);
  for (const command of ["plan", "drift"]) {
    const failed = await run(command, "--fail-on", "unmanaged");
    expect(failed.code).toBe(2);
    expect(failed.stdout).toMatch(/^ {4}public\.orders +[^\n]*\bsocial_security_no\b/mu);
  }
  expect((await run("drift", "-v")).stdout).toContain(`${after.unmanaged.columns} columns`);
});

test("its policy reports what the rules allow, at the rule's line, and refuses it on request", async () => {
  const { made, change } = exampleOf("fleet");
  change(
    "manifests/shops.yaml",
    "[orders, customers] }\n      set: { enabled: true }",
    "[orders, customers, payments] }\n      set: { enabled: true }",
  );
  const planned = await made("plan");
  const [policy, exit] = [policyFindings(planned), planned.exit];
  expect(exit).toEqual({ code: 0, reasons: [] });
  expect(policy.map(({ state, address, path, file, line }) => `${state} ${address} ${path} ${file}:${line}`)).toEqual([
    "existing Schemas/shop-shard-01 /schemas/public/tables/payments/enabled manifests/shops.yaml:11",
    "existing Schemas/shop-shard-02 /schemas/public/tables/payments/enabled manifests/shops.yaml:11",
  ]);
  expect((await made("plan", "--fail-on", "policy")).exit).toEqual({ code: 2, reasons: ["policy"] });
});

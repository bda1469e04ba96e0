// Each example without a demo is valid, has the plan of its README, and matches after apply.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findingsOf, policyFindings } from "../../src/core/base/model/findings.ts";
import type { SchemaMap } from "../../src/embedded/data/account.ts";
import { diagnosticsOf } from "../support/findings.ts";
import { byHandSteps, readySteps } from "../support/steps.ts";
import { exampleOf, expectShown } from "./example.ts";

const apply = ["apply", "--yes", "--allow", "maxChangedPercent=first"] as const;

test.each(["fleet", "pii", "privacy"])("%s is valid, has the plan of its README, and matches after apply", async (name) => {
  const { run, made } = exampleOf(name);
  expect(await run("validate")).toMatchObject({ code: 0, stdout: expect.stringContaining("no problems found") });
  expectShown(name, (await run("plan")).stdout);
  expect(diagnosticsOf(await made("plan"))).toEqual([]);
  expect((await run(...(name === "privacy" ? apply : apply.slice(0, 2)))).code).toBe(0);
  const left = await made("plan");
  expect([readySteps(left), byHandSteps(left), policyFindings(left), diagnosticsOf(left)]).toEqual([[], [], [], []]);
  expect((await run("drift")).code).toBe(0);
});

test("a new column in one shard of the fleet is counted, listed on request, and can fail a run", async () => {
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

describe("the example of labels and catalog", () => {
  test("labels columns by name, by dbt and by a CSV file", async () => {
    const sources = readySteps(await exampleOf("privacy").made("plan")).flatMap(({ changes }) =>
      changes.map(({ cause }) => cause?.label?.source.replace(/[ ,(:].*$/u, "")),
    );
    expect([...new Set(sources)].sort()).toEqual(["Classification/personal", "classification.csv", "models/sources.yml"]);
  });

  test("has a catalog of every column, so that a new one is listed with its label", async () => {
    const { run, made, change } = exampleOf("privacy");
    expect(findingsOf(await made("plan"), "columns")).toEqual([]);
    change("dimsync.catalog.yaml", ", phone", "");
    const { code, stdout } = await run("plan");
    expect(code).toBe(0);
    expect(stdout).toMatch(/3 new columns.*\n +public\.customers\.phone +replicated, unhashed, label pii /u);
  });

  test("has a register that shows what is readable, until apply hashes it", async () => {
    const { run } = exampleOf("privacy");
    const before = await run("register");
    expect(before.code).toBe(3);
    expect(before.stdout).toContain("Breaks Policy/pii-must-be-hashed");
    await run(...apply);
    const after = await run("register", "-o", "human", "-o", "csv=register.csv");
    expect(after.code).toBe(0);
    expect(after.stdout).toContain("3 readable (3 exempt)");
  });
});

test("a dbt manifest that is missing stops the plan and names the command that makes it", async () => {
  const { run, change } = exampleOf("privacy");
  change("manifests/personal.yaml", "dbt/target/manifest.json, label: pii", "dbt/target/gone.json, label: pii");
  const { code, stderr, stdout } = await run("plan");
  expect(code).toBe(1);
  expect(stdout + stderr).toContain("E_DBT_MANIFEST");
  expect(stdout + stderr).toContain("dbt parse");
});

// The example of labels and catalog is valid, has the plan of its README, and matches after apply.

import { describe, expect, test } from "vitest";
import { findingsOf, policyFindings } from "../../src/core/base/model/findings.ts";
import { diagnosticsOf } from "../support/findings.ts";
import { byHandSteps, readySteps } from "../support/steps.ts";
import { exampleOf, expectShown } from "./example.ts";

const allow = ["apply", "--yes", "--allow", "maxChangedPercent=first"] as const;

describe("the example", () => {
  test("is valid, has the plan of its README, and matches after apply", async () => {
    const { run, made } = exampleOf("privacy");
    expect(await run("validate")).toMatchObject({ code: 0, stdout: expect.stringContaining("no problems found") });
    expectShown("privacy", (await run("plan")).stdout);
    expect(diagnosticsOf(await made("plan"))).toEqual([]);
    expect((await run(...allow)).code).toBe(0);
    const left = await made("plan");
    expect([readySteps(left), byHandSteps(left), policyFindings(left), diagnosticsOf(left)]).toEqual([[], [], [], []]);
  });

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
    await run(...allow);
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

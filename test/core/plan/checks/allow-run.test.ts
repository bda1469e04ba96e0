// An entry of allow lifts the guard that it names, and nothing else.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Result } from "../../../../src/core/base/model/plan.ts";
import { dayIn } from "../../../support/clock.ts";
import { diagnosticsOf } from "../../../support/findings.ts";
import { openProject } from "../../../support/open-project.ts";
import { configText } from "../../../support/project-folder.ts";

const enableAll = `apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: orders }
spec: { integration: { id: "8f1c" }, rules: [{ id: all, match: { column: "*" }, set: { enabled: true } }] }
`;

/** A project with one rule that exposes columns of an integration. */
async function project() {
  const parts = { guards: { maxExposedColumns: 0 } };
  const { service, folder, run, made, write } = await openProject({ "manifests/orders.yaml": enableAll }, { parts });
  const allow = (entry: object) => write("dimsync.yaml", configText(service.url, { ...parts, allow: [entry] }));
  return { run, plan: () => made("plan"), allow, config: () => readFileSync(join(folder, "dimsync.yaml"), "utf8") };
}

const entry = { guard: "maxExposedColumns", address: "Schemas/Orders", reason: "new columns (DPIA-41)" };

test("an entry of the config lifts a guard; plan, comment and result show it", async () => {
  const { run, plan, allow } = await project();
  expect((await run("plan")).code).toBe(3);
  const comment = (await run("plan", "-o", "markdown")).stdout;
  expect(comment).toContain('  - { guard: maxExposedColumns, address: Schemas/Orders, reason: "…", until: YYYY-MM-DD }\n');
  const until = dayIn(14);
  allow({ ...entry, until });
  const made = await plan();
  expect(made).toMatchObject({
    executable: true,
    findings: [{ rule: entry.guard, guard: { allowed: entry.reason, until } }],
  });
  const shown = `Reason: ${entry.reason}, until ${until} (allow in dimsync.yaml)`;
  expect((await run("plan")).stdout).toContain(shown);
  expect((await run("plan", "-o", "markdown")).stdout).toContain(shown);
  const { code, stdout } = await run("apply", "--yes", "-o", "json");
  expect(code).toBe(0);
  expect((JSON.parse(stdout) as Result).findings).toMatchObject([{ guard: { allowed: entry.reason, until } }]);
  // Now it lifts nothing.
  expect(diagnosticsOf(await plan())).toMatchObject([{ code: "W_UNUSED", file: "dimsync.yaml" }]);
});

test.each([
  ["SchemaConfig/orders", "W_UNUSED"],
  ["Schemas/hr-*", "W_UNUSED"],
  ["Schemas/Ordres", "E_UNKNOWN_ADDRESS"],
])("an entry for another object, %s, lifts nothing: %s", async (address, code) => {
  const { run, plan, allow } = await project();
  allow({ ...entry, guard: "maxCreates", address, until: dayIn(14) });
  expect(await plan()).toMatchObject({
    executable: false,
    findings: [{ rule: code, file: "dimsync.yaml", line: expect.any(Number) }, { rule: "maxExposedColumns" }],
  });
  if (code === "E_UNKNOWN_ADDRESS") expect((await run("drift")).stdout).toContain("Did you mean Schemas/Orders?");
});

test.each<[days: number, code: string, exit: number, ofValidate: number]>([
  [-1, "W_UNUSED", 3, 0],
  [32, "E_DATE_TOO_LATE", 1, 1],
])("an entry that ends in %i days is reported at its line, and lifts nothing", async (days, code, exit, ofValidate) => {
  const { run, allow, config } = await project();
  allow({ ...entry, until: dayIn(days) });
  const line =
    config()
      .split("\n")
      .findIndex((text) => text.includes("until:")) + 1;
  for (const [command, expected] of [
    ["plan", exit],
    ["validate", ofValidate],
  ] as const) {
    const ran = await run(command);
    expect([command, ran.code]).toEqual([command, expected]);
    expect(ran.stdout).toContain(code);
    expect(ran.stdout).toContain(`dimsync.yaml:${line}:`);
  }
});

test.each([{ reason: "x" }, { until: dayIn(3) }, { guard: "maxEverything", reason: "x", until: dayIn(3) }])(
  "%j is refused",
  async (part) => {
    const { run, allow } = await project();
    allow({ guard: "maxCreates", ...part });
    expect((await run("validate")).code).toBe(1);
  },
);

test.each([
  ["a date that does not exist", { ...entry, until: "2026-11-31" }],
  ["an unknown guard and an old date", { ...entry, guard: "maxCreate", until: "2020-01-31" }],
])("an entry with %s is reported once", async (_, faulty) => {
  const { plan, allow } = await project();
  allow(faulty);
  const diagnostics = diagnosticsOf(await plan());
  expect(diagnostics.map(({ code }) => code)).toEqual(["E_WRONG_VALUE"]);
});

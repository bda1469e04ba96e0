// Each document looks as the file in this folder, in every format.
import { expect, test } from "vitest";
import { stepsOf } from "../../../src/core/base/model/plan.ts";
import { type Document, type Format, type RenderOptions, renderers } from "../../../src/core/render/index.ts";
import { diagnostics, invalid } from "./diagnostics.ts";
import { fleetPlan } from "./fleet-plan.ts";
import { driftReport, fullPlan, planOfColumns } from "./full-plan.ts";
import { protectPlan, protectResult } from "./held.ts";
import { change, item, plan } from "./plans.ts";
import { doneResult, fullResult } from "./results.ts";

const valid: Document = { kind: "Validation", manifests: 8, files: 4, findings: [], exit: { code: 0, reasons: [] } };
const warned: Document = { ...valid, findings: diagnostics.slice(1, 2) };
const blind = plan({
  complete: false,
  findings: [
    {
      rule: "E_READ_FAILED",
      severity: "error",
      summary: "A read failed",
      message: "GET /v1/tags was answered with 403. The key may not read tags.",
    },
  ],
  exit: { code: 1, reasons: ["incomplete"] },
});
const unverified = plan({ steps: stepsOf(fullPlan, "unseen") });

// The texts are reviewed like code. File, document, options.
const rows: [file: string, document: Document, options?: Partial<RenderOptions>][] = [
  ["plan.txt", fullPlan],
  ["plan-verbose.txt", fullPlan, { verbose: true }],
  [
    "plan-color.txt",
    plan({ items: [item({ changes: [change(), change({ risk: "exposes", before: true, after: false })] })] }),
    { color: true },
  ],
  ["plan-large.txt", planOfColumns(400)],
  ["plan-fleet.txt", fleetPlan()],
  ["drift-fleet.txt", fleetPlan("DriftReport")],
  ["plan-empty.txt", plan()],
  ["plan-unverified.txt", unverified],
  ["plan-incomplete.txt", blind],
  ["drift.txt", driftReport],
  ["drift-empty.txt", plan({ kind: "DriftReport" })],
  ["plan-protect-only.txt", protectPlan],
  ["plan-protect-only-verbose.txt", protectPlan, { verbose: true }],
  ["plan-protect-only.md.txt", protectPlan],
  ["result-protect-only.txt", protectResult],
  ["result.txt", fullResult],
  ["result-verbose.txt", fullResult, { verbose: true }],
  ["result-done.txt", doneResult],
  ["result-nothing.txt", { ...doneResult, steps: [], calls: { sent: {} } }],
  ["validation.txt", invalid],
  ["validation-valid.txt", valid],
  ["validation-warned.txt", warned],
  ["plan.md.txt", fullPlan],
  ["plan-grouped.md.txt", planOfColumns(20)],
  ["plan-by-rule.md.txt", fullPlan, { budget: 7_000 }],
  ["plan-by-object.md.txt", fullPlan, { budget: 4_900 }],
  ["plan-fleet.md.txt", fleetPlan()],
  ["plan-counts.md.txt", fullPlan, { budget: 700 }],
  ["plan-empty.md.txt", plan()],
  ["drift.md.txt", driftReport],
  ["result.md.txt", fullResult],
  ["result-done.md.txt", doneResult],
  ["validation.md.txt", invalid],
];

test.each(rows)("%s", async (file, document, options = {}) => {
  const format: Format = file.endsWith(".md.txt") ? "markdown" : "human";
  const text = renderers[format](document, { color: false, verbose: false, ...options });
  await expect(text).toMatchFileSnapshot(`golden/${file}`);
});

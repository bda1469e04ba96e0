// The exit code of plan, drift and apply follows from the document.
import { describe, expect, test } from "vitest";
import type { ExitCode } from "../../../src/core/base/model/exit.ts";
import type { Finding, Plan, Result } from "../../../src/core/base/model/plan.ts";
import type { Code } from "../../../src/core/base/model/titles.ts";
import { applyExit, type FailOn, planExit } from "../../../src/core/plan/exit-codes.ts";
import { guard } from "../../support/findings.ts";
import { endedFrom, type FlatEnding, stepsFrom } from "../../support/steps.ts";
import { item, plan } from "../render/plans.ts";

const error: Finding = { rule: "E_USAGE", severity: "error", summary: "x", message: "x" };
const warning: Finding = { rule: "W_NO_MATCH", severity: "warning", summary: "x", message: "x" };
const byHand = stepsFrom({ byHand: [{ address: "Integration/a", path: "/paused", instruction: "x" }] });
const blocked = (code: Code): Plan["steps"] => stepsFrom({ blocked: [{ address: "Tag/a", code, message: "x" }] });
const refusing = { findings: [guard("maxCreates")] };

describe("the exit codes of plan and drift", () => {
  const rows: readonly [sentence: string, plan: Parameters<typeof plan>[0], plain: ExitCode, detailed: ExitCode, drift: ExitCode][] = [
    ["nothing to do", {}, 0, 0, 0],
    ["changes", { items: [item()] }, 0, 2, 2],
    [
      "something that waits",
      { steps: stepsFrom({ waiting: [{ verb: "relate", address: "Tag/a#x", waitsFor: ["Asset/x"], desired: {} }] }) },
      0,
      2,
      2,
    ],
    ["a bind is not a change", { items: [item({ verb: "bind" })] }, 0, 0, 0],
    ["differences by hand are drift but not changes", { steps: byHand }, 0, 0, 2],
    ["a missing tag is drift but not a change", { steps: blocked("E_TAG_MISSING") }, 0, 0, 2],
    ["a missing integration is drift but not a change", { steps: blocked("E_INTEGRATION_MISSING") }, 0, 0, 2],
    ["a configured integration that is gone is drift but not a change", { steps: blocked("E_GONE") }, 0, 0, 2],
    ["an asset without an id is neither", { steps: blocked("E_UNBOUND") }, 0, 0, 0],
    ["warnings are neither", { findings: [warning] }, 0, 0, 0],
    ["a guard, before changes", { ...refusing, items: [item()] }, 3, 3, 3],
    ["a guard that was lifted", { findings: [guard("maxCreates", { allowed: "because" })] }, 0, 0, 0],
    ["an error, before a guard", { findings: [error, guard("maxCreates")], items: [item()] }, 1, 1, 1],
    ["an incomplete read, before everything", { complete: false, items: [item()] }, 1, 1, 1],
  ];
  test("a policy that refuses hides the drift in the exit code, but not in the reasons", () => {
    const refused = plan({ findings: [guard("policy")], items: [item()] });
    expect(planExit({ ...refused, kind: "DriftReport" }, ["exposed"])).toEqual({ code: 3, reasons: ["policy", "drift"] });
    expect(planExit(refused, ["changes"])).toEqual({ code: 3, reasons: ["policy", "changes"] });
  });

  test.each(rows)("%s", (_, part, plain, detailed, drift) => {
    const made = plan(part);
    expect([planExit(made), planExit(made, ["changes"]), planExit({ ...made, kind: "DriftReport" })].map(({ code }) => code)).toEqual([
      plain,
      detailed,
      drift,
    ]);
  });

  const failing: readonly [FailOn, Parameters<typeof plan>[0]][] = [
    ["changes", { items: [item()] }],
    ["drift", { steps: byHand }],
    ["exposes", { counts: { ...plan().counts, exposes: 1 } }],
    ["unmanaged", { unmanaged: { integrations: [], tags: [], columns: 1 } }],
    ["unseen", { steps: stepsFrom({ unseen: [{ address: "Asset/a", paths: ["/x"], reason: "x" }] }) }],
    ["byHand", { steps: byHand }],
    ["blocked", { steps: blocked("E_UNBOUND") }],
    ["warnings", { findings: [warning] }],
  ];
  test.each<[FailOn, Parameters<typeof plan>[0]]>([
    ["exposed", { counts: { ...plan({ kind: "DriftReport" }).counts, exposed: 1 } }],
    ["stricter", { counts: { ...plan({ kind: "DriftReport" }).counts, stricter: 1 } }],
  ])("drift --fail-on %s", (name, part) => {
    expect(planExit(plan({ kind: "DriftReport", ...part }), [name])).toEqual({ code: 2, reasons: [name] });
    expect(planExit(plan({ kind: "DriftReport" }), [name])).toEqual({ code: 0, reasons: [] });
  });

  test.each(failing)("--fail-on %s", (name, part) => {
    expect(planExit(plan(part), [name])).toEqual({ code: 2, reasons: [name] });
    expect(planExit(plan(), [name])).toEqual({ code: 0, reasons: [] });
  });
});

describe("the exit codes of apply", () => {
  const ending = (outcome: FlatEnding["outcome"], code?: Code): FlatEnding => ({
    ...{ address: "Tag/a", outcome },
    ...(code === undefined ? {} : { code }),
  });
  const rows: readonly [sentence: string, items: readonly FlatEnding[], plan: Partial<Plan>, interrupted: boolean, code: ExitCode][] = [
    ["all done", [ending("done"), ending("recovered")], {}, false, 0],
    ["differences by hand alone", [ending("done")], { steps: byHand }, false, 0],
    ["something failed", [ending("done"), ending("failed")], {}, false, 4],
    ["something unknown", [ending("unknown")], {}, false, 4],
    ["something blocked", [ending("blocked")], {}, false, 4],
    ["something that waits", [ending("waits")], {}, false, 4],
    ["something skipped", [ending("skipped", "E_DEPENDENCY")], {}, false, 4],
    ["an item that did not converge", [ending("not-converged")], {}, false, 4],
    ["a stale item, before a failed one", [ending("skipped", "E_STALE"), ending("failed")], {}, false, 5],
    ["an interruption, before everything else", [ending("failed")], {}, true, 130],
    ["a plan that cannot be applied", [ending("blocked")], { executable: false, ...refusing }, false, 3],
    ["a plan with errors", [ending("blocked")], { executable: false, findings: [error] }, false, 1],
  ];
  test.each(rows)("%s", (_, items, part, interrupted, code) => {
    const result: Result = {
      ...{ formatVersion: "3.0", kind: "Result", runId: "r", planId: "p", startedAt: "", finishedAt: "", target: "t", account: "a" },
      ...{
        tool: { name: "dimsync", version: "0" },
        steps: endedFrom(items),
        findings: [],
        calls: { sent: {} },
        bindings: {},
      },
      exit: { code: 0, reasons: [] },
    };
    expect(applyExit(result, plan(part), interrupted).code).toBe(code);
  });
});

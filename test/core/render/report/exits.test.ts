// Every reason for an exit code has its own explanation.
import { expect, test } from "vitest";
import type { Exit } from "../../../../src/core/base/model/exit.ts";
import type { Plan, Result } from "../../../../src/core/base/model/plan.ts";
import { failOnNames } from "../../../../src/core/plan/exit-codes.ts";
import { exitText } from "../../../../src/core/render/report/exits.ts";
import { guard } from "../../../support/findings.ts";
import { plan } from "../plans.ts";
import { doneResult } from "../results.ts";

const ofPlan = (code: Exit["code"], reasons: readonly string[], members: Partial<Plan> = {}): string =>
  exitText(plan({ ...members, exit: { code, reasons } }));
const ofDrift = (code: Exit["code"], reasons: readonly string[], members: Partial<Plan> = {}): string =>
  ofPlan(code, reasons, { kind: "DriftReport", ...members });
const ofResult = (code: Exit["code"], reasons: readonly string[], members: Partial<Result> = {}): string =>
  exitText({ ...doneResult, ...members, exit: { code, reasons } });

const rows: Readonly<Record<string, readonly [text: string, expected: string]>> = {
  "exit 0 needs no explanation": [ofPlan(0, []), ""],
  "a plan with changes": [ofPlan(2, ["changes"]), "Exit 2 (changes): there are changes."],
  "--fail-on policy": [ofPlan(2, ["policy"]), "Exit 2 (policy): a policy is violated."],
  "--fail-on of several names": [
    ofPlan(2, ["changes", "unmanaged", "warnings"]),
    "Exit 2 (changes, unmanaged, warnings): there are changes, the account has objects or columns that no manifest covers and there are warnings.",
  ],
  "a guard and changes": [
    ofPlan(3, ["maxCreates", "changes"], { findings: [guard("maxCreates")] }),
    "Exit 3 (maxCreates, changes): the guard maxCreates refuses and there are changes.",
  ],
  "new policy errors": [ofPlan(3, ["policy"], { findings: [guard("policy")] }), "Exit 3 (policy): a policy is violated."],
  "errors and a failed read": [
    ofPlan(1, ["errors", "incomplete"]),
    "Exit 1 (errors, incomplete): there are errors and not everything was compared.",
  ],
  drift: [ofDrift(2, ["drift"]), "Exit 2 (drift): the account differs from the manifests."],
  "drift and policy errors": [
    ofDrift(3, ["policy", "drift"], { findings: [guard("policy")] }),
    "Exit 3 (policy, drift): the account violates a policy and the account differs from the manifests.",
  ],
  "drift that a guard would not restore": [
    ofDrift(3, ["maxCreates", "drift"], { findings: [guard("maxCreates")] }),
    "Exit 3 (maxCreates, drift): the guard maxCreates would refuse to restore the manifests and the account differs from the manifests.",
  ],
  "an apply in which items failed and others were skipped": [
    ofResult(4, ["failed", "skipped"]),
    "Exit 4 (failed, skipped): apply is incomplete.",
  ],
  "an interrupted apply": [
    ofResult(130, ["interrupted", "skipped"]),
    "Exit 130 (interrupted, skipped): the run was interrupted and apply is incomplete.",
  ],
  "a stale plan": [ofResult(5, ["stale"]), "Exit 5 (stale): the account has changed since the plan was made."],
  "a code without reasons": [ofResult(6, []), "Exit 6: another run holds the lock."],
};

test.each(Object.entries(rows))("%s", (_sentence, [text, expected]) => {
  expect(text).toBe(expected);
});

test("every value of --fail-on has its own explanation", () => {
  for (const [kind, names] of Object.entries(failOnNames)) {
    const texts = names.map((name) => ofPlan(2, [name], { kind: kind as Plan["kind"] }).replace(/^.*: /u, ""));
    expect(new Set(texts).size).toBe(names.length);
    expect(texts).not.toContain("a condition in --fail-on was found.");
  }
});

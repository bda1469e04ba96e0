// A refused document says so first, and how to go on.
import { describe, expect, test } from "vitest";
import type { Plan } from "../../../../src/core/base/model/plan.ts";
import { renderers } from "../../../../src/core/render/index.ts";
import { refusalsOf, refusalText, refusalTitle } from "../../../../src/core/render/report/refusals.ts";
import { summaryLine } from "../../../../src/core/render/report/totals.ts";
import { guard } from "../../../support/findings.ts";
import { plan } from "../plans.ts";

const maxCreates = guard("maxCreates", { message: "7 objects would be created.", actual: 7, limit: 5 });
const error = { rule: "E_USAGE", severity: "error", summary: "Broken", message: "It is broken." } as const;

const rows: Readonly<Record<string, readonly [members: Partial<Plan>, title: string, texts: readonly string[]]>> = {
  "a plan that can be applied": [{}, "", []],
  "a lifted guard": [{ findings: [guard("maxCreates", { allowed: "first import" })] }, "", []],
  "a guard": [
    { executable: false, findings: [maxCreates] },
    "(apply will refuse it: guard maxCreates)",
    ["Guard maxCreates refuses: 7 found, at most 5 allowed."],
  ],
  "new policy errors": [
    { executable: false, findings: [guard("policy", { actual: 2, limit: 0 })] },
    "(apply will refuse it: 2 policy errors)",
    ["Guard policy refuses: 2 found, none allowed."],
  ],
  "an error": [{ executable: false, findings: [error] }, "(apply will refuse it: 1 error)", ["There is 1 error. Fix it first."]],
  "errors before the account is read": [
    { executable: false, findings: [error, error], calls: { read: {}, planned: {}, later: {} } },
    "(apply will refuse it: 2 errors)",
    ["The account was not read. Fix the errors first."],
  ],
  "uncommitted changes on a protected target": [
    { protected: true, git: { commit: "4f2c1ab", dirty: true, changedFiles: ["manifests/a.yaml"] } },
    "(apply will refuse it: uncommitted changes in manifests/a.yaml)",
    ["The target is protected, and there are uncommitted changes in manifests/a.yaml. Commit them and plan again."],
  ],
  "uncommitted changes on another target": [{ git: { commit: "4f2c1ab", dirty: true, changedFiles: ["a.yaml"] } }, "", []],
};

test.each(Object.entries(rows))("%s", (_sentence, [members, title, texts]) => {
  const made = plan(members);
  expect(refusalTitle(made)).toBe(title);
  expect(refusalsOf(made).map(({ text }) => text)).toEqual(texts);
  expect(summaryLine(made).startsWith(`prod${title === "" ? "" : ` ${title}`}: `)).toBe(true);
});

test("a protected target without git", () => {
  const { git: _, ...made } = plan({ protected: true });
  expect(refusalTitle(made)).toBe("(apply will refuse it: not made in a git repository)");
});

describe.each(["human", "markdown", "html"] as const)("%s", (format) => {
  const render = (members: Partial<Plan>): string => renderers[format](plan(members), { color: false, verbose: false });

  test("a refused plan says so in its heading", () => {
    const [heading = ""] =
      render({ executable: false, findings: [maxCreates] }).match(/^.*apply will refuse it: guard maxCreates.*$/mu) ?? [];
    expect(heading).toMatch(/prod/u);
  });

  test("a plan says how to lift a guard, a drift report does not", () => {
    const lift = format === "markdown" ? "  - { guard: maxCreates, reason:" : "--allow maxCreates";
    expect(render({ executable: false, findings: [maxCreates] })).toContain(lift);
    const report = render({ kind: "DriftReport", executable: false, findings: [maxCreates] });
    expect(report).toContain("Guard maxCreates would refuse to restore the manifests");
    expect(report).not.toMatch(/--allow|allow:|[Aa]pply will refuse/u);
  });

  test("a drift report has no guard for its policy findings", () => {
    const report = render({
      kind: "DriftReport",
      executable: false,
      findings: [guard("policy", { message: "1 policy finding", actual: 1 })],
    });
    expect(report).not.toMatch(/Guard policy|--allow/u);
  });
});

test("a plan of an account that was not read does not claim that there are no changes", () => {
  expect(summaryLine(plan({ executable: false, findings: [error], calls: { read: {}, planned: {}, later: {} } }))).toContain(
    "not compared with the account",
  );
});

test("a job that applies says that it refused its plan, not that it will", () => {
  const refused = plan({ executable: false, loosenedSince: "applied" });
  expect([refusalTitle(refused), refusalText(refused)]).toEqual(["(apply refused it)", "Apply refused this plan and sent nothing"]);
  expect(refusalText(plan({ executable: false }))).toBe("Apply will refuse this plan");
  expect(refusalText(plan())).toBe("");
});

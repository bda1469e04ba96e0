// The fingerprint of a report differs exactly if its content differs, and its counts have no value of the account.
import { describe, expect, test } from "vitest";
import type { Plan } from "../../../src/core/base/model/plan.ts";
import { driftSummary } from "../../../src/core/drift/notify.ts";
import { byHandSteps, readySteps, withReady, withSteps } from "../../support/steps.ts";
import { driftReport } from "../render/full-plan.ts";
import { tracedReport } from "../render/html-report.ts";
import { change, item, plan } from "../render/plans.ts";

const at = (day: number, members: Partial<Plan> = {}): Plan => ({ ...driftReport, createdAt: `2026-03-0${day}T09:00:00.000Z`, ...members });
const printOf = (report: Plan): string => driftSummary(report).fingerprint;

test("a summary has counts, and no values from the account", () => {
  const summary = driftSummary(
    at(
      1,
      withReady(driftReport, [
        item({ changes: [change({ path: "/description", before: "canary-1", after: "canary-2", origin: "drift" })] }),
      ]),
    ),
  );
  expect(JSON.stringify(summary)).not.toMatch(/canary/u);
  expect(summary.counts).toEqual({ differences: 1, exposed: 4, byHand: 2, blocked: 2, policy: 2, unmanaged: 3, unmanagedColumns: 612 });
  expect(driftSummary(tracedReport).origins).toEqual({ config: 1, drift: 4, conflict: 1, new: 0, unknown: 2 });
});

describe("the fingerprint", () => {
  const print = printOf(driftReport);
  const same: Readonly<Record<string, Plan>> = {
    "when it was made": at(5, { planId: "other" }),
    "the user": { ...driftReport, steps: tracedReport.steps },
    "the order": { ...driftReport, steps: [...driftReport.steps].reverse() },
    "unmanaged columns": { ...driftReport, unmanaged: { ...driftReport.unmanaged, columns: 7 } },
    "ids to record": withReady(
      driftReport,
      readySteps(driftReport).filter(({ verb }) => verb !== "bind"),
    ),
  };
  test.each(Object.entries(same))("does not depend on %s", (_, other) => {
    expect(printOf(other)).toBe(print);
  });

  const other: Readonly<Record<string, Plan>> = {
    "a value": withReady(
      driftReport,
      readySteps(driftReport).map((each) => ({ ...each, changes: each.changes.map((one) => ({ ...one, before: "new" })) })),
    ),
    "a step": withSteps(driftReport, { byHand: byHandSteps(driftReport).slice(1) }),
    "a blocked object": withSteps(driftReport, { blocked: [] }),
    "an unmanaged object": { ...driftReport, unmanaged: { ...driftReport.unmanaged, tags: [] } },
    "a finding": { ...driftReport, findings: [] },
    "being complete": { ...driftReport, complete: false },
  };
  test.each(Object.entries(other))("changes with %s", (_, changed) => {
    expect(printOf(changed)).not.toBe(print);
  });

  test("differs if text moves from one member to another", () => {
    const make = (address: string, path: string) => printOf(plan({ items: [item({ address, changes: [change({ path })] })] }));
    expect(make("Tag/a", "/b")).not.toBe(make("Tag/a/b", ""));
  });
});

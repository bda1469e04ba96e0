// Who made a change is named once, beside what it changed.
import { describe, expect, test } from "vitest";
import type { Attribution } from "../../../../src/core/base/model/plan.ts";
import { renderers } from "../../../../src/core/render/index.ts";
import { attributionText } from "../../../../src/core/render/report/attribution.ts";
import { tracedReport } from "../html-report.ts";
import { faults } from "../markdown/structure.ts";
import { change, item, plan } from "../plans.ts";

const dana: Attribution = { actor: "dana@example.com", at: "2026-02-28T16:40:12.000Z", event: "changed", confidence: "exact", own: false };

describe("the attribution in a line", () => {
  test.each<[string, Attribution, string]>([
    ["a node that the event names", dana, "changed by dana@example.com, 2026-02-28 16:40 UTC"],
    ["what the event says of it", { ...dana, event: "email un-hashed" }, "un-hashed by dana@example.com, 2026-02-28 16:40 UTC"],
    ["the object of the node", { ...dana, confidence: "likely" }, "Orders was changed by dana@example.com, 2026-02-28 16:40 UTC"],
    [
      "a guess by time alone",
      { ...dana, confidence: "window" },
      "Orders was perhaps changed by dana@example.com, 2026-02-28 16:40 UTC (only the time fits)",
    ],
    [
      "a run of dimsync is not the cause: it shows since when the difference exists",
      { ...dana, userAgent: "dimsync/1 (run/7c)", own: true },
      "new since the dimsync run of 2026-02-28 16:40 UTC",
    ],
    [
      "a time in another zone is unchanged",
      { ...dana, at: "2026-02-28T16:40:12+01:00" },
      "changed by dana@example.com, 2026-02-28T16:40:12+01:00",
    ],
  ])("%s", (_, attribution, text) => {
    expect(attributionText({ attribution, liveName: "Orders", field: "hashed", before: false })).toBe(text);
  });

  test("nobody named", () => {
    const { actor: _, ...nobody } = dana;
    expect(attributionText({ attribution: nobody })).toBe("changed by a user without an e-mail address, 2026-02-28 16:40 UTC");
    expect(attributionText({})).toBe("");
  });
});

test("a difference has the user beside it, and the object that an event names its event once", () => {
  const text = renderers.human(tracedReport, { color: false, verbose: false, width: 200 });
  expect(text).toMatch(/no longer hashed +\S*email.* +changed by dana@example\.com, 2026-02-28 16:40 UTC; .*pii-email/u);
  expect(text).toMatch(/not hashed yet +\S*phone.* +.*pii-email/u);
});

test("a well-formed table has the columns that are filled", () => {
  const options = { color: false, verbose: false };
  expect(faults(renderers.markdown(tracedReport, options))).toEqual([]);
  const onlyOrigin = plan({ kind: "DriftReport", items: [item({ changes: [change({ origin: "drift" })] })] });
  expect(renderers.markdown(onlyOrigin, options)).toContain("| Change | What | Where | Why |");
});

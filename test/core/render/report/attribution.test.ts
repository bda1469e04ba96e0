import { describe, expect, test } from "vitest";
import type { Attribution } from "../../../../src/core/model/plan.ts";
import { renderers } from "../../../../src/core/render/index.ts";
import { attributionText, commonTrace } from "../../../../src/core/render/report/attribution.ts";
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

test("many differences name a user only if it is the same for all", () => {
  const one = { origin: "drift", attribution: dana } as const;
  expect(commonTrace([one, { ...one, attribution: { ...dana, at: "2026-02-27T00:00:00Z" } }])).toEqual(one);
  expect(commonTrace([one, { ...one, attribution: { ...dana, actor: "sam@example.com" } }])).toEqual({ origin: "drift" });
  expect(commonTrace([one, { origin: "config", attribution: dana }])).toEqual({ attribution: dana });
  expect(commonTrace([one, { origin: "drift" }])).toEqual({ origin: "drift" });
});

test("the terminal shows origin and user beside each difference", () => {
  const text = renderers.human(tracedReport, { color: false, verbose: false, width: 200 });
  expect(text).toMatch(
    /email hashed +live false, desired true +exposed +drift +changed by dana@example\.com, 2026-02-28 16:40 UTC +pii-email/u,
  );
  expect(text).toMatch(/phone hashed +live false, desired true +exposed +config +pii-email/u);
  expect(text).toContain("    drift; changed by dana@example.com, 2026-02-28 16:40 UTC\n");
});

test("Markdown has columns for them only if they are known", () => {
  const options = { color: false, verbose: false };
  const text = renderers.markdown(tracedReport, options);
  expect(text).toContain("| Path | Live | Desired | Risk | Origin | Who | Why |");
  expect(faults(text)).toEqual([]);
  const onlyOrigin = plan({ kind: "DriftReport", items: [item({ changes: [change({ origin: "drift" })] })] });
  expect(renderers.markdown(onlyOrigin, options)).toContain("| Path | Live | Desired | Risk | Origin | Why |");
});

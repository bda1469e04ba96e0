import { eachChange } from "../../../src/core/base/model/changes.ts";
import { toPointer } from "../../../src/core/base/model/json/pointer.ts";
import type { Attribution, Plan } from "../../../src/core/base/model/plan.ts";
import { grouped } from "../../support/changes.ts";
import { byHandSteps, readySteps, withReady, withSteps } from "../../support/steps.ts";
import { driftReport } from "./full-plan.ts";
import { change, item, plan } from "./plans.ts";

const dana: Attribution = {
  actor: "dana@example.com",
  at: "2026-02-28T16:40:12.000Z",
  userAgent: "Mozilla/5.0",
  ip: "203.0.113.7",
  event: 'Schema configuration of integration 8f1c "Orders" changed',
  confidence: "exact",
  own: false,
};
const run: Attribution = { ...dana, actor: "bot@example.com", userAgent: "dimsync/0.1.0 (run/7c1e)", own: true };
const origins = ["drift", "config", "conflict", "drift", "unknown"] as const;

/** The full drift report with origins and attribution, as from `drift --base`. */
export const tracedReport: Plan = {
  ...driftReport,
  steps: withReady(
    withSteps(driftReport, {
      byHand: byHandSteps(driftReport).map((step, index) =>
        index === 0
          ? { ...step, origin: "drift" as const, attribution: { ...dana, event: 'Integration 8f1c "Orders" paused' } }
          : { ...step, attribution: { ...dana, confidence: "window" as const, event: "Account changed in the console" } },
      ),
    }),
    readySteps(driftReport).map((each) => ({
      ...each,
      changes: grouped(
        Array.from(eachChange(each), ({ field: _, ...one }, index) => {
          const origin = origins[index % origins.length] ?? "unknown";
          if (origin === "config" || each.verb === "relate") return { ...one, origin };
          return { ...one, origin, attribution: index === 3 ? run : dana };
        }),
      ),
    })),
  ).steps,
};

/** `integrations` integrations with `each` differences, by a few rules. */
export const largeReport = (integrations: number, each: number): Plan =>
  plan({
    kind: "DriftReport",
    items: Array.from({ length: integrations }, (_, number) =>
      item({
        id: `i${number}`,
        address: `Schemas/shop-${number}`,
        liveId: `id-${number}`,
        liveName: `shop-${number}`,
        changes: Array.from({ length: each }, (_, index) =>
          change({
            path: toPointer(["schemas", "public", "tables", `table_${index % 40}`, "columns", `email_${index}`, "hashed"]),
            origin: "drift",
            attribution: dana,
            cause: { rule: `pii-${index % 5}`, file: "manifests/pii.yaml", line: 9 + (index % 5) },
          }),
        ),
      }),
    ),
    exit: { code: 2, reasons: ["drift"] },
  });

import type { Held, Plan, Result } from "../../../src/core/model/plan.ts";
import { change, item, plan } from "./plans.ts";
import { doneResult } from "./results.ts";

const held: readonly Held[] = [
  { address: "Asset/lake", kind: "Asset", action: "create", changes: [{ path: "/name", after: "Lake", risk: "neutral" }] },
  {
    address: "Schemas/orders",
    kind: "Schemas",
    action: "update",
    liveId: "8f1c",
    liveName: "Orders",
    changes: [
      change({ path: "/schemas/public/tables/users/columns/phone/hashed", before: true, after: false, risk: "exposes" }),
      change({ path: "/schemas/public/tables/users/columns/name/hashed", before: true, after: false, risk: "exposes" }),
    ],
  },
  { address: "Integration/returns", kind: "Integration", changes: [], waitsFor: ["Asset/lake"] },
];

/** A plan made with `--protect-only`. */
export const protectPlan: Plan = (() => {
  const made = plan({ items: [item({ changes: [change()] })] });
  return { ...made, held, summary: { ...made.summary, held: held.length } };
})();

export const protectResult: Result = { ...doneResult, held, exit: { code: 4, reasons: ["held"] } };

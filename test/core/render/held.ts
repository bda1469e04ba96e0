import type { Plan, Result } from "../../../src/core/base/model/plan.ts";
import { stepsFrom } from "../../support/steps.ts";
import { change, item, plan } from "./plans.ts";
import { doneResult } from "./results.ts";

const steps = stepsFrom({
  held: [
    { address: "Asset/lake", verb: "create", changes: [{ path: "/name", after: "Lake", risk: "neutral" }] },
    {
      address: "Schemas/orders",
      verb: "update",
      liveId: "8f1c",
      liveName: "Orders",
      changes: [
        change({ path: "/schemas/public/tables/users/columns/phone/hashed", before: true, after: false, risk: "exposes" }),
        change({ path: "/schemas/public/tables/users/columns/name/hashed", before: true, after: false, risk: "exposes" }),
      ],
    },
    { address: "Integration/returns", verb: "create", changes: [], waitsFor: ["Asset/lake"] },
  ],
});

/** A plan made with `--protect-only`. */
export const protectPlan: Plan = plan({ options: { protectOnly: true }, items: [item({ changes: [change()] })], steps });

export const protectResult: Result = { ...doneResult, steps: [...doneResult.steps, ...steps], exit: { code: 4, reasons: ["held"] } };

import type { Document } from "../../../src/core/render/document.ts";
import { invalid } from "./diagnostics.ts";
import { driftReport, fullPlan, planOfColumns } from "./full-plan.ts";
import { plan } from "./plans.ts";
import { fullResult } from "./results.ts";

/** A document of each kind, by what it is. */
export const documents: Readonly<Record<string, Document>> = {
  "a plan with everything": fullPlan,
  "a plan that finds nothing": plan(),
  "a drift report": driftReport,
  "a result": fullResult,
  "a validation": invalid,
  "a plan of 400 columns": planOfColumns(400),
};

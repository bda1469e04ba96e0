import { plan as planValidator } from "../../manifests/validators.generated.js";
import type { Plan } from "../../model/plan.ts";
import { readPlanFile } from "../../records/plan-file.ts";

/** Reads a saved plan whose text is as it was made. Whether it still fits is asked when it is applied (plan-fit.ts). Throws as `readPlanFile` does. */
export function readSavedPlan(file: string, digestKey: string | undefined): Promise<Plan> {
  return readPlanFile(file, { digestKey, validate: (value) => planValidator(value) });
}

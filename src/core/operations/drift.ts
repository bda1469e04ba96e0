import type { Plan } from "../base/model/plan.ts";
import type { Project } from "../manifests/index.ts";
import { heldReads, plan, planExit } from "../plan/index.ts";
import { attributed } from "./attributed.ts";
import { withBase, withCatalogProblems } from "./base.ts";
import type { PlanAccountOptions } from "./plan.ts";
import { type RunEnvironment, withReadRun } from "./run.ts";

export interface DriftOptions extends PlanAccountOptions {
  /** Since when the audit log is read, ISO 8601. Default: 30 days ago. */
  readonly since?: string;
  /** False: the audit log is not read. */
  readonly attribution?: boolean;
  /** Also returns the plan that undoes the drift, made from the same reads. */
  readonly revert?: boolean;
}

export interface Drift {
  /** Of kind "DriftReport". */
  readonly report: Plan;
  /** Of kind "Plan"; present with `revert`. */
  readonly revert?: Plan;
}

/**
 * How the account differs from the project, and who changed it. Only sends GET, and reads the account and the records once. If the
 * audit log cannot be read, the report says so; that is not an error. Without differences, it is not read.
 */
export async function driftAccount(given: Project, options: DriftOptions, environment: RunEnvironment): Promise<Drift> {
  const { since, attribution = true, revert = false, failOn, base: chosen, ...asked } = options;
  const start = { ...environment, options: asked, kind: "DriftReport" } as const;
  return withReadRun(withCatalogProblems(given), start, async (opened) => {
    const { run: based } = await withBase(opened, chosen);
    const run = revert ? { ...based, reads: heldReads(based.reads) } : based;
    const found = await plan(run);
    const undo = revert ? await plan({ ...run, kind: "Plan" }) : undefined;
    const undone = undo === undefined ? {} : { revert: { ...undo, exit: planExit(undo) } };
    const report = attribution ? await attributed(found, { since }, run) : found;
    return { report: { ...report, exit: planExit(report, failOn) }, ...undone };
  });
}

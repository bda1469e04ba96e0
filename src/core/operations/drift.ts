import { planExit } from "../engine/exit-codes.ts";
import { plan } from "../engine/pipeline.ts";
import { heldReads } from "../engine/reads/cached-reads.ts";
import type { Project } from "../manifests/project.ts";
import { defined } from "../model/json/json.ts";
import type { Plan } from "../model/plan.ts";
import { attributed } from "./attributed.ts";
import { withBase } from "./base.ts";
import { type PlanAccountOptions, withReadSession } from "./plan.ts";
import { openReview, withCatalogProblems } from "./review.ts";
import type { RunEnvironment } from "./session.ts";

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
export async function driftAccount(given: Project, options: DriftOptions, run: RunEnvironment): Promise<Drift> {
  const { since, attribution = true, revert = false, failOn, base: chosen, ...planned } = options;
  const project = withCatalogProblems(given);
  return withReadSession(project, run, async (opened) => {
    const { session: based, base } = await withBase(opened, project, { base: chosen });
    const session = revert ? { ...based, reads: heldReads(opened.reads) } : based;
    const compare = async (kind: Plan["kind"]): Promise<Plan> =>
      plan({ ...session, review: await openReview(project) }, { ...planned, ...defined({ base }) }, kind);
    const compared = await compare("DriftReport");
    const undo = revert ? await compare("Plan") : undefined;
    const undone = undo === undefined ? {} : { revert: { ...undo, exit: planExit(undo) } };
    const report = attribution ? await attributed(compared, { since, env: run.env }, session) : compared;
    return { report: { ...report, exit: planExit(report, failOn) }, ...undone };
  });
}

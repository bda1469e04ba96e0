import { attribute, withoutAttribution, withPartialAttribution } from "../../drift/attribution.ts";
import { endOfNow, readAudit } from "../../drift/audit.ts";
import { plan } from "../../engine/pipeline.ts";
import { heldReads } from "../../engine/reads/cached-reads.ts";
import type { PlanOptions, Session } from "../../engine/session.ts";
import type { Project } from "../../manifests/project.ts";
import { ServiceError } from "../../model/errors.ts";
import type { Plan } from "../../model/plan.ts";
import { loadPolicyModules } from "../policy-modules.ts";
import type { RunEnvironment } from "../session.ts";
import { withReadSession } from "./plan.ts";
import { openReview, withCatalogProblems } from "./review.ts";

export interface DriftOptions extends PlanOptions {
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
  const { since, attribution = true, revert = false, ...planned } = options;
  const project = withCatalogProblems(given);
  const policyFunctions = await loadPolicyModules(project, run.env);
  return withReadSession(project, run, async (opened) => {
    const session = revert ? { ...opened, reads: heldReads(opened.reads) } : opened;
    const compare = async (kind: Plan["kind"]): Promise<Plan> =>
      plan({ ...session, review: await openReview(project, session.records()) }, { policyFunctions, ...planned }, kind);
    const compared = await compare("DriftReport");
    const undone = revert ? { revert: await compare("Plan") } : {};
    const isAsked = attribution && run.snapshotFile === undefined;
    return { report: isAsked ? await attributed(compared, since, session) : compared, ...undone };
  });
}

const defaultWindowMs = 30 * 86_400_000;

/** The report with who made the changes, and with the reads of the audit log. Throws the signal's reason. */
async function attributed(report: Plan, since: string | undefined, { reads, records, calls, signal }: Session): Promise<Plan> {
  if (report.items.every(({ action }) => action === "bind" || action === "create") && report.manual.length === 0) return report;
  const madeMs = Date.parse(report.createdAt);
  const window = { since: since ?? new Date(madeMs - defaultWindowMs).toISOString(), until: endOfNow(madeMs) };
  const withCalls = (made: Plan): Plan => ({ ...made, calls: { ...report.calls, read: calls() } });
  try {
    const { items, totalItems, complete } = await readAudit(reads, window, { signal });
    const idByAddress = new Map([...records().bindings].map(([address, { id }]) => [address, id]));
    const made = attribute(report, items, { idByAddress });
    return withCalls(complete ? made : withPartialAttribution(made, items.length, totalItems));
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ServiceError)) throw error;
    return withCalls(withoutAttribution(report, `The audit log could not be read: ${error.message}`));
  }
}

import type { Project } from "../../manifests/project.ts";
import { eachChange } from "../../model/changes.ts";
import type { Plan } from "../../model/plan.ts";
import type { Result } from "../../model/result.ts";
import type { ControllerMode } from "../../model/settings/config.ts";
import { applyAccount } from "../../operations/core/apply.ts";
import type { RunEnvironment } from "../../operations/session.ts";
import { asOutcome, checkProject, type RunOutcome } from "./check.ts";
import { changeKey, type StoppedChange } from "./protections.ts";

export interface Repair {
  readonly project: Project;
  /** The DriftReport that the repair follows. */
  readonly report: Plan;
  readonly mode: ControllerMode;
  /** Changes that protect does not send again. */
  readonly stopped: readonly StoppedChange[];
}

/** Whether there is something that the mode may send. */
export function canRepair({ report, mode, stopped }: Omit<Repair, "project">): boolean {
  if (mode === "report" || report.exit.code === 1) return false;
  if (mode === "apply") return report.items.length + report.deferred.length > 0;
  const keys = new Set(stopped.map(({ key }) => key));
  return exposedChanges(report).some(({ key }) => !keys.has(key));
}

export interface ExposedChange {
  readonly key: string;
  readonly address: string;
  readonly path: string;
  /** "" if the audit log names nobody. */
  readonly actor: string;
}

/** What protect sends changes for. */
export const exposedChanges = (report: Plan): readonly ExposedChange[] =>
  report.items
    .filter(({ action }) => action === "update")
    .flatMap((item) => Array.from(eachChange(item), (change) => ({ ...change, address: item.address })))
    .filter(({ risk }) => risk === "exposed")
    .map(({ address, path, attribution }) => ({ key: changeKey(address, path), address, path, actor: attribution?.actor ?? "" }));

/**
 * Sends what the mode allows, under the lease of the records, and compares again. If another run has
 * the lease, the next interval compares again.
 */
export async function repairProject(repair: Repair, run: RunEnvironment): Promise<RunOutcome> {
  const { exit, result, ...outcome } = await sendAndCompare(repair, run);
  const sent = result === undefined ? {} : { result };
  return exit.code === 6 ? { exit, isThrottled: false, ...sent } : { exit, ...outcome, ...sent };
}

function sendAndCompare({ project, mode, stopped }: Repair, run: RunEnvironment): Promise<RunOutcome> {
  return asOutcome(run.signal, async () => {
    const ignore = stopped.map(({ address, path }) => ({ address, path, reason: "protect stopped", until: undefined }));
    const { plan, result } = await applyAccount(project, { protectOnly: mode === "protect", ignore }, run);
    const error = failureOf(plan, result);
    const failed = error === undefined ? {} : { exit: result.exit, error };
    // Whatever happens now, the history must have what was sent. After an interruption the next run compares.
    const compared = await checkProject(async () => project, run).catch(() => ({ exit: result.exit, isThrottled: false }));
    return { ...compared, ...failed, result };
  });
}

/** Why not everything was sent that should have been; what protect holds does not count, nor does what users must do. */
function failureOf(plan: Plan, { items, guards, diagnostics, exit }: Result): RunOutcome["error"] {
  const refused = guards.find(({ allowed }) => allowed === undefined);
  if (refused !== undefined) return { code: "E_GUARD", message: refused.message };
  const failed = items.find(({ outcome }) => outcome === "failed" || outcome === "unknown" || outcome === "not-converged");
  if (failed !== undefined)
    return { code: failed.code ?? "E_INCOMPLETE", message: `${failed.address}: ${failed.message ?? `the outcome is ${failed.outcome}`}` };
  if (exit.code !== 1 && plan.executable) return undefined;
  const problem = [...diagnostics, ...plan.diagnostics].find(({ severity }) => severity === "error");
  return { code: problem?.code ?? "E_INCOMPLETE", message: problem?.message ?? `Nothing was sent: ${exit.reasons.join(", ")}.` };
}

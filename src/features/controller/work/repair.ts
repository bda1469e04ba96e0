import { attribute } from "../../../core/drift/attribution.ts";
import { endOfNow, readAudit } from "../../../core/drift/audit.ts";
import type { Project } from "../../../core/manifests/project.ts";
import { eachChange } from "../../../core/model/changes.ts";
import type { Plan, Result } from "../../../core/model/plan.ts";
import { newPauses, withPauses } from "../../../core/model/runtime/event-loop.ts";
import type { ControllerMode } from "../../../core/model/settings/config.ts";
import { applyAccount } from "../../../core/operations/apply.ts";
import { withReadSession } from "../../../core/operations/plan.ts";
import type { RunEnvironment } from "../../../core/operations/session.ts";
import type { Database } from "../../../core/records/postgres/connection.ts";
import { readRun } from "../views/runs.ts";
import { asOutcome, checkProject, type RunOutcome } from "./check.ts";
import { type ExposedChange, stoppedChanges } from "./protections.ts";
import type { RepairedBefore } from "./record.ts";

export interface Repair {
  readonly project: Project;
  /** The DriftReport that the repair follows. */
  readonly report: Plan;
  readonly mode: ControllerMode;
  /** Changes that protect does not send again. */
  readonly stopped: readonly ExposedChange[];
  readonly changes: readonly ExposedChange[];
  /** Whether there is something that the mode may send. */
  readonly isPossible: boolean;
}

/** What the mode may send after the report. */
export async function repairOf(
  database: Database,
  account: number,
  { project, report, mode }: Pick<Repair, "project" | "report" | "mode">,
): Promise<Repair> {
  const all = mode === "protect" ? exposedChanges(report) : [];
  const stopped = await stoppedChanges(database, account, all);
  const changes = all.filter((change) => !stopped.includes(change));
  const hasWork = mode === "apply" ? report.items.length + report.deferred.length > 0 : changes.length > 0;
  return { project, report, mode, stopped, changes, isPossible: hasWork && report.exit.code !== 1 };
}

/** The clock of the service may be behind. */
const clockSkewMs = 15 * 60_000;

/** What a run that was interrupted has sent, according to the audit log. Undefined if that is not known. */
export async function repairedBy(
  database: Database,
  id: string,
  { project, run }: { readonly project: Project; readonly run: RunEnvironment },
): Promise<RepairedBefore | undefined> {
  const interrupted = await readRun(database, id);
  if (interrupted?.report === undefined) return undefined;
  const { report, startedAt } = interrupted;
  const startedMs = Date.parse(startedAt) - clockSkewMs;
  const window = { since: new Date(startedMs).toISOString(), until: endOfNow(Date.now()) };
  const traced = await withReadSession(project, run, async ({ reads, records, signal }) => {
    const { items } = await readAudit(reads, window, { signal });
    const idByAddress = new Map([...records().bindings].map(([address, binding]) => [address, binding.id]));
    return await withPauses(
      attribute(report, items, { idByAddress }),
      newPauses(() => signal.throwIfAborted()),
    );
  }).catch(() => undefined);
  run.signal.throwIfAborted();
  const places = (traced?.items ?? []).flatMap((item) =>
    [...eachChange(item)]
      .filter(({ attribution }) => attribution?.own === true && Date.parse(attribution.at) >= startedMs)
      .map(({ path }) => ({ address: item.address, path })),
  );
  return { run: id, places };
}

const exposedChanges = (report: Plan): readonly ExposedChange[] =>
  report.items
    .filter(({ action }) => action === "update")
    .flatMap((item) => Array.from(eachChange(item), (change) => ({ ...change, address: item.address })))
    .filter(({ risk }) => risk === "exposed")
    .map(({ address, path, attribution }) => ({ key: `${address} ${path}`, address, path, actor: attribution?.actor ?? "" }));

/**
 * Sends what the mode allows, under the lease of the records, and compares again. If another run has
 * the lease, the next interval compares again.
 */
export async function repairProject(repair: Repair, run: RunEnvironment): Promise<RunOutcome> {
  const { exit, result, ...outcome } = await sendAndCompare(repair, run);
  return exit.code === 6 ? { exit, result, isThrottled: false } : { exit, result, ...outcome };
}

function sendAndCompare({ project, mode, stopped }: Repair, run: RunEnvironment): Promise<RunOutcome> {
  return asOutcome(run.signal, async () => {
    const ignore = stopped.map(({ address, path }) => ({ address, path, reason: "protect stopped" }));
    const settings = { ...project.settings, ignore: [...project.settings.ignore, ...ignore] };
    const { plan, result } = await applyAccount({ ...project, settings }, { protectOnly: mode === "protect" }, run);
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
  // What could not be read was not repaired, although the rest was.
  if (exit.code !== 1 && plan.executable && plan.complete) return undefined;
  const problem = [...diagnostics, ...plan.diagnostics].find(({ severity }) => severity === "error");
  return { code: problem?.code ?? "E_INCOMPLETE", message: problem?.message ?? `Nothing was sent: ${exit.reasons.join(", ")}.` };
}

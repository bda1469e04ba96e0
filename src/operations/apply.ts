import { randomUUID } from "node:crypto";
import { type ApplyOptions, apply, type WriteSession } from "../apply/apply.ts";
import { gitState } from "../manifests/git.ts";
import type { Project } from "../manifests/project.ts";
import type { Plan, Result } from "../model/plan.ts";
import type { Client } from "../service/client.ts";
import { openAccount, resolveAll } from "./account.ts";
import { listLengthRecorder } from "./list-lengths.ts";
import { loadPolicyModules } from "./policy-modules.ts";
import { accountSession, openRecords, type RunEnvironment } from "./session.ts";

export interface ApplyAccountOptions extends ApplyOptions {
  /** How long to wait for another apply of the same target to finish. */
  readonly lockTimeoutMs?: number;
  /** Maximum age of a saved plan; 24 hours by default. */
  readonly maxPlanAgeMs?: number;
  /** Called with information that needs no action, such as a lock that was taken over. */
  readonly onNotice?: (text: string) => void;
}

/**
 * Makes the account match the project, under the target's lock. Refuses a saved plan that can no longer be used, and marks it as applied before the
 * first write. Throws DimsyncError only before the first write.
 */
export async function applyAccount(
  project: Project,
  options: ApplyAccountOptions,
  run: RunEnvironment,
): Promise<{ readonly plan: Plan; readonly result: Result }> {
  const { settings } = project;
  const runId = randomUUID();
  const [{ acquireLock }, { checkSavedPlan, refuseUnsavedOnProtected }, policyFunctions, git] = await Promise.all([
    import("../records/lock.ts"),
    import("./saved-plan.ts"),
    loadPolicyModules(project.resources, settings.folder, project.locate),
    gitState(settings.folder),
  ]);
  if (options.saved === undefined) refuseUnsavedOnProtected(settings);
  else await checkSavedPlan(options.saved, project, git, options.maxPlanAgeMs);
  const lock = await acquireLock(settings.folder, settings.target, { runId, waitMs: options.lockTimeoutMs ?? 0, signal: run.signal });
  if (lock.notice !== undefined) options.onNotice?.(lock.notice);
  try {
    const signal = AbortSignal.any([run.signal, lock.lost]);
    return await applyLocked(project, { policyFunctions, ...options }, { run: { ...run, signal }, git, runId });
  } finally {
    await lock.release();
  }
}

interface ApplyRun {
  readonly run: RunEnvironment;
  readonly runId: string;
  readonly git: Plan["git"];
}

async function applyLocked(project: Project, options: ApplyAccountOptions, run: ApplyRun) {
  const { settings } = project;
  const { appliedPlans } = await import("../records/applied-plans.ts");
  const account = await openAccount(settings, { readOnly: false, runId: run.runId, env: run.run.env, signal: run.run.signal });
  const lists = listLengthRecorder(settings, options.assumeCompleteLists === true);
  try {
    const session = await openWriteSession(project, account.client, run);
    const beforeFirstWrite = async (made: Plan): Promise<void> => {
      if (options.saved !== undefined) await appliedPlans(settings.folder).markApplied(made.planId, run.runId);
      await options.beforeFirstWrite?.(made);
    };
    return await apply({ ...session, reads: lists.recording(session.reads) }, { ...options, beforeFirstWrite });
  } finally {
    await lists.save();
    await account.close();
  }
}

async function openWriteSession(project: Project, client: Client, { run, runId, git }: ApplyRun): Promise<WriteSession> {
  const { settings } = project;
  const [{ decodeWrite }, records] = await Promise.all([import("../service/decode/resources.ts"), openRecords(settings)]);
  return {
    ...accountSession(project, client, records, git, run),
    runId,
    lastingReads: client.asReadOnly(),
    send: (request) => client.send(request),
    decode: decodeWrite,
    journal: records.journal,
    bind: records.bindings.set,
    resolveSecrets: (references, addresses) => {
      const resources = project.resources.filter(({ address }) => addresses.has(address));
      return resolveAll(references, settings, run.env, run.signal, { resources, locate: project.locate });
    },
  };
}

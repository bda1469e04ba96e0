import { randomUUID } from "node:crypto";
import { type ApplyOptions, apply, type WriteSession } from "../../apply/apply.ts";
import { plan } from "../../engine/pipeline.ts";
import type { PlanOptions, Session } from "../../engine/session.ts";
import { gitState } from "../../manifests/git.ts";
import type { Project } from "../../manifests/project.ts";
import type { Settings } from "../../model/config.ts";
import type { Plan, Result } from "../../model/plan.ts";
import type { OnProgress } from "../../model/progress.ts";
import type { Reads } from "../../model/service.ts";
import { type BindingsFile, openBindings } from "../../records/bindings.ts";
import { type Journal, openJournal } from "../../records/journal.ts";
import { type ListLengths, readListLengths } from "../../records/list-lengths.ts";
import type { Client } from "../../service/client.ts";
import { openAccount, resolveAll, systemClock } from "./account.ts";
import { version } from "./context.ts";
import { loadPolicyModules } from "./policy-modules.ts";
import { listLengthRecorder } from "./record-list-lengths.ts";

/** What a run takes from the outside: no more than this is ever looked at. */
export interface RunEnvironment {
  readonly env: NodeJS.ProcessEnv;
  /** Aborted: start nothing new, finish writes under way. */
  readonly signal: AbortSignal;
  readonly onProgress?: OnProgress | undefined;
  /** A snapshot file that stands for the account: no key, no network. */
  readonly snapshotFile?: string | undefined;
}

/** Compares the project with its account. Reads only: the client refuses anything else before a socket is opened. */
export async function planAccount(project: Project, options: PlanOptions, run: RunEnvironment, kind: Plan["kind"] = "Plan"): Promise<Plan> {
  const policyFunctions = await loadPolicyModules(project.resources, project.settings.folder, project.locate);
  return withReadSession(project, run, (session) => plan(session, { policyFunctions, ...options }, kind));
}

/** Opens the project's account for reading only, and closes it whatever the work comes to. */
export async function withReadSession<T>(project: Project, run: RunEnvironment, work: (session: Session) => Promise<T>): Promise<T> {
  const { settings } = project;
  if (run.snapshotFile !== undefined) return work(await snapshotSession(project, run.snapshotFile, run));
  const [account, git] = await Promise.all([
    openAccount(settings, { readOnly: true, env: run.env, signal: run.signal }),
    gitState(settings.folder),
  ]);
  try {
    return await work(sessionOf(project, account.client, await openRecords(settings), git, run));
  } finally {
    await account.close();
  }
}

export interface ApplyAccountOptions extends ApplyOptions {
  /** How long to wait for another apply of the same target to end. */
  readonly lockTimeoutMs?: number;
  /** How old a saved plan may be; 24 hours where absent. */
  readonly maxPlanAgeMs?: number;
  /** Told of what a person should know and need not act on, such as a lock that was taken over. */
  readonly onNotice?: (text: string) => void;
}

/**
 * Makes the account equal the project, under the target's lock. A saved plan is refused where it no longer fits, and is marked as applied before its
 * first write. Throws DimsyncError only before the first write.
 */
export async function applyAccount(
  project: Project,
  options: ApplyAccountOptions,
  run: RunEnvironment,
): Promise<{ readonly plan: Plan; readonly result: Result }> {
  const { settings } = project;
  const runId = randomUUID();
  const policyFunctions = await loadPolicyModules(project.resources, settings.folder, project.locate);
  const [{ acquireLock }, { appliedPlans }, fit, git] = await Promise.all([
    import("../../records/lock.ts"),
    import("../../records/applied-plans.ts"),
    import("./check-saved-plan.ts"),
    gitState(settings.folder),
  ]);
  if (options.saved === undefined) fit.refuseUnsavedOnProtected(settings);
  else await fit.checkSavedPlan(options.saved, project, git, options.maxPlanAgeMs);
  const lock = await acquireLock(settings.folder, settings.target, { runId, waitMs: options.lockTimeoutMs ?? 0, signal: run.signal });
  if (lock.notice !== undefined) options.onNotice?.(lock.notice);
  try {
    const account = await openAccount(settings, { readOnly: false, runId, env: run.env, signal: run.signal });
    const stopping = { ...run, signal: AbortSignal.any([run.signal, lock.lost]) };
    const lists = listLengthRecorder(settings, options.assumeCompleteLists === true);
    try {
      const opened = await openWriteSession(project, account.client, git, stopping, runId);
      const session = { ...opened, reads: lists.noting(opened.reads) };
      const beforeFirstWrite = async (made: Plan): Promise<void> => {
        if (options.saved !== undefined) await appliedPlans(settings.folder).markApplied(made.planId, runId);
        await options.beforeFirstWrite?.(made);
      };
      return await apply(session, { policyFunctions, ...options, beforeFirstWrite });
    } finally {
      await lists.keep();
      await account.close();
    }
  } finally {
    await lock.release();
  }
}

interface Records {
  readonly bindings: BindingsFile;
  readonly journal: Journal;
  readonly longestSeen: ListLengths;
}

async function openRecords({ bindingsFile, folder, target }: Settings): Promise<Records> {
  const [bindings, journal, longestSeen] = await Promise.all([
    openBindings(bindingsFile, target),
    openJournal(folder, target),
    readListLengths(folder, target),
  ]);
  return { bindings, journal, longestSeen };
}

/** A session in which a snapshot stands for the account: nothing is opened, and what is planned can't be applied. */
async function snapshotSession(project: Project, file: string, run: RunEnvironment): Promise<Session> {
  const [{ readSnapshotFile }, { readsOf, snapshotOfAnother }] = await Promise.all([
    import("../../snapshot/file.ts"),
    import("../../snapshot/snapshot.ts"),
  ]);
  const [snapshot, records, git] = await Promise.all([
    readSnapshotFile(file),
    openRecords(project.settings),
    gitState(project.settings.folder),
  ]);
  const another = snapshotOfAnother(snapshot, project.settings, file);
  const told = another === undefined ? project : { ...project, problems: [...project.problems, another] };
  return { ...sessionOver(told, readsOf(snapshot), () => ({}), records, git, run), snapshot: snapshot.takenAt };
}

function sessionOf(project: Project, client: Client, records: Records, git: Plan["git"], run: RunEnvironment): Session {
  return sessionOver(project, client.asReadOnly(run.signal), client.calls, records, git, run);
}

function sessionOver(
  project: Project,
  reads: Reads,
  calls: Session["calls"],
  { bindings, journal, longestSeen }: Records,
  git: Plan["git"],
  { signal, onProgress }: RunEnvironment,
): Session {
  return {
    project,
    reads,
    calls,
    bindings: bindings.all,
    openIntents: journal.open,
    created: journal.created,
    longestSeen,
    git,
    version,
    newId: randomUUID,
    clock: systemClock,
    signal,
    onProgress,
  };
}

async function openWriteSession(
  project: Project,
  client: Client,
  git: Plan["git"],
  run: RunEnvironment,
  runId: string,
): Promise<WriteSession> {
  const { settings } = project;
  const [{ decodeWrite }, records] = await Promise.all([import("../../service/decode/resources.ts"), openRecords(settings)]);
  return {
    ...sessionOf(project, client, records, git, run),
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

import { randomUUID } from "node:crypto";
import { type ApplyOptions, apply, type WriteSession } from "../engine/apply.ts";
import { plan } from "../engine/pipeline.ts";
import type { PlanOptions, Session } from "../engine/session.ts";
import type { Project } from "../manifests/project.ts";
import type { Plan, Result } from "../model/plan.ts";
import type { OnProgress } from "../model/progress.ts";
import { openBindings } from "../records/bindings.ts";
import { openJournal } from "../records/journal.ts";
import type { Client } from "../service/client.ts";
import { openAccount, resolveAll, systemClock } from "./account.ts";
import { version } from "./context.ts";
import { gitState } from "./git.ts";

/** What a run takes from the outside: no more than this is ever looked at. */
export interface Surroundings {
  readonly env: NodeJS.ProcessEnv;
  /** Aborted: start nothing new, finish writes under way. */
  readonly signal: AbortSignal;
  readonly onProgress?: OnProgress | undefined;
}

/** Compares the project with its account. Reads only: the client refuses anything else before a socket is opened. */
export async function planAccount(
  project: Project,
  options: PlanOptions,
  around: Surroundings,
  kind: Plan["kind"] = "Plan",
): Promise<Plan> {
  const { settings } = project;
  const [account, git] = await Promise.all([
    openAccount(settings, { readOnly: true, env: around.env, signal: around.signal }),
    gitState(settings.folder),
  ]);
  try {
    return await plan(await openSession(project, account.client, git, around), options, kind);
  } finally {
    await account.close();
  }
}

export interface ApplyAccountOptions extends ApplyOptions {
  /** How long to wait for another apply of the same target to end. */
  readonly lockTimeoutMs?: number;
  /** Told of what a person should know and need not act on, such as a lock that was taken over. */
  readonly onNotice?: (text: string) => void;
}

/** Makes the account equal the project, under the target's lock. A saved plan is marked as applied before its first write. */
export async function applyAccount(
  project: Project,
  options: ApplyAccountOptions,
  around: Surroundings,
): Promise<{ readonly plan: Plan; readonly result: Result }> {
  const { settings } = project;
  const runId = randomUUID();
  const [{ acquireLock }, { appliedPlans }, git] = await Promise.all([
    import("../records/lock.ts"),
    import("../records/applied-plans.ts"),
    gitState(settings.folder),
  ]);
  const lock = await acquireLock(settings.folder, settings.target, { runId, waitMs: options.lockTimeoutMs ?? 0, signal: around.signal });
  if (lock.notice !== undefined) options.onNotice?.(lock.notice);
  try {
    // Writes under way finish when the run is interrupted, so the client does not know the signal: the engine stops between calls.
    const account = await openAccount(settings, { readOnly: false, runId, env: around.env, signal: undefined });
    try {
      const session = await openWriteSession(
        project,
        account.client,
        git,
        { ...around, signal: AbortSignal.any([around.signal, lock.lost]) },
        runId,
      );
      const beforeFirstWrite = async (made: Plan): Promise<void> => {
        if (options.saved !== undefined) await appliedPlans(settings.folder).markApplied(made.planId, runId);
        await options.beforeFirstWrite?.(made);
      };
      return await apply(session, { ...options, beforeFirstWrite });
    } finally {
      await account.close();
    }
  } finally {
    await lock.release();
  }
}

async function openSession(project: Project, client: Client, git: Plan["git"], { signal, onProgress }: Surroundings): Promise<Session> {
  const { settings } = project;
  const [bindings, journal] = await Promise.all([
    openBindings(settings.bindingsFile, settings.target),
    openJournal(settings.folder, settings.target),
  ]);
  return {
    project,
    reads: client.asReadOnly(),
    calls: client.calls,
    bindings: bindings.all,
    openIntents: journal.open,
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
  around: Surroundings,
  runId: string,
): Promise<WriteSession> {
  const { settings } = project;
  const [{ decodeWrite }, bindings, journal] = await Promise.all([
    import("../service/decode-write.ts"),
    openBindings(settings.bindingsFile, settings.target),
    openJournal(settings.folder, settings.target),
  ]);
  return {
    ...(await openSession(project, client, git, around)),
    bindings: bindings.all,
    openIntents: journal.open,
    runId,
    send: (request) => client.send(request),
    decode: decodeWrite,
    journal,
    bind: bindings.set,
    resolveSecrets: (references) => resolveAll(references, settings, around.env, around.signal),
  };
}

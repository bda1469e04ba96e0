import { randomUUID } from "node:crypto";
import { type Applied, type ApplyOptions, apply, keptAfter } from "../apply/index.ts";
import { notKeptValues } from "../base/model/changes.ts";
import { DimsyncError } from "../base/model/errors.ts";
import { combineExits } from "../base/model/exit.ts";
import { sameJson } from "../base/model/json/json.ts";
import { groupBy } from "../base/model/maps.ts";
import { isDeclined, type NotKept, type Plan, type Result, stepsOf } from "../base/model/plan.ts";
import type { OnProgress } from "../base/model/runtime/progress.ts";
import { titles } from "../base/model/titles.ts";
import { differsInSpace } from "../base/text/values.ts";
import { type Project, withLocations } from "../manifests/index.ts";
import type { PlanOptions, Run, WriteRun } from "../plan/index.ts";
import type { AppliedCommit, Lease, RecordsRun, RecordsState } from "../records/index.ts";
import type { Client } from "../service/index.ts";
import { openAccount, resolveAll } from "./account.ts";
import { withStaleAuthors } from "./attributed.ts";
import { withBase, withCatalogProblems } from "./base.ts";
import { type RunEnvironment, startRun, withGitState } from "./run.ts";
import { jobUrl, openRecords, versionText, withRecords } from "./stores-records.ts";

export interface ApplyAccountOptions extends ApplyOptions, PlanOptions {
  /** How long to wait for another apply of the same target to finish. */
  readonly lockTimeoutMs?: number;
  /** Maximum age of a saved plan; 24 hours by default. */
  readonly maxPlanAgeMs?: number;
  /** Called with information that needs no action, such as a lock that was taken over. */
  readonly onNotice?: (text: string) => void;
}

/**
 * Makes the account match the project, under the target's lease. Refuses a saved plan that can no longer be used, and marks it as applied before the
 * first write. Throws DimsyncError only before the first write, and goes on if `onProgress` throws.
 */
export function applyAccount(
  project: Project,
  options: ApplyAccountOptions,
  { onProgress, ...others }: RunEnvironment,
): Promise<Pick<Applied, "plan" | "result">> {
  const environment = { ...others, onProgress: neverThrows(onProgress) };
  return withLocations(
    project,
    withGitState(project, environment, (git) => applyUnderLease(withCatalogProblems(project), options, { environment, git })),
  );
}

/** A listener whose errors are ignored: they must not come between a request and its records. */
const neverThrows =
  (onProgress: OnProgress | undefined): OnProgress =>
  (event) => {
    try {
      onProgress?.(event);
    } catch {}
  };

async function applyUnderLease(
  project: Project,
  options: ApplyAccountOptions,
  { environment, git }: Pick<ApplyStart, "environment" | "git">,
): Promise<Applied> {
  const { settings } = project;
  const [{ checkSavedPlan, refuseOtherMode, refuseUnsavedOnProtected }, records] = await Promise.all([
    import("./saved-plan.ts"),
    openRecords(settings, environment.env),
  ]);
  try {
    if (options.saved === undefined) refuseUnsavedOnProtected(settings);
    else {
      refuseOtherMode(options.saved, options.protectOnly === true);
      await checkSavedPlan(options.saved, project, { git: await git, records }, options.maxPlanAgeMs);
    }
    const runUrl = jobUrl(environment.env);
    const begin = {
      runId: randomUUID(),
      waitMs: options.lockTimeoutMs ?? 0,
      signal: environment.signal,
      hasEnded: (lease: Lease) => hasHolderEnded(lease, settings.folder, environment),
      onWait: () => environment.onProgress?.({ type: "step", phase: "wait", done: 0, total: 0, label: `the lock of ${settings.target}` }),
    };
    const writes = await records.begin({ ...begin, ...(runUrl === undefined ? {} : { runUrl }) });
    if (writes.notice !== undefined) options.onNotice?.(writes.notice);
    const before = writes.state();
    if (before.version !== "") environment.onRecords?.(versionText("read", records, before));
    const done = await thenRelease(writes, () => applyWith(project, options, { environment, git, writes }));
    const after = writes.state();
    if (after.version !== before.version) environment.onRecords?.(versionText("written", records, after));
    return done;
  } finally {
    await records.close();
  }
}

/** Whether the CI job that holds a lease has ended. Only another job of the same repository can find out. */
async function hasHolderEnded({ runUrl }: Lease, folder: string, run: RunEnvironment): Promise<boolean> {
  if (runUrl === undefined) return false;
  const { readCiEnvironment, hasJobEnded } = await import("./forge/index.ts");
  return await hasJobEnded(runUrl, readCiEnvironment(run.env, folder), run);
}

/**
 * Releases the records after `work`. If they can't be written, that is part of its result, because
 * the changes were made.
 */
async function thenRelease<T extends { readonly result: Result }>(writes: RecordsRun, work: () => Promise<T>): Promise<T> {
  let done: T;
  try {
    done = await work();
  } catch (error) {
    // Nothing was sent, so this is the error to report.
    await writes.release().catch(() => undefined);
    throw error;
  }
  try {
    await writes.release();
    return done;
  } catch (error) {
    if (!(error instanceof DimsyncError)) throw error;
    const { result } = done;
    const { code, message, command } = error;
    const diagnostic = {
      rule: code,
      severity: "error",
      summary: titles[code],
      message,
      ...(command === undefined ? {} : { command }),
    };
    const exit = combineExits([result.exit, { code: error.exit, reasons: ["records"] }]);
    return { ...done, result: { ...result, findings: [diagnostic, ...result.findings], exit } };
  }
}

/** Records what is kept unreadable, what the service did not keep, and what selectors by live name cover. A run that saw only a part adds to what is known. */
function rememberAccount(
  writes: RecordsRun,
  { plan, result, notKept, kept }: Omit<Applied, "result"> & { readonly result: Pick<Result, "steps"> },
): void {
  if (!plan.executable || isDeclined(result)) return;
  const known = writes.state();
  const isWhole = plan.partial !== true;
  writes.remember({
    kept: keptAfter(known.kept, { found: kept, items: result.steps }),
    notKept: valuesToKeep(known.notKept, { found: [...notKeptValues(result), ...notKept], isWhole }),
    ...(isWhole ? { covered: coveredNow(known.covered, plan.covered) } : {}),
  });
}

/** What the plan no longer finds has changed since, in the manifests or the account. It does not mention texts with other white space. */
function valuesToKeep(
  known: RecordsState["notKept"],
  { found, isWhole }: { readonly found: readonly NotKept[]; readonly isWhole: boolean },
): RecordsState["notKept"] {
  const all = groupBy(
    found.flatMap(({ since, ...one }) => (since === undefined ? [] : [{ ...one, since }])),
    ({ address }) => address,
  );
  const addresses = new Set([...(isWhole ? known.keys() : []), ...all.keys()]);
  return new Map(
    [...addresses].map((address) => {
      const kept = [...(known.get(address) ?? [])].filter(([, { wanted, live }]) => !isWhole || differsInSpace(wanted, live));
      const before = known.get(address);
      const now = (all.get(address) ?? []).map(({ path, wanted, live, since }) => {
        const earlier = before?.get(path);
        const isSame = earlier !== undefined && sameJson(earlier.wanted, wanted);
        const times = isSame && sameJson(earlier.live, live) ? earlier.times + 1 : 1;
        return [path, { wanted, live, since: isSame ? earlier.since : since, times }] as const;
      });
      return [address, new Map([...kept, ...now])];
    }),
  );
}

/** By manifest; without those whose selectors are gone. */
function coveredNow(known: RecordsState["covered"], covered: Plan["covered"] = {}): RecordsState["covered"] {
  const gone = [...known.keys()].filter((address) => !Object.hasOwn(covered, address));
  return new Map([
    ...gone.map((address) => [address, new Map<string, string>()] as const),
    ...Object.entries(covered).map(([address, ids]) => [address, new Map(Object.entries(ids))] as const),
  ]);
}

/**
 * What to record once the account matches the manifests of a commit: all of them, so nothing was left out, failed or waits. Undefined otherwise: the next
 * plan is then compared with the commit before, and what is still missing counts as a change of the manifests.
 */
function commitOf(plan: Plan, git: Plan["git"], run: Pick<AppliedCommit, "runId" | "at">): AppliedCommit | undefined {
  if (git === undefined || git.dirty || plan.partial === true || plan.options?.protectOnly === true) return undefined;
  return { commit: git.commit, manifestDigest: plan.manifestDigest, ...run };
}

/** Records the commit of a run that ended well. If it changed nothing, only other manifests are worth a write. */
function rememberCommit(writes: RecordsRun, commit: AppliedCommit | undefined, hasChanged: boolean): void {
  if (commit !== undefined && (hasChanged || writes.state().appliedCommit?.manifestDigest !== commit.manifestDigest))
    writes.remember({ commit });
}

/** Records the commit of a plan without changes. Throws nothing: without it, the next plan is compared with an older commit. */
export async function recordUnchanged({ settings }: Project, plan: Plan, run: RunEnvironment): Promise<void> {
  const runId = randomUUID();
  const commit = stepsOf(plan, "blocked").length > 0 ? undefined : commitOf(plan, plan.git, { runId, at: plan.createdAt });
  if (commit === undefined && plan.covered === undefined && stepsOf(plan, "notKept").length === 0 && plan.kept === undefined) return;
  await withRecords(settings, run.env, async (records) => {
    try {
      const writes = await records.begin({ runId, waitMs: 0, signal: run.signal });
      rememberCommit(writes, commit, false);
      rememberAccount(writes, { plan, result: plan, notKept: [], kept: plan.kept === undefined ? [] : [plan.kept] });
      await writes.release();
    } catch (error) {
      if (!(error instanceof DimsyncError)) throw error;
    }
  });
}

interface ApplyStart {
  readonly environment: RunEnvironment;
  readonly writes: RecordsRun;
  readonly git: Run["git"];
}

async function applyWith(project: Project, options: ApplyAccountOptions, { environment, writes, git }: ApplyStart) {
  const account = await openAccount(project, { ...environment, readOnly: false, runId: writes.runId });
  try {
    const signal = AbortSignal.any([environment.signal, writes.lost]);
    const { base: chosen, ...asked } = options;
    const start = { ...environment, signal, options: asked };
    const opened = await startRun(project, start, { client: account.client, records: writes.state, git });
    const { run, unreadable } = await withBase(opened, chosen);
    if (unreadable !== undefined) throw unreadable;
    const beforeFirstWrite = async (made: Plan): Promise<void> => {
      await options.beforeFirstWrite?.(made);
      if (options.saved !== undefined) await writes.markApplied(made.planId);
    };
    const done = await apply({ ...run, writer: await openWriter(run, account.client, writes) }, { ...options, beforeFirstWrite });
    rememberAccount(writes, done);
    const { plan, result } = done;
    if (result.exit.code === 0)
      rememberCommit(
        writes,
        commitOf(plan, await git, { runId: writes.runId, at: result.finishedAt }),
        plan.steps.some(({ standing }) => standing === "ready" || standing === "waits"),
      );
    return options.saved === undefined ? done : { ...done, result: await withStaleAuthors(result, options.saved, run) };
  } finally {
    await account.close();
  }
}

async function openWriter({ project, env, signal }: Run, client: Client, writes: RecordsRun): Promise<WriteRun["writer"]> {
  const { decodeWrite } = await import("../service/index.ts");
  return {
    reads: client.asReadOnly(),
    send: (request) => client.send(request, writes.fence),
    decode: decodeWrite,
    records: writes,
    bodyLimit: { bytes: Number.POSITIVE_INFINITY },
    resolveSecrets: (references, addresses) => {
      const manifests = project.manifests.filter(({ address }) => addresses.has(address));
      return resolveAll(references, project.settings, env, signal, { manifests, locate: project.locate });
    },
  };
}

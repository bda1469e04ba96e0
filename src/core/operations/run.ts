import { randomUUID } from "node:crypto";
import type { Plan } from "../base/model/plan.ts";
import { type Clock, systemClock } from "../base/model/runtime/clock.ts";
import type { OnProgress } from "../base/model/runtime/progress.ts";
import { version } from "../base/model/runtime/version.ts";
import type { ExtendedCall, Reads } from "../base/model/service.ts";
import type { Environment } from "../base/model/settings/env.ts";
import type { Project } from "../manifests/index.ts";
import { cachedReads, everything, noRounds, type PlanOptions, type Run } from "../plan/index.ts";
import type { RecordsState } from "../records/index.ts";
import type { Client } from "../service/index.ts";
import { type AccountProject, withReadOnly } from "./account.ts";
import { openReview, projectGitState } from "./base.ts";
import { readRecords } from "./stores-records.ts";

/** The input of a run. It uses nothing else outside the project. */
export interface RunEnvironment {
  readonly env: Environment;
  /** When aborted, the run starts nothing new and finishes writes in flight. */
  readonly signal: AbortSignal;
  readonly onProgress?: OnProgress | undefined;
  /** Default: the time of the system. */
  readonly clock?: Clock | undefined;
  /**
   * Called with a sentence that names the version of shared records that was read, and the one that
   * was written last. A ref can be moved back, but the versions in logs can be compared.
   */
  readonly onRecords?: ((text: string) => void) | undefined;
  /** What the caller has just read of the records. Default: they are read. */
  readonly records?: RecordsState | undefined;
}

/** Runs `work` while git looks at the project's files, which can take seconds. Git is stopped if `work` ends before. */
export async function withGitState<T>(project: Project, run: RunEnvironment, work: (git: Run["git"]) => Promise<T>): Promise<T> {
  const ended = new AbortController();
  const git = projectGitState(project, AbortSignal.any([run.signal, ended.signal]));
  try {
    return await work(git);
  } finally {
    ended.abort();
  }
}

/** What a run starts with. */
interface RunStart extends RunEnvironment {
  readonly options?: PlanOptions;
  /** Default: "Plan". */
  readonly kind?: Plan["kind"];
}

interface OpenRun extends Pick<Run, "records" | "git"> {
  readonly client: Client;
}

/** A run that reads the account of `client`. */
export async function startRun(project: Project, start: RunStart, { client, records, git }: OpenRun): Promise<Run> {
  const { env, signal, onProgress, clock = systemClock, options = {}, kind = "Plan" } = start;
  return {
    project,
    options,
    kind,
    records,
    git,
    version,
    env,
    signal,
    onProgress,
    clock,
    scope: options.scope ?? everything,
    reads: cachedReads(withColumnProgress(client.asReadOnly(signal), onProgress)),
    calls: client.calls,
    missing: project.settings.extended === true ? new Set<ExtendedCall>() : undefined,
    newId: randomUUID,
    today: clock.now().toISOString().slice(0, 10),
    review: await openReview(project),
    rounds: noRounds,
  };
}

/** Runs `work` with a run that only reads the project's account, and closes the account afterwards. */
export async function withReadRun<T>(project: Project, start: RunStart, work: (run: Run) => Promise<T>): Promise<T> {
  return withGitState(project, start, (git) =>
    withReadOnly(project, start, async (client) => {
      const state = start.records ?? (await readRecords(project.settings, start));
      return await work(await startRun(project, start, { client, records: () => state, git }));
    }),
  );
}

// One event for each table would be most of an ndjson file.
const every = 100;

/** Reports how many of the tables that were asked for had their columns read with a request of their own, every hundred. */
function withColumnProgress<R extends Pick<Reads, "columns">>(reads: R, onProgress: OnProgress | undefined): R {
  if (onProgress === undefined) return reads;
  let done = 0;
  let total = 0;
  const columns: Reads["columns"] = async (...path) => {
    total += 1;
    const read = await reads.columns(...path);
    done += 1;
    if (done % every === 0) onProgress({ type: "step", phase: "columns", done, total, label: "tables" });
    return read;
  };
  return { ...reads, columns };
}

/** Runs `work` with reads of a project's account, and closes the connections. Throws DimsyncError. */
export const withReads = <T>(project: AccountProject, run: RunEnvironment, work: (reads: Reads) => Promise<T>): Promise<T> =>
  withReadOnly(project, run, (client) => work(withColumnProgress(client.asReadOnly(), run.onProgress)));

import { randomUUID } from "node:crypto";
import type { Session } from "../engine/session.ts";
import { gitState } from "../manifests/git.ts";
import type { Project } from "../manifests/project.ts";
import type { Settings } from "../model/config.ts";
import type { Plan } from "../model/plan.ts";
import type { OnProgress } from "../model/progress.ts";
import { version } from "../model/version.ts";
import { type BindingsFile, openBindings } from "../records/bindings.ts";
import { type Journal, openJournal } from "../records/journal.ts";
import { type ListLengths, readListLengths } from "../records/list-lengths.ts";
import type { Client } from "../service/client.ts";
import { systemClock } from "./account.ts";

/** What a run gets from its caller; it looks at nothing else outside the project. */
export interface RunEnvironment {
  readonly env: NodeJS.ProcessEnv;
  /** When aborted, the run starts nothing new and finishes writes in flight. */
  readonly signal: AbortSignal;
  readonly onProgress?: OnProgress | undefined;
  /** A snapshot file to read instead of the account; needs no key and no network. */
  readonly snapshotFile?: string | undefined;
}

export interface Records {
  readonly bindings: BindingsFile;
  readonly journal: Journal;
  readonly longestSeen: ListLengths;
}

export async function openRecords({ bindingsFile, folder, target }: Settings): Promise<Records> {
  const [bindings, journal, longestSeen] = await Promise.all([
    openBindings(bindingsFile, target),
    openJournal(folder, target),
    readListLengths(folder, target),
  ]);
  return { bindings, journal, longestSeen };
}

/** A session that reads the account of `client`. */
export function accountSession(project: Project, client: Client, records: Records, git: Plan["git"], run: RunEnvironment): Session {
  return { ...sessionBase(project, records, git, run), reads: client.asReadOnly(run.signal), calls: client.calls };
}

/** A session that reads a snapshot. Its plans cannot be applied. */
export async function snapshotSession(project: Project, file: string, run: RunEnvironment): Promise<Session> {
  const { settings } = project;
  const [{ readSnapshotFile }, { readsOf, snapshotOfAnother }] = await Promise.all([
    import("../snapshot/file.ts"),
    import("../snapshot/snapshot.ts"),
  ]);
  const [snapshot, records, git] = await Promise.all([readSnapshotFile(file), openRecords(settings), gitState(settings.folder)]);
  const problem = snapshotOfAnother(snapshot, settings, file);
  const problems = problem === undefined ? project.problems : [...project.problems, problem];
  return {
    ...sessionBase({ ...project, problems }, records, git, run),
    reads: readsOf(snapshot),
    calls: () => ({}),
    snapshot: snapshot.takenAt,
  };
}

function sessionBase(
  project: Project,
  { bindings, journal, longestSeen }: Records,
  git: Plan["git"],
  { signal, onProgress }: RunEnvironment,
) {
  return {
    project,
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

import { readFile, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { SeenColumns } from "../../model/columns.ts";
import { DimsyncError } from "../../model/errors.ts";
import { own } from "../../model/json/json.ts";
import { bindingChanges, emptyState, type Fact, journalEntries, toFact, withFacts } from "../facts.ts";
import { appendLines, readLog } from "../files/append-log.ts";
import { syncFolder, writeAtomic } from "../files/atomic.ts";
import { isErrno, reasonOf } from "../files/fs-errors.ts";
import { type LockOwner, newOwner, parseOwner } from "../files/lock-owner.ts";
import { parseJournalLine } from "../journal-line.ts";
import type { AppliedPlan, Lease, UnlockedRun } from "../records.ts";
import type { Content, Draft } from "../shared/store.ts";
import { lockPath, stateFolder } from "../state-folder.ts";
import { parseAppliedCommit, parseAppliedPlan, parseListLengths, parseSeenColumns, parseUnlockedRun } from "../stored-values.ts";
import { readOfTarget, writeOfTarget } from "../target-file.ts";
import type { BindingsFile } from "./bindings.ts";

export interface FolderStoreOptions {
  /** Absolute path of the project's folder: everything but the bindings is in `.dimsync/` below it. */
  readonly folder: string;
  readonly target: string;
  /** Absolute path. */
  readonly bindingsFile: string;
}

// In `.dimsync/`, with the entries of all targets:
//   journal.ndjson     creates, before they are sent and when their outcome is known
//   applied.ndjson     saved plans that were applied
//   unlocked.ndjson    runs whose lease was ended early
//   lists.json         the greatest length of each list
//   columns.json       the columns that runs have seen
//   commits.json       the commits that were applied last
// For each target:
//   lock-TARGET.json   who holds the lease; absent if it is free
export const journalFile = (folder: string): string => join(stateFolder(folder), "journal.ndjson");
const appliedFile = (folder: string): string => join(stateFolder(folder), "applied.ndjson");
const unlockedFile = (folder: string): string => join(stateFolder(folder), "unlocked.ndjson");

/**
 * The content of the files, without the columns, and the holder of the lease as its file has it. Throws E_BINDINGS_FILE,
 * E_DUPLICATE_BINDING, E_JOURNAL and E_LOCK_FILE (exit 1), and E_APPLIED_FILE (exit 5).
 */
export async function readFiles(
  { folder, target }: FolderStoreOptions,
  bindingsFile: BindingsFile,
  ttlMs: number,
): Promise<{ readonly content: Content; readonly owner: LockOwner | undefined }> {
  const [bindings, journal, applied, lists, commit, unlocked, owner] = await Promise.all([
    bindingsFile.read(),
    readJournal(folder, target),
    readApplied(folder),
    readOfTarget(folder, "lists.json", target),
    readOfTarget(folder, "commits.json", target),
    readUnlocked(folder, target),
    readOwner(folder, target),
  ]);
  const appliedCommit = parseAppliedCommit(commit);
  const base = {
    ...emptyState,
    bindings,
    longestSeen: parseListLengths(lists),
    unlocked,
    ...(appliedCommit === undefined ? {} : { appliedCommit }),
  };
  const lease = owner === undefined ? undefined : leaseOf(owner, ttlMs);
  return { content: { epoch: 0, lease, state: withFacts(base, journal), applied }, owner };
}

/** The columns that runs have seen. They are read apart, because there can be many. */
export const readColumns = async ({ folder, target }: FolderStoreOptions): Promise<SeenColumns | undefined> =>
  parseSeenColumns(await readOfTarget(folder, "columns.json", target));

interface NextContent {
  readonly before: Content;
  readonly content: Content;
  readonly draft: Draft;
  /** Throws if this process was stopped for so long that another one may have the lock of the folder. */
  readonly refuseLate: () => void;
}

/** Call it under the lock of the folder. Throws what Node's calls throw, and E_BINDINGS_FILE. */
export async function writeFiles({ folder, target }: FolderStoreOptions, bindings: BindingsFile, next: NextContent): Promise<void> {
  const { facts, lease, unlocked, runId } = next.draft;
  const { state } = next.content;
  await bindings.write(bindingChanges(facts));
  await appendLines(journalFile(folder), journalEntries(facts, target), (bytes) => keptLines(journalFile(folder), bytes));
  await appendLines(
    appliedFile(folder),
    facts.flatMap((fact) => (fact.type === "applied" ? [{ ...fact.plan }] : [])),
  );
  const has = (type: Fact["type"]): boolean => facts.some((fact) => fact.type === type);
  if (has("lists")) await writeOfTarget(folder, "lists.json", { target, value: state.longestSeen });
  if (has("columns")) await writeOfTarget(folder, "columns.json", { target, value: state.columnsSeen });
  if (has("commit")) await writeOfTarget(folder, "commits.json", { target, value: state.appliedCommit });
  await appendLines(unlockedFile(folder), unlocked === undefined ? [] : [{ target, ...unlocked }]);
  const known = next.before.lease;
  const renewed = known?.runId === runId && known.reason === undefined ? known : undefined;
  next.refuseLate();
  if (lease === "free") await removeLease(folder, target);
  else if (lease !== undefined || renewed !== undefined) await writeLease(folder, target, lease ?? renewed);
}

const compactBytes = 1024 * 1024;

/** A large journal without open creates, of any target, is cut to its last lines. */
async function keptLines(file: string, bytes: number): Promise<number | undefined> {
  if (bytes <= compactBytes) return undefined;
  return withFacts(emptyState, (await readLines(file)).map(toFact)).open.length === 0 ? 1000 : undefined;
}

/** The creates of the target. Throws E_JOURNAL (exit 1) if a line cannot be understood, for any target. */
async function readJournal(folder: string, target: string): Promise<readonly Fact[]> {
  return (await readLines(journalFile(folder))).filter((line) => line.type === "settle" || line.target === target).map(toFact);
}

async function readLines(file: string) {
  const lines = await readLog(file).catch((error: unknown) => {
    throw new DimsyncError(
      "E_JOURNAL",
      `The journal ${file} cannot be read: ${reasonOf(error)}. It records creates without a known outcome, so dimsync does not plan without it. Make it readable.`,
      { cause: error },
    );
  });
  if ("broken" in lines) throw broken(file, lines.broken, "is not a JSON object");
  return lines.map(({ number, entry }) => {
    const line = parseJournalLine(entry);
    if (line === undefined) throw broken(file, number, "is not an entry that this version of dimsync can read");
    return line;
  });
}

const broken = (file: string, line: number, why: string): DimsyncError =>
  new DimsyncError(
    "E_JOURNAL",
    `${file}:${line} ${why}. The line may be a create without a known outcome, so dimsync neither skips it nor writes to the file. Check the account for an object that was created at that time and record it with \`dimsync bind ADDRESS=ID\`; then delete the line.`,
  );

/** Saved plans that were applied for any target, by id; of each, the first application. */
async function readApplied(folder: string): Promise<ReadonlyMap<string, AppliedPlan>> {
  const file = appliedFile(folder);
  const lines = await readLog(file).catch((error: unknown) => {
    throw unusable(file, reasonOf(error), error);
  });
  if ("broken" in lines) throw unusable(file, `line ${lines.broken} is not a JSON object`);
  const plans = new Map<string, AppliedPlan>();
  for (const { number, entry } of lines) {
    const plan = parseAppliedPlan(entry);
    if (plan === undefined) throw unusable(file, `line ${number} names no plan`);
    if (!plans.has(plan.planId)) plans.set(plan.planId, plan);
  }
  return plans;
}

const unusable = (file: string, why: string, cause?: unknown): DimsyncError =>
  new DimsyncError(
    "E_APPLIED_FILE",
    `The record of applied plans ${file} cannot be used: ${why}. Without it, a plan could be applied twice, so nothing was sent. Fix the file or its folder, or delete the file and make a new plan.`,
    { exit: 5, cause },
  );

/** Runs whose lease was ended early. If the file is not valid, there is only no warning about them. */
async function readUnlocked(folder: string, target: string): Promise<readonly UnlockedRun[]> {
  const lines = await readLog(unlockedFile(folder)).catch(() => []);
  if ("broken" in lines) return [];
  return lines.flatMap(({ entry }) => (own(entry, "target") === target ? (parseUnlockedRun(entry) ?? []) : []));
}

/** The holder of the lease, as its file has it. A file that cannot be understood is held by an unknown run. */
async function readOwner(folder: string, target: string): Promise<LockOwner | undefined> {
  const file = lockPath(folder, target);
  try {
    const text = await readFile(file, "utf8");
    const at = (await stat(file)).mtime.toISOString();
    const unknown = {
      token: at,
      runId: "unknown",
      runUrl: "",
      startedAt: at,
      heartbeat: at,
      pid: 0,
      host: "",
      pidSpace: "?",
      processStart: "",
    };
    return parseOwner(text) ?? unknown;
  } catch (error) {
    if (isErrno(error, "ENOENT")) return undefined;
    throw new DimsyncError(
      "E_LOCK_FILE",
      `The lock ${file} cannot be read: ${reasonOf(error)}. Without it, two runs could create the same object twice. Make it readable.`,
      { cause: error },
    );
  }
}

function leaseOf(owner: LockOwner, ttlMs: number): Lease {
  const { token, runId, runUrl, startedAt, reason, until, pid, host } = owner;
  return {
    token,
    runId,
    runUrl: runUrl === "" ? undefined : runUrl,
    since: startedAt,
    ttlMs,
    epoch: 0,
    reason,
    until,
    holder: reason === undefined ? `process ${pid} on ${host}` : `on ${host}`,
  };
}

/** Writes the lease with a new heartbeat; this process holds it. */
async function writeLease(folder: string, target: string, lease: Lease | undefined): Promise<void> {
  if (lease === undefined) return;
  const { token, runId, runUrl, since, reason, until } = lease;
  const owner = {
    ...newOwner({ runId, ...(runUrl === undefined ? {} : { runUrl }) }),
    token,
    startedAt: since,
    ...(reason === undefined ? {} : { reason }),
    ...(until === undefined ? {} : { until }),
  };
  await writeAtomic(lockPath(folder, target), `${JSON.stringify(owner)}\n`, { mode: 0o600 });
}

/** Removes the lease with the token only. Throws E_LOCK_FILE, and what Node's calls throw. */
export async function releaseLease({ folder, target }: FolderStoreOptions, token: string | undefined): Promise<void> {
  if (token !== undefined && (await readOwner(folder, target))?.token === token) await removeLease(folder, target);
}

async function removeLease(folder: string, target: string): Promise<void> {
  await unlink(lockPath(folder, target)).catch((error: unknown) => {
    if (!isErrno(error, "ENOENT")) throw error;
  });
  await syncFolder(stateFolder(folder));
}

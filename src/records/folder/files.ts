import { parseAppliedCommit } from "../applied-commit.ts";
import { parseSeenColumns } from "../columns-seen.ts";
import { parseListLengths } from "../list-lengths.ts";
import type { RecordsState } from "../records.ts";
import { readOfTarget } from "../target-file.ts";
import { openBindings } from "./bindings.ts";
import { openJournal } from "./journal.ts";
import { readUnlocked } from "./unlocked.ts";

export interface FolderStoreOptions {
  /** Absolute path of the project's folder: everything but the bindings is in `.dimsync/` below it. */
  readonly folder: string;
  readonly target: string;
  /** Absolute path. */
  readonly bindingsFile: string;
}

/** The files of a target's records, except the lock. Throws E_BINDINGS_FILE, E_DUPLICATE_BINDING and E_JOURNAL (exit 1). */
export async function openFiles({ folder, target, bindingsFile }: FolderStoreOptions) {
  const [bindings, journal, lists, columns, commit, unlocked] = await Promise.all([
    openBindings(bindingsFile, target),
    openJournal(folder, target),
    readOfTarget(folder, "lists.json", target),
    readOfTarget(folder, "columns.json", target),
    readOfTarget(folder, "commits.json", target),
    readUnlocked(folder, target),
  ]);
  return {
    ...{ bindings, journal, unlocked, longestSeen: parseListLengths(lists) },
    ...{ columnsSeen: parseSeenColumns(columns), appliedCommit: parseAppliedCommit(commit) },
  };
}

/** Writes change what `bindings` and `journal` return. The rest is as it was when it was read. */
export type OpenFiles = Awaited<ReturnType<typeof openFiles>>;

/** What the files say now. */
export function stateOf({ bindings, journal, longestSeen, columnsSeen, appliedCommit, unlocked }: OpenFiles): RecordsState {
  return {
    version: "",
    bindings: bindings.all(),
    open: journal.open(),
    created: new Map(journal.created()),
    forgotten: journal.forgotten(),
    longestSeen,
    ...(columnsSeen === undefined ? {} : { columnsSeen }),
    ...(appliedCommit === undefined ? {} : { appliedCommit }),
    unlocked,
  };
}

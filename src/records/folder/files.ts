import { readColumnsSeen } from "../columns-seen.ts";
import { readListLengths } from "../list-lengths.ts";
import type { RecordsState } from "../records.ts";
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
  const [bindings, journal, longestSeen, columnsSeen, unlocked] = await Promise.all([
    openBindings(bindingsFile, target),
    openJournal(folder, target),
    readListLengths(folder, target),
    readColumnsSeen(folder, target),
    readUnlocked(folder, target),
  ]);
  return { bindings, journal, longestSeen, columnsSeen, unlocked };
}

/** Writes change what `bindings` and `journal` return. The rest is as it was when it was read. */
export type OpenFiles = Awaited<ReturnType<typeof openFiles>>;

/** What the files say now. */
export function stateOf({ bindings, journal, longestSeen, columnsSeen, unlocked }: OpenFiles): RecordsState {
  return {
    version: "",
    bindings: bindings.all(),
    open: journal.open(),
    created: new Map(journal.created()),
    forgotten: journal.forgotten(),
    longestSeen,
    ...(columnsSeen === undefined ? {} : { columnsSeen }),
    unlocked,
  };
}

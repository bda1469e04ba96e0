import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Bindings } from "../../base/model/address.ts";
import { DimsyncError } from "../../base/model/errors.ts";
import { bindingChanges, emptyContent } from "../facts.ts";
import { isErrno, reasonOf, writeAtomic } from "../files/atomic.ts";
import { withFileLock } from "../files/file-lock.ts";
import { ageMs, systemClock } from "../lease.ts";
import { hasEnded } from "../process-identity.ts";
import { ContentError } from "../readers.ts";
import type { Lease, Records } from "../records.ts";
import { recordsOf } from "../shared/records.ts";
import type { RecordsContent, SharedStore, Version, WriteOutcome } from "../shared/store.ts";
import { ensureStateFolder, stateFolder } from "../state-folder.ts";
import { recordsInvalid, recordsUnreadable } from "../store-errors.ts";
import { parseRecords, printRecords } from "../text.ts";
import { openBindings } from "./bindings.ts";

export { readAllBindings } from "./bindings.ts";

interface FolderStoreOptions {
  /** Absolute path of the project's folder: everything but the bindings is in `.dimsync/` below it. */
  readonly folder: string;
  readonly target: string;
  /** Absolute path. */
  readonly bindingsFile: string;
}

// The text of the records without the bindings is in `.dimsync/TARGET.records`. The bindings are in a file of their own for all
// targets, because people commit, merge and edit it: its lines for the target are those of the records. Both are read without a lock and
// written under one, if they still contain what the write is made from. A write that is cut off leaves the bindings changed, so an
// id is bound before its create is settled.

interface FolderVersion extends Version {
  /** When the file was written last: the heartbeat of the lease's holder. */
  readonly writtenMs: number;
  /** Of the file; undefined if there is none. */
  readonly text: string | undefined;
}

/** A holder without a heartbeat for this long has lost the lease. */
const ttlMs = 60_000;

/** The file with the records of a target, except for its bindings. */
export const recordsFile = (folder: string, target: string): string => join(stateFolder(folder), `${encodeURIComponent(target)}.records`);

/** The records of one target in files of this machine: the bindings file, and `.dimsync/` beside dimsync.yaml. */
export function openFolderRecords(options: FolderStoreOptions): Records {
  const { folder, target } = options;
  const file = recordsFile(folder, target);
  const bindings = openBindings(options.bindingsFile, target);
  const place = {
    target,
    place: stateFolder(folder),
    writeFix: `Make ${stateFolder(folder)} and the bindings file writable, and free disk space if the disk is full.`,
  };
  const read = async (): Promise<FolderVersion> => {
    // In this order: a write changes the bindings first, so an id that is not bound yet is in a create that is still open.
    const [text, bound] = [await readText(file, place), await bindings.read()];
    const content = withBindings(contentIn(text.text, file, place), bound);
    return { ...text, version: versionOf(text.text, bound), content };
  };
  const textOf = (content: RecordsContent): string => printRecords({ target, id: "" }, withBindings(content, new Map()));
  const store: SharedStore<FolderVersion> = {
    ...place,
    folder,
    clock: systemClock,
    ttlMs,
    gatherMs: 100,
    waveSize: 1,
    pollMs: 250,
    read,
    isAbandoned: () => false,
    whyGone: ({ content: { lease }, writtenMs }) => whyGone(lease, Date.now() - writtenMs),
    async prepare({ writtenMs }, { content }) {
      const text = textOf(content);
      return { version: versionOf(text, content.state.bindings), text, content, writtenMs };
    },
    async swap(next, parent) {
      try {
        await ensureStateFolder(folder);
        return await withFileLock(`${file}.lock`, async (): Promise<WriteOutcome> => {
          // Another process may have the lock if this one was stopped for long.
          const since = systemClock.now();
          const beforeRename = (): void => {
            const age = ageMs(systemClock, since);
            if (age >= ttlMs / 2) throw new Error(`the process was stopped for ${Math.round(age / 1000)} s`);
          };
          const writeText = (content: RecordsContent): Promise<void> => writeAtomic(file, textOf(content), { mode: 0o600, beforeRename });
          try {
            if ((await read()).version !== parent.version) return { outcome: "lost", isGone: false };
            await bindings.write(bindingChanges(parent.content.state.bindings, next.content.state.bindings));
            await writeText(next.content);
          } catch (error) {
            // The run ends. What it could not write is in the file of its responses, which the next one reads.
            const [before, after] = [parent.content, next.content];
            const isEnd =
              before.lease !== undefined && after.lease === undefined && before.state.unlocked.length === after.state.unlocked.length;
            if (isEnd && (await readText(file, place)).text === parent.text) await writeText({ ...before, lease: undefined });
            throw error;
          }
          return { outcome: "stored", newest: next.version };
        });
      } catch (error) {
        // A file that cannot be understood is found before the first change.
        if (error instanceof DimsyncError) return { outcome: "refused", words: error.message };
        const now = await read().catch(() => undefined);
        return { outcome: now?.version === parent.version ? "refused" : "unclear", words: reasonOf(error) };
      }
    },
    async outcomeOf(next, parent) {
      const now = await read().catch(() => undefined);
      if (now === undefined) return "unreadable";
      if (now.version === parent.version) return "unchanged";
      return now.version === next.version ? { outcome: "stored", newest: now.version } : { outcome: "lost", isGone: false };
    },
    // Files have none, and no other machine writes them.
    history: async () => [],
    close: async () => undefined,
  };
  return recordsOf("folder", store);
}

const withBindings = (content: RecordsContent, bindings: Bindings): RecordsContent => ({
  ...content,
  state: { ...content.state, bindings },
});

/** A digest of what the files contain about the target, whoever wrote it. */
const versionOf = (text: string | undefined, bindings: Bindings): string =>
  createHash("sha256")
    .update(JSON.stringify([text ?? "", [...bindings].sort()]))
    .digest("hex");

async function readText(file: string, place: Parameters<typeof recordsUnreadable>[0]): Promise<Pick<FolderVersion, "text" | "writtenMs">> {
  try {
    const [text, { mtimeMs: writtenMs }] = await Promise.all([readFile(file, "utf8"), stat(file)]);
    return { text, writtenMs };
  } catch (error) {
    if (isErrno(error, "ENOENT")) return { text: undefined, writtenMs: 0 };
    throw recordsUnreadable(place, `${file}: ${reasonOf(error)}`, error);
  }
}

/** A missing file has no records. Throws E_RECORDS_READ. */
function contentIn(text: string | undefined, file: string, place: Parameters<typeof recordsInvalid>[0]): RecordsContent {
  try {
    return text === undefined ? emptyContent : parseRecords(text).content;
  } catch (error) {
    throw error instanceof ContentError ? recordsInvalid(place, `${file}: ${error.message}`, error) : error;
  }
}

function whyGone(lease: Lease | undefined, silentMs: number): string | undefined {
  if (lease === undefined || lease.reason !== undefined) return undefined;
  if (lease.process !== undefined && hasEnded(lease.process)) return "has no process any more";
  return silentMs > ttlMs ? `has written no heartbeat for ${Math.round(silentMs / 1000)} s` : undefined;
}

import { createHash } from "node:crypto";
import { join } from "node:path";
import { DimsyncError } from "../../model/errors.ts";
import { canonicalJson } from "../../model/json/json.ts";
import { withFileLock } from "../files/file-lock.ts";
import { reasonOf } from "../files/fs-errors.ts";
import { type LockOwner, whyStale } from "../files/lock-owner.ts";
import { ageMs, instant } from "../lease.ts";
import type { Records } from "../records.ts";
import { contentAfter } from "../shared/next-version.ts";
import { recordsOf } from "../shared/records.ts";
import type { Content, Draft, Version, WriteOutcome } from "../shared/store.ts";
import { ensureStateFolder, stateFolder } from "../state-folder.ts";
import { openBindings } from "./bindings.ts";
import { type FolderStoreOptions, journalFile, readColumns, readFiles, releaseLease, writeFiles } from "./files.ts";

// The records are in several files, some of which have those of all targets. They are read without a lock
// and written under one: a version is written if the files still contain what it was made from. A write
// that is cut off leaves the beginning of its changes. So the order of the files matters: an id is bound before
// its create is settled, and the lease changes last. A process that is stopped for long within a write may find
// that another one has the lock: then it leaves the lease alone, and sends nothing more.

interface FolderVersion extends Version {
  /** Of the file of the lease. */
  readonly owner: LockOwner | undefined;
  /** Of a prepared version. */
  readonly draft?: Draft;
}

/** A holder without a heartbeat for this long has lost the lease. */
const ttlMs = 60_000;

/** The records of one target in files of this machine: the bindings file, and `.dimsync/` beside dimsync.yaml. */
export function openFolderRecords(options: FolderStoreOptions): Records {
  const { folder, target } = options;
  const bindings = openBindings(options.bindingsFile, target);
  const place = {
    target,
    place: stateFolder(folder),
    writeFix: `Make ${stateFolder(folder)} and the bindings file writable, and free disk space if the disk is full.`,
  };
  const current = async (): Promise<string> => digestOf((await readFiles(options, bindings, ttlMs)).content);
  return recordsOf<FolderVersion>("folder", {
    ...place,
    folder,
    ttlMs,
    gatherMs: 100,
    waveSize: 1,
    pollMs: 250,
    async load() {
      const [{ content, owner }, columnsSeen] = await Promise.all([readFiles(options, bindings, ttlMs), readColumns(options)]);
      const state = columnsSeen === undefined ? content.state : { ...content.state, columnsSeen };
      return { version: digestOf(content), content: { ...content, state }, owner };
    },
    isAbandoned: () => false,
    whyGone: ({ owner }) => (owner === undefined ? undefined : whyStale(owner, ttlMs)),
    async prepare({ content: before, owner }, draft) {
      const content = contentAfter(before, draft);
      return { version: digestOf(content), content, owner, draft };
    },
    async write({ version, content, draft }, parent) {
      if (draft === undefined) throw new Error("Only a prepared version can be written.");
      try {
        await ensureStateFolder(folder);
        return await withFileLock(join(stateFolder(folder), "records.lock"), async (): Promise<WriteOutcome> => {
          const since = instant();
          const refuseLate = (): void => {
            const age = ageMs(since);
            if (age >= ttlMs / 2) throw new Error(`the process was stopped for ${Math.round(age / 1000)} s`);
          };
          try {
            if ((await current()) !== parent.version) return { outcome: "lost", isGone: false };
            await writeFiles(options, bindings, { before: parent.content, content, draft, refuseLate });
          } catch (error) {
            // The run ends. What it could not write is in the file of its responses, which the next one reads.
            const token = parent.content.lease?.token;
            if (draft.lease === "free" && draft.unlocked === undefined) await releaseLease(options, token).catch(() => undefined);
            throw error;
          }
          return { outcome: "stored", newest: version };
        });
      } catch (error) {
        // A file that cannot be understood is found before the first change.
        if (error instanceof DimsyncError) return { outcome: "refused", words: error.message };
        const now = await current().catch(() => undefined);
        return { outcome: now === parent.version ? "refused" : "unclear", words: reasonOf(error) };
      }
    },
    async outcomeOf(next, parent) {
      const now = await current().catch(() => undefined);
      if (now === undefined) return "unreadable";
      if (now === parent.version) return "unchanged";
      return now === next.version ? { outcome: "stored", newest: now } : { outcome: "lost", isGone: false };
    },
    history: () =>
      Promise.reject(
        new DimsyncError(
          "E_RECORDS_HISTORY",
          `The records of the target ${target} are files, which have no history. The journal of creates is ${journalFile(folder)}. Records in git or PostgreSQL have a history.`,
        ),
      ),
    close: async () => undefined,
  });
}

/** A version is a digest of what the files contain about the target, whoever wrote it. The heartbeat and the columns are not part of it. */
function digestOf({ lease, applied, state: { bindings, created, columnsSeen: _, ...state } }: Content): string {
  const parts = [...[[...bindings].sort(), [...created], state, [...applied.values()]], ...[lease?.token, lease?.reason, lease?.until]];
  return createHash("sha256").update(canonicalJson(parts)).digest("hex");
}

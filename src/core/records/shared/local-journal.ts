import { mkdir, open, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { parseJson } from "../../base/model/json/parse.ts";
import type { Fact } from "../facts.ts";
import { isErrno, syncFile, syncFolder } from "../files/atomic.ts";
import type { Settlement } from "../history.ts";
import { members, oneOf, optional, text } from "../readers.ts";
import type { RecordsState } from "../records.ts";
import { ensureStateFolder, stateFolder } from "../state-folder.ts";
import { recordsUnreadable, type StorePlace } from "../store-errors.ts";

// The outcome of a create must survive a kill before it reaches the shared store: the id of an
// asset is known from the response alone. Each run appends its responses to a file of its own, and
// deletes that when all of them are stored. The next run on this machine adds what a killed run
// left behind.

/** A response of an earlier run on this machine. */
interface KeptResponse extends Settlement {
  readonly entryId: string;
}

const outcomes = ["created", "failed", "unknown", "not-created", "recovered", "answered", "forgotten"] as const;
const keptResponse = members<KeptResponse>({ entryId: text, outcome: oneOf(outcomes), id: optional(text), by: optional(text) });

export interface LocalJournal {
  readonly file: string;
  /** Resolves when the line is on disk. Throws what Node's calls throw. */
  readonly append: (entryId: string, settlement: Settlement) => Promise<void>;
  /**
   * Call it when everything is in the shared store: deletes the file of this run, and those that it
   * read.
   */
  readonly forget: () => Promise<void>;
}

/** What earlier runs for the target left behind on this machine. A file that can't be understood is left alone. Throws what Node's calls throw. */
async function readLocalJournal(
  folder: string,
  target: string,
): Promise<{ readonly files: readonly string[]; readonly responses: readonly KeptResponse[] }> {
  const beside = folderOf(folder, target);
  const unlessMissing = (error: unknown): undefined => {
    if (!isErrno(error, "ENOENT")) throw error;
  };
  const files: string[] = [];
  const responses: KeptResponse[] = [];
  for (const name of ((await readdir(beside).catch(unlessMissing)) ?? []).filter((one) => one.endsWith(".ndjson")).sort()) {
    const bytes = await readFile(join(beside, name)).catch(unlessMissing);
    const found = bytes === undefined ? undefined : responsesIn(bytes);
    if (found === undefined) continue;
    for (const response of found) responses.push(response);
    files.push(join(beside, name));
  }
  return { files, responses };
}

/** Undefined if a line cannot be understood. */
function responsesIn(bytes: Buffer): readonly KeptResponse[] | undefined {
  const read = (line: Buffer): KeptResponse => keptResponse(parseJson(strictUtf8.decode(line)));
  const found: KeptResponse[] = [];
  let start = 0;
  try {
    for (let end = bytes.indexOf(0x0a); end >= 0; start = end + 1, end = bytes.indexOf(0x0a, start))
      if (bytes.toString("latin1", start, end).trim() !== "") found.push(read(bytes.subarray(start, end)));
  } catch {
    return undefined;
  }
  try {
    found.push(read(bytes.subarray(start)));
  } catch {
    // Nothing relies on a line without a line feed: the process was killed, or the disk was full, during the write.
  }
  return found;
}

const strictUtf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Facts of earlier runs on this machine that could not be stored. An id is added as the service's
 * response to an intent that is still open, and the next plan binds it.
 */
export async function keptFacts(
  store: StorePlace & { readonly folder: string },
  state: RecordsState,
): Promise<{ readonly facts: readonly Fact[]; readonly files: readonly string[] }> {
  const { files, responses } = await readLocalJournal(store.folder, store.target).catch((error: unknown) => {
    throw recordsUnreadable(store, `the responses that this machine keeps in .dimsync: ${String(error)}`, error);
  });
  const open = new Set(state.open.map(({ entryId }) => entryId));
  const facts = responses
    .filter(({ entryId }) => open.has(entryId))
    .map(({ entryId, ...settlement }): Fact => {
      const { id } = settlement;
      return { type: "settle", entryId, settlement: id === undefined ? settlement : { outcome: "answered", id } };
    });
  return { facts, files };
}

/** The file of this run; nothing is created before the first response. `earlier`: the files that were read, and whose content this run stores. */
export function openLocalJournal(folder: string, target: string, runId: string, earlier: readonly string[]): LocalJournal {
  const beside = folderOf(folder, target);
  const file = join(beside, `${encodeURIComponent(runId)}.ndjson`);
  return {
    file,
    async append(entryId, settlement) {
      await ensureStateFolder(folder);
      const isNew = (await mkdir(beside, { recursive: true })) !== undefined;
      if (isNew) await syncFolder(stateFolder(folder));
      const handle = await open(file, "a", 0o600);
      try {
        const { size } = await handle.stat();
        await handle.appendFile(`${JSON.stringify(keptResponse({ ...settlement, entryId }))}\n`);
        await syncFile(handle);
        if (size === 0) await syncFolder(beside);
      } finally {
        await handle.close();
      }
    },
    async forget() {
      for (const done of [...earlier, file]) await rm(done, { force: true });
    },
  };
}

const folderOf = (folder: string, target: string): string => join(stateFolder(folder), `responses-${encodeURIComponent(target)}`);

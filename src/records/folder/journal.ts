import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { DimsyncError } from "../../model/errors.ts";
import { appendLog, readLog } from "../files/append-log.ts";
import { reasonOf } from "../files/fs-errors.ts";
import { type CreatedEntry, historyOf, type OpenIntent, settleIn } from "../history.ts";
import { type Intent, type JournalLine, parseJournalLine, type Settlement, toLogEntry } from "../journal-line.ts";
import { ensureStateFolder, stateFolder } from "../state-folder.ts";

export interface Journal {
  readonly file: string;
  /**
   * Writes the line that must be on disk before the POST is sent. Then resolves with the entry's
   * id. Throws E_JOURNAL_WRITE (exit 4): send nothing.
   */
  readonly intend: (entry: Intent) => Promise<string>;
  /** Writes the outcome; resolves when it is on disk. Throws E_JOURNAL_WRITE (exit 4); the entry then stays open. */
  readonly settle: (entryId: string, settlement: Settlement) => Promise<void>;
  /** The open intents of this target, oldest first. */
  readonly open: () => readonly OpenIntent[];
  /**
   * By address, the object that was created last and not forgotten since. It shows that an object
   * exists although its binding was lost.
   */
  readonly created: () => ReadonlyMap<string, CreatedEntry>;
  /** Ids of created objects that the user unbound. */
  readonly forgotten: () => readonly string[];
}

const compactBytes = 1024 * 1024;
const keptLines = 1000;

/**
 * Opens `.dimsync/journal.ndjson` below the project's folder; nothing is created before the first `intend`. Throws E_JOURNAL (exit 1) if a line
 * cannot be understood, for any target.
 */
export async function openJournal(folder: string, target: string): Promise<Journal> {
  const file = join(stateFolder(folder), "journal.ndjson");
  const { open, created, forgotten } = historyOf(
    (await readLines(file)).filter((line) => line.type === "settle" || line.target === target),
  );
  let nextCompaction = compactBytes;

  const compact = async (bytes: number): Promise<number | undefined> => {
    if (bytes <= nextCompaction) return undefined;
    // A thousand long lines may still exceed the limit: check again when the file has doubled.
    nextCompaction = bytes * 2;
    return historyOf(await readLines(file)).open.size === 0 ? keptLines : undefined;
  };
  const write = async (line: JournalLine, consequence: string): Promise<void> => {
    try {
      await ensureStateFolder(folder);
      await appendLog(file, toLogEntry(line, new Date().toISOString()), line.type === "intend" ? compact : undefined);
    } catch (error) {
      if (error instanceof DimsyncError) throw error;
      throw new DimsyncError("E_JOURNAL_WRITE", `The journal ${file} could not be written: ${reasonOf(error)}. ${consequence}`, {
        exit: 4,
        cause: error,
      });
    }
  };
  return {
    file,
    async intend(intent) {
      const entryId = randomUUID();
      await write(
        { type: "intend", entryId, target, intent },
        `A create cannot be undone and must not be sent twice, so ${intent.address} was not sent. Fix the folder or the disk, then run apply again.`,
      );
      open.set(entryId, { entryId, ...intent });
      return entryId;
    },
    async settle(entryId, settlement) {
      const intent = open.get(entryId);
      await write(
        { type: "settle", entryId, settlement },
        `The outcome of ${intent?.address ?? "a create"} was "${settlement.outcome}"${settlement.id === undefined ? "" : ` with the id ${settlement.id}`}; the next run will look for it. Fix the folder or the disk.`,
      );
      settleIn({ open, created, forgotten }, entryId, settlement);
    },
    open: () => [...open.values()],
    created: () => created,
    forgotten: () => [...forgotten],
  };
}

async function readLines(file: string): Promise<readonly JournalLine[]> {
  const lines = await readLog(file).catch((error: unknown) => {
    throw new DimsyncError(
      "E_JOURNAL",
      `The journal ${file} cannot be read: ${reasonOf(error)}. It records creates without a known outcome, so dimsync does not plan without it. Make it readable.`,
      {
        cause: error,
      },
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

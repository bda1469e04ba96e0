import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Binding, Bindings } from "../../model/address.ts";
import { type Address, parseAddress } from "../../model/address.ts";
import { DimsyncError } from "../../model/errors.ts";
import { sameJson } from "../../model/json/json.ts";
import { shellWord } from "../../text/shell.ts";
import {
  type BindingsText,
  changeTarget,
  duplicateBinding,
  emptyBindingsText,
  parseBindingsText,
  printBindingsText,
  readTarget,
} from "../bindings-text.ts";
import { writeAtomic } from "../files/atomic.ts";
import { withFileLock } from "../files/file-lock.ts";
import { isErrno, reasonOf } from "../files/fs-errors.ts";
import { ensureStateFolder } from "../state-folder.ts";

/** The bindings of one target, and the way to change them. */
export interface BindingsFile {
  readonly file: string;
  /**
   * The recorded bindings, including those that were set and could not be written yet. A snapshot:
   * later changes are not in it.
   */
  readonly all: () => Bindings;
  readonly get: (address: Address) => Binding | undefined;
  /**
   * Resolves when the binding is on disk. Calls during a write are written together. Throws
   * E_DUPLICATE_BINDING (exit 1) if another address of the kind has the id, and E_BINDINGS_WRITE
   * (exit 4), whose message names every id that is not recorded; the next call tries those again.
   */
  readonly set: (address: Address, binding: Binding) => Promise<void>;
  /** Resolves when the line is removed on disk. Throws E_BINDINGS_WRITE (exit 4). */
  readonly remove: (address: Address) => Promise<void>;
}

/**
 * Reads the bindings of a target; a missing file has none. Throws E_BINDINGS_FILE with
 * FILE:LINE:COLUMN if the file is not valid (then it is never written to), and E_DUPLICATE_BINDING.
 */
export async function openBindings(file: string, target: string): Promise<BindingsFile> {
  const disk = await load(file);
  const opened: Opened = { file, target, disk, recorded: recordedIn(disk, target) };
  /** Not on disk yet; undefined: will be removed. */
  const pending = new Map<Address, Binding | undefined>();
  const all = (): Map<Address, Binding> => merged(opened.recorded, pending);
  const commit = oneAfterTheOther(async () => {
    const batch = new Map(pending);
    try {
      await writeBatch(opened, batch);
    } catch (error) {
      throw notWritten(file, target, batch, error);
    }
    for (const [address, binding] of batch) if (pending.get(address) === binding) pending.delete(address);
  });
  return {
    file,
    all,
    get: (address) => (pending.has(address) ? pending.get(address) : opened.recorded.get(address)),
    async set(address, binding) {
      refuseDuplicates(all().set(address, binding), file, address);
      pending.set(address, binding);
      await commit();
    },
    async remove(address) {
      pending.set(address, undefined);
      await commit();
    },
  };
}

interface Opened {
  readonly file: string;
  readonly target: string;
  disk: OnDisk;
  recorded: Bindings;
}

/** Writes the changes into the file as it is now; another process may have changed it. */
async function writeBatch(opened: Opened, batch: ReadonlyMap<Address, Binding | undefined>): Promise<void> {
  const { file, target } = opened;
  const folder = await ensureStateFolder(dirname(file));
  await withFileLock(join(folder, `${basename(file)}.lock`), async () => {
    const current = await load(file, opened.disk);
    opened.recorded = recordedIn(current, target);
    if ([...batch].every(([address, binding]) => sameJson(opened.recorded.get(address), binding))) return;
    // Another process may have bound the same id meanwhile.
    refuseDuplicates(merged(opened.recorded, batch), file);
    // The tree is changed in place: if the write failed, it would differ from the file.
    const content = current.content ?? emptyBindingsText();
    opened.disk = { text: undefined, content };
    changeTarget(content, target, batch);
    const text = printBindingsText(content);
    await writeAtomic(file, text, { newMode: 0o600, tempFolder: folder });
    opened.disk = { text, content };
    opened.recorded = readTarget(content, target);
  });
}

/** Calls during a run of `work` share the next run, which begins when it has ended. */
function oneAfterTheOther(work: () => Promise<void>): () => Promise<void> {
  let scheduled: Promise<void> | undefined;
  let last: Promise<void> = Promise.resolve();
  return () => {
    if (scheduled === undefined) {
      scheduled = last.then(() => {
        scheduled = undefined;
        return work();
      });
      last = scheduled.catch(() => undefined);
    }
    return scheduled;
  };
}

interface OnDisk {
  /** Undefined if there is no file, or its content may differ from the known one. */
  readonly text: string | undefined;
  /** Undefined if there is no file, as in most plans: then the YAML library is not loaded. */
  readonly content: BindingsText | undefined;
}

function recordedIn({ content }: OnDisk, target: string): Bindings {
  return content === undefined ? new Map() : readTarget(content, target);
}

/** Reads the file; parses it only if its text differs from the `known` one. */
async function load(file: string, known?: OnDisk): Promise<OnDisk> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if (isErrno(error, "ENOENT")) return { text: undefined, content: undefined };
    throw new DimsyncError(
      "E_BINDINGS_FILE",
      `${file}: The bindings file can't be read: ${reasonOf(error)}. Make it readable, or set \`bindings\` in dimsync.yaml to another file.`,
      {
        cause: error,
      },
    );
  }
  return text === known?.text ? known : { text, content: parseBindingsText(text, file) };
}

function merged(recorded: Bindings, changes: ReadonlyMap<Address, Binding | undefined>): Map<Address, Binding> {
  const result = new Map(recorded);
  for (const [address, binding] of changes) {
    if (binding === undefined) result.delete(address);
    else result.set(address, binding);
  }
  return result;
}

/** Throws E_DUPLICATE_BINDING; with `only`, if that address is one of the two. */
function refuseDuplicates(bindings: Bindings, file: string, only?: Address): void {
  const addressById = new Map<string, Address>();
  for (const [address, { id }] of bindings) {
    const key = JSON.stringify([parseAddress(address)?.kind, id]);
    const other = addressById.get(key);
    if (other !== undefined && (only === undefined || only === address || only === other)) throw duplicateBinding(address, other, id, file);
    addressById.set(key, address);
  }
}

function notWritten(file: string, target: string, batch: ReadonlyMap<Address, Binding | undefined>, cause: unknown): DimsyncError {
  const ids = [...batch].flatMap(([address, binding]) => (binding === undefined ? [] : [`${address}=${binding.id}`]));
  const why = cause instanceof DimsyncError ? cause.message : `${reasonOf(cause)}.`;
  const lost =
    ids.length === 0
      ? "Nothing was removed from it."
      : `These ids are not recorded: ${ids.join(", ")}. Save them: without them, the next run may not find the objects again.`;
  return new DimsyncError(
    "E_BINDINGS_WRITE",
    `The bindings file ${file} could not be written: ${why} ${lost} Fix the file or its folder, then bind the ids.`,
    {
      exit: 4,
      cause,
      ...(ids.length === 0 ? {} : { command: `dimsync bind ${ids.map(shellWord).join(" ")} -t ${shellWord(target)}` }),
    },
  );
}

import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Address, Binding, Bindings } from "../../model/address.ts";
import { DimsyncError } from "../../model/errors.ts";
import { sameJson } from "../../model/json/json.ts";
import {
  type BindingsText,
  changeTarget,
  emptyBindingsText,
  parseBindingsText,
  printBindingsText,
  readTarget,
  refuseDuplicates,
} from "../bindings-text.ts";
import { writeAtomic } from "../files/atomic.ts";
import { withFileLock } from "../files/file-lock.ts";
import { isErrno, reasonOf } from "../files/fs-errors.ts";
import { ensureStateFolder } from "../state-folder.ts";

/** The bindings of one target in a file. */
export interface BindingsFile {
  /**
   * A missing file has none. Throws E_BINDINGS_FILE with FILE:LINE:COLUMN if the file is not valid (then it is
   * never written to), and E_DUPLICATE_BINDING.
   */
  readonly read: () => Promise<Bindings>;
  /** Changes the lines of these addresses in the file as it is now; undefined removes one. Throws as `read` does, and what Node's calls throw. */
  readonly write: (changes: ReadonlyMap<Address, Binding | undefined>) => Promise<void>;
}

/** A file that is parsed again only if its text has changed. */
export function openBindings(file: string, target: string): BindingsFile {
  let disk: OnDisk = { text: undefined, content: undefined };
  const read = async (): Promise<Bindings> => {
    disk = await load(file, disk);
    return disk.content === undefined ? new Map() : readTarget(disk.content, target);
  };
  return {
    read,
    async write(changes) {
      if (changes.size === 0) return;
      const folder = await ensureStateFolder(dirname(file));
      // Another project may have the same file.
      await withFileLock(join(folder, `${basename(file)}.lock`), async () => {
        const recorded = await read();
        if ([...changes].every(([address, binding]) => sameJson(recorded.get(address), binding))) return;
        const changed = new Map(recorded);
        for (const [address, binding] of changes) {
          if (binding === undefined) changed.delete(address);
          else changed.set(address, binding);
        }
        refuseDuplicates(changed, () => file);
        // The tree is changed in place: if the write failed, it would differ from the file.
        const content = disk.content ?? emptyBindingsText();
        disk = { text: undefined, content: undefined };
        changeTarget(content, target, changes);
        const text = printBindingsText(content);
        await writeAtomic(file, text, { newMode: 0o600, tempFolder: folder });
        disk = { text, content };
      });
    },
  };
}

interface OnDisk {
  /** Undefined if there is no file, or its content may differ from the known one. */
  readonly text: string | undefined;
  /** Undefined if there is no file, as in most plans: then the YAML library is not loaded. */
  readonly content: BindingsText | undefined;
}

/** Reads the file; parses it only if its text differs from the `known` one. */
async function load(file: string, known: OnDisk): Promise<OnDisk> {
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
  return text === known.text ? known : { text, content: parseBindingsText(text, file) };
}

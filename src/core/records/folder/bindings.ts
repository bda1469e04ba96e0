import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Address, Binding, Bindings } from "../../base/model/address.ts";
import { DimsyncError } from "../../base/model/errors.ts";
import { sameJson } from "../../base/model/json/json.ts";
import { writeAtomic } from "../files/atomic.ts";
import { withFileLock } from "../files/file-lock.ts";
import { isErrno, reasonOf } from "../files/fs-errors.ts";
import { ensureStateFolder } from "../state-folder.ts";
import { type BindingsText, parseBindingsText, printBindings, readTarget, refuseDuplicates } from "./bindings-text.ts";

/** The bindings of one target in a file. */
export interface BindingsFile {
  /**
   * A missing file has none. Throws E_BINDINGS_FILE with FILE:LINE:COLUMN if the file is not valid (then it is
   * never written to), and E_DUPLICATE_BINDING.
   */
  readonly read: () => Promise<Bindings>;
  /** Changes the bindings of these addresses in the file as it is now, and writes it whole; undefined removes one. Throws as `read` does, and what Node's calls throw. */
  readonly write: (changes: ReadonlyMap<Address, Binding | undefined>) => Promise<void>;
}

/** A file that is parsed again only if its text has changed. */
export function openBindings(file: string, target: string): BindingsFile {
  let known: BindingsText | undefined;
  const read = async (): Promise<Bindings> => {
    known = await load(file, known);
    return known === undefined ? new Map() : readTarget(known, target);
  };
  return {
    read,
    async write(changes) {
      if (changes.size === 0) return;
      const folder = await ensureStateFolder(dirname(file));
      // Another project may have the same file.
      await withFileLock(join(folder, `${basename(file)}.lock`), async () => {
        const bindings = new Map(await read());
        if ([...changes].every(([address, binding]) => sameJson(bindings.get(address), binding))) return;
        for (const [address, binding] of changes) {
          if (binding === undefined) bindings.delete(address);
          else bindings.set(address, binding);
        }
        refuseDuplicates(bindings, () => file);
        const all = new Map(known?.bindings).set(target, bindings);
        const text = printBindings(all);
        await writeAtomic(file, text, { newMode: 0o600, tempFolder: folder });
        known = { text, file, bindings: all };
      });
    },
  };
}

/** The bindings of each target in the file; empty if there is no file. Throws E_BINDINGS_FILE. */
export const readAllBindings = async (file: string): Promise<readonly Bindings[]> => [
  ...((await load(file, undefined))?.bindings.values() ?? []),
];

/** Reads the file, and parses it if its text is not the `known` one. Undefined if the file does not exist. */
async function load(file: string, known: BindingsText | undefined): Promise<BindingsText | undefined> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if (isErrno(error, "ENOENT")) return undefined;
    throw new DimsyncError(
      "E_BINDINGS_FILE",
      `${file}: The bindings file can't be read: ${reasonOf(error)}. Make it readable, or set \`bindings\` in dimsync.yaml to another file.`,
      {
        cause: error,
      },
    );
  }
  return text === known?.text ? known : parseBindingsText(text, file);
}

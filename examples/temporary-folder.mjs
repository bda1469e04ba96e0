import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A new folder for a demo. Throws a sentence if it cannot be created. */
export function temporaryFolder(prefix) {
  try {
    return mkdtempSync(join(tmpdir(), prefix));
  } catch ({ code }) {
    throw new Error(`no folder can be created in ${tmpdir()} (${code}). Set TMPDIR to a folder that you can write to.`);
  }
}

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { syncFolder } from "./files/atomic.ts";
import { isErrno } from "./files/fs-errors.ts";

/** `.dimsync` below the folder of the project: journal, locks and other files of one machine, which must not be in git. */
export const stateFolder = (projectFolder: string): string => join(projectFolder, ".dimsync");

/** Creates `.dimsync/` if it is missing, with a `.gitignore` for all of it, and returns its path. Throws what Node's calls throw. */
export async function ensureStateFolder(projectFolder: string): Promise<string> {
  const folder = stateFolder(projectFolder);
  const created = await mkdir(folder, { recursive: true });
  try {
    await writeFile(join(folder, ".gitignore"), "*\n", { flag: "wx" });
  } catch (error) {
    if (!isErrno(error, "EEXIST")) throw error;
  }
  if (created !== undefined) await syncFolder(projectFolder);
  return folder;
}

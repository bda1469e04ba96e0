import { lstat, mkdir, realpath, writeFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { gitText, isRepository, repositoryTop } from "../base/git/process.ts";
import { DimsyncError } from "../base/model/errors.ts";
import type { Environment } from "../base/model/settings/env.ts";
import { isErrno, syncFolder } from "./files/atomic.ts";

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

/**
 * Throws E_STATE_TRACKED if git tracks the folder or a file in it: whoever can push to the branch could change what dimsync believes to have done. Also
 * throws it if git cannot tell.
 */
export async function refuseTrackedState(projectFolder: string, env: Environment): Promise<void> {
  if ((await lstat(stateFolder(projectFolder)).catch(() => undefined)) === undefined) return;
  const folder = await realpath(projectFolder);
  const top = repositoryTop(folder);
  if (top === undefined) return;
  const path = stateFolder(relative(top, folder)).split(sep).join("/");
  // Reads only the index, so the owner of the repository does not matter. A file system may ignore case.
  const args = ["--work-tree=.", "ls-files", "-z", "--", `:(top,icase,literal)${path}`];
  const place = { folder: top, gitDir: join(top, ".git"), env };
  const tracked = await gitText(place, args).catch(async (error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    if (!(await isRepository(place).catch(() => true))) return "";
    throw new DimsyncError(
      "E_STATE_TRACKED",
      `${top} is a checkout of git, and git cannot tell whether it tracks ${path}: ${why}. ${path} has the journal and the locks of one machine. If the branch had it, whoever can push could make dimsync forget what it has created. Install git, or fix the repository.`,
      { cause: error },
    );
  });
  const [first = ""] = tracked.split("\0");
  if (first === "") return;
  throw new DimsyncError(
    "E_STATE_TRACKED",
    `Git tracks ${first}. ${path} has the journal and the locks of one machine, so whoever can push to the branch could make dimsync forget what it has created. Remove it from git, and commit the change:`,
    { command: `git rm -r --cached ${path}` },
  );
}

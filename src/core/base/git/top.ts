import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** The top folder of the git checkout that the folder is in, found by `.git` only; undefined if there is none. */
export function repositoryTop(folder: string): string | undefined {
  if (existsSync(join(folder, ".git"))) return folder;
  return dirname(folder) === folder ? undefined : repositoryTop(dirname(folder));
}

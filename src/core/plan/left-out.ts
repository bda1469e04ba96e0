import { dirname, join, relative, resolve, sep } from "node:path";
import { repositoryTop } from "../base/git/process.ts";
import type { Plan } from "../base/model/plan.ts";
import type { Problem } from "../base/model/problem.ts";
import { isLocal, type Settings } from "../base/model/settings/config.ts";
import { visible } from "../base/text/control-characters.ts";
import { counted } from "../base/text/counts.ts";
import { andMore } from "../base/text/lists.ts";
import { shellWord } from "../base/text/shell.ts";

/** W_FILE_IGNORED, if git ignores files of the project: this run read them, and a job that checks out the repository does not have them. */
export function ignoredFileProblems(git: Plan["git"], { bindingsFile, folder, records }: Settings): readonly Problem[] {
  // Shared records do not need the file.
  const ignored = (git?.ignored ?? []).filter(({ file }) => isLocal(records) || resolve(folder, file) !== bindingsFile);
  if (ignored.length === 0) return [];
  const names = andMore(
    ignored.map(({ file, by }) => visible(`${file} (${by})`)),
    "file",
  );
  const it = ignored.length === 1 ? "it" : "them";
  const message = `Git ignores ${counted(ignored.length, "file")} of the project: ${names}. Other checkouts do not have ${it}, so plan and apply there, such as in CI, run without ${it}. Remove the pattern from that line and commit the ${ignored.length === 1 ? "file" : "files"}, or keep ${it} outside the project.`;
  return [{ code: "W_FILE_IGNORED", severity: "warning", message }];
}

/**
 * E_SPARSE_CHECKOUT, if git left out files of the project in `folder`: what they say would look as if it had been deleted. A list, for the problems of a project.
 */
export function leftOutProblems(git: Plan["git"], folder: string): readonly Problem[] {
  const { leftOut = [] } = git ?? {};
  if (leftOut.length === 0) return [];
  const top = repositoryTop(folder) ?? folder;
  // Git takes them only at the top.
  const folders = new Set(
    leftOut.map((file) =>
      join(relative(top, folder), dirname(file) === "." ? file : dirname(file))
        .split(sep)
        .join("/"),
    ),
  );
  const where = top === folder ? "" : ` -C ${shellWord(relative(folder, top))}`;
  const message = `The sparse checkout leaves out ${counted(leftOut.length, "file")} of the project: ${andMore(leftOut.map(visible), "file")}. Without ${leftOut.length === 1 ? "it" : "them"}, dimsync does not know what the project protects, so nothing was compared. Check out what is missing:`;
  const command = `git${where} sparse-checkout add ${[...folders].slice(0, 5).map(shellWord).join(" ")}`;
  return [{ code: "E_SPARSE_CHECKOUT", severity: "error", message, command }];
}

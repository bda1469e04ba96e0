import { realpath } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import { GitError, type GitPlace, gitText } from "../../core/base/git/process.ts";
import { covering } from "../../core/base/git/state.ts";
import { repositoryTop } from "../../core/base/git/top.ts";
import { dbtFolder } from "../../core/columns/labels/index.ts";
import type { Project } from "../../core/manifests/index.ts";

/** They decide what a checkout writes into files, or which files it has. */
const ofCheckouts = new Set([".gitattributes", ".gitmodules"]);

/**
 * Whether the project reads, or would read, a file that differs between two commits. Compares their trees, so nothing in the checkout can hide a change. True if
 * git cannot tell.
 */
export async function isProjectChanged(
  { folder, ...place }: GitPlace,
  project: Project,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<boolean> {
  const top = repositoryTop(await realpath(folder));
  if (top === undefined) return true;
  try {
    const names = await gitText({ folder, ...place }, ["diff-tree", "-r", "-z", "--name-only", "--no-renames", from, to, "--"], {
      timeoutMs,
    });
    const paths = names.split("\0").filter((path) => path !== "");
    if (paths.some((path) => ofCheckouts.has(basename(path)))) return true;
    return await reads(
      project,
      paths.map((path) => join(top, path)),
    );
  } catch (error) {
    if (error instanceof GitError) return true;
    throw error;
  }
}

const timeoutMs = 60_000;

async function reads({ sourceFiles, dbtFiles, settings }: Project, changed: readonly string[]): Promise<boolean> {
  const { folder } = settings;
  const real = await realpath(folder);
  const known = new Set<string>();
  for (const file of [...sourceFiles.files, ...dbtFiles]) {
    // A link to a folder is one path of the tree.
    for (const path of [file, join(real, relative(folder, file)), await realpath(file).catch(() => file)])
      for (let at = path; !known.has(at); at = dirname(at)) known.add(at);
  }
  const isOfProject = covering(sourceFiles, folder, real);
  const ofDbt = dbtFiles.map((file) => join(real, relative(folder, dbtFolder(file))));
  const isOfDbt = (path: string): boolean => /\.ya?ml$/u.test(path) && ofDbt.some((at) => path.startsWith(`${at}${sep}`));
  return changed.some((path) => known.has(path) || isOfProject(path) || isOfDbt(path));
}

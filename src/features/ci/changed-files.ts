import { readFileSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { diffLines } from "diff";
import { namedObjects } from "../../core/base/git/blobs.ts";
import { GitError, type GitPlace, gitText, repositoryTop } from "../../core/base/git/process.ts";
import { covering } from "../../core/base/git/state.ts";
import { once } from "../../core/base/model/maps.ts";
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

/** Whether a line of a file, or any line, differs from the base. */
type Touches = (file: string, line: number | undefined) => boolean;

/**
 * What the work tree changes of these files (relative to `cwd`, or absolute) since the commit `base`. Undefined if git cannot compare
 * them.
 */
export async function changedLines({ folder: cwd, env }: GitPlace, base: string, files: readonly string[]): Promise<Touches | undefined> {
  if (files.length === 0) return () => false;
  const top = repositoryTop(await realpath(cwd));
  if (top === undefined) return undefined;
  try {
    const pathOf = (file: string): string => relative(top, resolve(cwd, file)).split(sep).join("/");
    const paths = [...new Set(files.map(pathOf))].filter((path) => path !== "" && !path.startsWith(".."));
    const before = await textsAt({ folder: cwd, env }, base, paths);
    const changed = new Map(paths.map((path) => [path, once(() => newLines(before.get(path) ?? "", textOf(join(top, path))))] as const));
    return (file, line) => {
      const lines = changed.get(pathOf(file))?.() ?? [];
      return lines.some(({ from, to }) => line === undefined || (line >= from && line < to));
    };
  } catch (error) {
    if (error instanceof GitError) return undefined;
    throw error;
  }
}

/**
 * The files as the commit has them: no attribute or filter of the checkout changes or hides lines. Without those that it does not have. Throws GitError if the
 * commit is missing.
 */
async function textsAt(place: GitPlace, base: string, paths: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const [commit, ...found] = await namedObjects(place, [`${base}^{commit}`, ...paths.map((path) => `${base}:${path}`)], { timeoutMs });
  if (commit === undefined) throw new GitError(`the checkout does not have the commit ${base}`);
  return new Map(
    paths.flatMap((path, index) => (found[index] === undefined ? [] : [[path, found[index].content.toString("utf8")] as const])),
  );
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** The lines of the new text that the old one does not have, counted from 1; `to` is the line after them. All, if there are too many differences to find. */
function newLines(before: string, after: string): readonly { readonly from: number; readonly to: number }[] {
  if (before === after) return [];
  const parts = diffLines(before, after, { stripTrailingCr: true, maxEditLength: 5_000 });
  if (parts === undefined) return [{ from: 1, to: Number.POSITIVE_INFINITY }];
  let line = 1;
  return parts.flatMap(({ added, removed, count }) => {
    const from = line;
    if (!removed) line += count;
    return added ? [{ from, to: line }] : removed ? [{ from, to: from }] : [];
  });
}

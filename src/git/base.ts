import { realpath, rm } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";
import { DimsyncError, messageOf } from "../model/errors.ts";
import type { Environment } from "../model/settings/env.ts";
import { GitError, type GitPlace, gitText, NoCheckoutError } from "./process.ts";
import { findRemote } from "./remote.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** A project's files at a git ref, checked out into a temporary folder. */
export interface BaseTree {
  /** The project's folder in this tree, absolute. */
  readonly folder: string;
  /** The top folder of this tree, absolute. */
  readonly top: string;
  readonly commit: string;
  /** The path in this tree of a file or folder of the repository; undefined if it is outside the repository. */
  readonly pathInTree: (path: string) => Promise<string | undefined>;
  readonly remove: () => Promise<void>;
}

/** Large repositories take a while to check out. */
const timeoutMs = 600_000;

/**
 * Checks out the files below `folder` at `ref` with its own index: neither the work tree nor the index of the repository is changed. Throws E_BASE_REF if
 * the ref does not exist (in a shallow clone, perhaps only its history is missing), and E_NO_GIT outside a repository.
 */
export async function checkOutBase(folder: string, ref: string, env: Environment): Promise<BaseTree> {
  const git = (args: readonly string[], place: Pick<GitPlace, "indexFile"> = {}): Promise<string> =>
    gitText({ folder, env, ...place }, args, { timeoutMs });
  const top = await git(["rev-parse", "--show-toplevel"]).catch((error: unknown) => {
    throw new DimsyncError("E_NO_GIT", `--base needs the git repository of ${folder}, but ${whyNoRepository(error)}.`);
  });
  const commit = await findCommit(ref, git);
  const temp = await temporaryFolder("base");
  const remove = (): Promise<void> => rm(temp, { recursive: true, force: true });
  try {
    const index = { indexFile: join(temp, "index") };
    const realTop = await realpath(top);
    await git(["read-tree", commit], index);
    await git(["checkout-index", "--all", `--prefix=${join(temp, "tree")}/`], index);
    const pathInTree = async (path: string): Promise<string | undefined> => {
      const inside = relative(realTop, await realpath(path).catch(() => path));
      return isAbsolute(inside) || inside === ".." || inside.startsWith(`..${sep}`) ? undefined : join(temp, "tree", inside);
    };
    return { folder: join(temp, "tree", relative(realTop, await realpath(folder))), top: join(temp, "tree"), commit, pathInTree, remove };
  } catch (error) {
    await remove();
    const why = messageOf(error);
    throw new DimsyncError("E_BASE_REF", `The files at ${ref} could not be checked out: ${why}`, { cause: error });
  }
}

/**
 * Fetches the commit if the checkout does not have it, as jobs of CI that check out only one commit. A shallow checkout stays shallow. What fails is
 * reported by `checkOutBase`.
 */
export async function fetchMissing(folder: string, commit: string, env: Environment): Promise<void> {
  const git = (args: readonly string[], more: Environment = env): Promise<string> => gitText({ folder, env: more }, args, { timeoutMs });
  try {
    const known = await git(["rev-parse", "--verify", "--quiet", `${commit}^{commit}`]).catch(() => undefined);
    if (known !== undefined || commit.startsWith("-")) return;
    const { toRead } = await findRemote({ folder, env }, "origin");
    const depth = (await git(["rev-parse", "--is-shallow-repository"])) === "true" ? ["--depth=1"] : [];
    await git(["fetch", "--quiet", "--no-tags", ...depth, toRead.argument, commit], toRead.env);
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
  }
}

async function findCommit(ref: string, git: (args: readonly string[]) => Promise<string>): Promise<string> {
  // git would read it as an option.
  if (ref === "" || ref.startsWith("-"))
    throw new DimsyncError("E_BASE_REF", `${JSON.stringify(ref)} is not a git ref. Use a branch, a tag or a commit, such as origin/main.`);
  try {
    return await git(["rev-parse", "--verify", "--quiet", `${ref}^{commit}`]);
  } catch {
    const isShallow = (await git(["rev-parse", "--is-shallow-repository"]).catch(() => "false")) === "true";
    throw new DimsyncError(
      "E_BASE_REF",
      `The repository has no commit ${JSON.stringify(ref)}.${isShallow ? " It is a shallow clone, so its history is incomplete." : ""} Use an existing ref, or fetch it.`,
      { command: fetchCommand(ref, isShallow) },
    );
  }
}

function whyNoRepository(error: unknown): string {
  if (!(error instanceof GitError)) return "it could not be read";
  if (error.cause !== undefined) return "git is not installed, or not in PATH";
  return error instanceof NoCheckoutError ? "there is none" : `git cannot read it: ${error.message}`;
}

/** The command that fetches the commit. A branch only needs its tip, so a shallow clone can stay shallow; other refs may need all history. */
function fetchCommand(ref: string, isShallow: boolean): string {
  const branch = /^origin\/([\w./-]+)$/u.exec(ref)?.[1];
  if (branch !== undefined) return `git fetch ${isShallow ? "--depth=1 " : ""}origin +refs/heads/${branch}:refs/remotes/origin/${branch}`;
  return isShallow ? "git fetch --unshallow" : "git fetch --all --tags";
}

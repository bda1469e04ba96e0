import { execFile } from "node:child_process";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { DimsyncError } from "../model/errors.ts";

const run = promisify(execFile);

/** A project's folder as it was at a git ref, laid out in a temporary folder. */
export interface BaseTree {
  /** Absolute; stands for the project's folder. */
  readonly folder: string;
  readonly commit: string;
  readonly remove: () => Promise<void>;
}

/**
 * Lays out the files below `folder` at `ref`, with an index of its own: neither the work tree nor the repository's index is touched. Throws
 * E_BASE_REF where the ref, or in a shallow clone its history, isn't there, and E_NO_GIT outside a repository.
 */
export async function layOutBase(folder: string, ref: string, env: NodeJS.ProcessEnv): Promise<BaseTree> {
  const git = async (args: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<string> =>
    (await run("git", ["-C", folder, ...args], { env: { ...env, ...more }, maxBuffer: 256 * 1024 * 1024 })).stdout.trim();

  const top = await git(["rev-parse", "--show-toplevel"]).catch(() => {
    throw new DimsyncError(
      "E_NO_GIT",
      `--base compares with the manifests at a git ref, and ${folder} is in no git repository, or git is not installed.`,
    );
  });
  const commit = await git(["rev-parse", "--verify", "--quiet", `${ref}^{commit}`]).catch(async () => {
    const shallow = (await git(["rev-parse", "--is-shallow-repository"]).catch(() => "false")) === "true";
    throw new DimsyncError(
      "E_BASE_REF",
      `The repository has no commit ${JSON.stringify(ref)}.${shallow ? " It is a shallow clone, so the history that holds it may be missing." : ""} Name a ref that is there, or fetch it.`,
      {
        ...(shallow ? { command: "git fetch --unshallow" } : { command: `git fetch origin ${ref.replace(/^origin\//u, "")}` }),
      },
    );
  });
  const place = await mkdtemp(join(tmpdir(), "dimsync-base-"));
  const remove = (): Promise<void> => rm(place, { recursive: true, force: true });
  try {
    const index = { GIT_INDEX_FILE: join(place, "index") };
    const within = relative(await realpath(top), await realpath(folder));
    await git(["read-tree", commit], index);
    await git(["-C", top, "checkout-index", "--all", `--prefix=${join(place, "tree")}/`], index);
    return { folder: join(place, "tree", within), commit, remove };
  } catch (error) {
    await remove();
    throw new DimsyncError(
      "E_BASE_REF",
      `The files at ${ref} could not be laid out: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
}

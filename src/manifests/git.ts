import { execFile } from "node:child_process";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { isAbsolute, join, relative, sep } from "node:path";
import { promisify } from "node:util";
import { DimsyncError } from "../model/errors.ts";
import type { Plan } from "../model/plan.ts";

const run = promisify(execFile);

/** A project's folder as it was at a git ref, laid out in a temporary folder. */
export interface BaseTree {
  /** Absolute; stands for the project's folder. */
  readonly folder: string;
  readonly commit: string;
  /** Where a file or folder of the repository is in this tree; undefined for one outside. */
  readonly twinOf: (path: string) => Promise<string | undefined>;
  readonly remove: () => Promise<void>;
}

/**
 * Lays out the files below `folder` at `ref`, with an index of its own: neither the work tree nor the repository's index is touched. Throws
 * E_BASE_REF where the ref, or in a shallow clone its history, isn't there, and E_NO_GIT outside a repository.
 */
export async function layOutBase(folder: string, ref: string, env: NodeJS.ProcessEnv): Promise<BaseTree> {
  const git = async (args: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<string> =>
    (await run("git", ["-C", folder, ...args], { env: { ...env, ...more }, maxBuffer: 256 * 1024 * 1024 })).stdout.trim();

  const top = await git(["rev-parse", "--show-toplevel"]).catch((error: unknown) => {
    throw new DimsyncError("E_NO_GIT", `--base compares with the manifests at a git ref, and ${folder} ${whyNoRepository(error)}.`);
  });
  const commit = await git(["rev-parse", "--verify", "--quiet", `${refuseOption(ref)}^{commit}`]).catch(async (error: unknown) => {
    if (error instanceof DimsyncError) throw error;
    const shallow = (await git(["rev-parse", "--is-shallow-repository"]).catch(() => "false")) === "true";
    throw new DimsyncError(
      "E_BASE_REF",
      `The repository has no commit ${JSON.stringify(ref)}.${shallow ? " It is a shallow clone, so the history that holds it may be missing." : ""} Name a ref that is there, or fetch it.`,
      { command: fetchCommand(ref, shallow) },
    );
  });
  const place = await mkdtemp(join(tmpdir(), "dimsync-base-"));
  const remove = (): Promise<void> => rm(place, { recursive: true, force: true });
  try {
    const index = { GIT_INDEX_FILE: join(place, "index") };
    const within = relative(await realpath(top), await realpath(folder));
    await git(["read-tree", commit], index);
    await git(["-C", top, "checkout-index", "--all", `--prefix=${join(place, "tree")}/`], index);
    const twinOf = async (path: string): Promise<string | undefined> => {
      const inside = relative(await realpath(top), await realpath(path).catch(() => path));
      return isAbsolute(inside) || inside === ".." || inside.startsWith(`..${sep}`) ? undefined : join(place, "tree", inside);
    };
    return { folder: join(place, "tree", within), commit, twinOf, remove };
  } catch (error) {
    await remove();
    throw new DimsyncError(
      "E_BASE_REF",
      `The files at ${ref} could not be laid out: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
}

/** git would take it for an option. */
function refuseOption(ref: string): string {
  if (ref !== "" && !ref.startsWith("-")) return ref;
  throw new DimsyncError(
    "E_BASE_REF",
    `${JSON.stringify(ref)} is no git ref. --base takes a branch, a tag or a commit, such as origin/main.`,
  );
}

function whyNoRepository(error: unknown): string {
  const { stderr = "", code } = error as { readonly stderr?: string; readonly code?: unknown };
  if (code === "ENOENT") return "can't be looked at: git is not installed, or not in PATH";
  const [line = ""] = stderr.trim().split("\n");
  return line === "" || /not a git repository/iu.test(line) ? "is in no git repository" : `is in no repository that git reads: ${line}`;
}

/** What brings the commit here. Of a branch only the tip is needed, so a shallow clone can stay one; other names may need all history. */
function fetchCommand(ref: string, shallow: boolean): string {
  const branch = /^origin\/([\w./-]+)$/u.exec(ref)?.[1];
  if (branch !== undefined) return `git fetch ${shallow ? "--depth=1 " : ""}origin +refs/heads/${branch}:refs/remotes/origin/${branch}`;
  return shallow ? "git fetch --unshallow" : "git fetch --all --tags";
}

/** The commit that the folder is at, and whether anything in its repository differs from it; undefined outside a repository or without git. */
export async function gitState(folder: string): Promise<Plan["git"]> {
  try {
    // One call for both, since each is a process. Headers begin with "# "; what differs has a line of another form.
    const options = ["--porcelain=v2", "--branch", "--untracked-files=normal"];
    const { stdout } = await run("git", ["-C", folder, "status", ...options], { maxBuffer: 64 * 1024 * 1024 });
    const lines = stdout.split("\n").filter((line) => line !== "");
    const commit = lines.map((line) => /^# branch\.oid ([0-9a-f]+)$/u.exec(line)?.[1]).find((found) => found !== undefined);
    return commit === undefined ? undefined : { commit, dirty: lines.some((line) => !line.startsWith("# ")) };
  } catch {
    return undefined;
  }
}

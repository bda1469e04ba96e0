import { createHash } from "node:crypto";
import { relative, sep } from "node:path";
import { GitError, runGit, wordsOf } from "../../core/git/process.ts";
import { findRemote } from "../../core/git/remote.ts";
import { DimsyncError, messageOf } from "../../core/model/errors.ts";
import { type Checkout, type Git, gitIn, timeoutMs, treeWith } from "./checkout.ts";

// The branch of a pull request about drift has one commit of dimsync, on top of the commit that the job
// has checked out. The commit says by which tree and parent it was made. If anything else is at the tip
// of the branch, someone has worked on it, and dimsync leaves it alone. A push names the commit that it
// replaces, so that it is refused if someone was faster.

/** A file of the commit; absolute path, whole text. */
interface BranchFile {
  readonly path: string;
  readonly text: string;
}

export interface BranchOptions extends Checkout {
  /** Name without refs/heads/. */
  readonly branch: string;
}

/** Puts the files on the branch, without touching the work tree or the index. "same": the branch has them already. Throws E_BRANCH_TAKEN and E_PUSH. */
export async function pushDriftBranch(
  options: BranchOptions,
  { files, subject }: { readonly files: readonly BranchFile[]; readonly subject: string },
): Promise<"pushed" | "same"> {
  const git = gitIn(options);
  const tip = await tipOf(options, git);
  const edits = createHash("sha256")
    .update(JSON.stringify(files.map(({ path, text }) => [relative(options.folder, path), text])))
    .digest("hex");
  if (tip?.edits === edits) return "same";
  const root = await git(["rev-parse", "--show-toplevel"]);
  const base = await git(["rev-parse", "HEAD"]);
  const tree = await treeWith(
    options,
    base,
    files.map(({ path, text }) => ({ path: relative(root, path).split(sep).join("/"), content: text })),
  );
  const trailers = [`Dimsync-Edits: ${edits}`, `Dimsync-Base: ${base}`, `Dimsync-Tree: ${tree}`].join("\n");
  const commit = await git(["commit-tree", tree, "-p", base], { input: `${subject}\n\n${trailers}\n` });
  await push(options, git, { commit, tip: tip?.commit ?? "" });
  return "pushed";
}

/** Deletes the branch, if it exists. Throws E_BRANCH_TAKEN and E_PUSH. */
export async function deleteDriftBranch(options: BranchOptions): Promise<void> {
  const git = gitIn(options);
  const tip = await tipOf(options, git);
  if (tip !== undefined) await push(options, git, { commit: "", tip: tip.commit });
}

/** Throws E_BRANCH_TAKEN if someone else has committed to the branch, or rewritten it. */
export async function checkDriftBranch(options: BranchOptions): Promise<void> {
  await tipOf(options, gitIn(options));
}

/** The commit of dimsync at the tip of the branch; undefined if there is no branch. */
async function tipOf(options: BranchOptions, git: Git): Promise<{ readonly commit: string; readonly edits: string } | undefined> {
  const { folder, branch } = options;
  const ref = `refs/heads/${branch}`;
  const unreadable = (error: unknown): never => {
    throw refused(branch, "could not be read", error);
  };
  const { toRead } = await findRemote(options, options.remote).catch(unreadable);
  const listed = await git(["ls-remote", toRead.argument, ref], { connection: toRead }).catch(unreadable);
  const commit = /^[0-9a-f]+/u.exec(listed)?.[0];
  if (commit === undefined) return undefined;
  const place = { folder, env: toRead.env };
  // In a full clone, a depth would cut off its history.
  const isShallow = (await git(["rev-parse", "--is-shallow-repository"])) === "true";
  const fetched = await runGit(place, ["fetch", "--quiet", ...(isShallow ? ["--depth=1"] : []), toRead.argument, ref], { timeoutMs });
  if (fetched.code !== 0) throw unreadable(new GitError(wordsOf(fetched.stderr)));
  const text = await git(["cat-file", "commit", commit]);
  const trailer = (name: string): string => new RegExp(`^Dimsync-${name}: (.+)$`, "mu").exec(text)?.[1] ?? "";
  const parents = [...text.slice(0, text.indexOf("\n\n")).matchAll(/^parent (.+)$/gmu)].map(([, parent]) => parent);
  const tree = /^tree (.+)$/mu.exec(text)?.[1];
  // An amended commit keeps its author.
  const [author, committer] = ["author", "committer"].map((who) => new RegExp(`^${who} (.*>)`, "mu").exec(text)?.[1]);
  const isOurs =
    author === committer && tree === trailer("Tree") && parents.length === 1 && parents[0] === trailer("Base") && trailer("Edits") !== "";
  if (!isOurs) throw taken(branch);
  return { commit, edits: trailer("Edits") };
}

/** `commit` "" deletes the branch; `tip` "": there is no branch yet. */
async function push(options: BranchOptions, git: Git, { commit, tip }: { readonly commit: string; readonly tip: string }): Promise<void> {
  const { branch, remote } = options;
  const ref = `refs/heads/${branch}`;
  const { toWrite } = await findRemote(options, remote);
  const args = ["push", "--quiet", `--force-with-lease=${ref}:${tip}`, toWrite.argument, `${commit}:${ref}`];
  await git(args, { connection: toWrite }).catch((error: unknown) => {
    throw /stale info|fetch first|non-fast-forward/u.test(String(error)) ? taken(branch) : refused(branch, "could not be pushed", error);
  });
}

const taken = (branch: string): DimsyncError =>
  new DimsyncError(
    "E_BRANCH_TAKEN",
    `Someone else has committed to the branch ${branch}, so dimsync does not change it or its pull request. Merge or close the pull request and delete the branch; the next run creates a new one.`,
  );

const refused = (branch: string, what: string, error: unknown): DimsyncError =>
  new DimsyncError(
    "E_PUSH",
    `The branch ${branch} ${what}: ${messageOf(error)} The job needs the permission to push branches; docs/ci.md lists the permissions of each job.`,
    { cause: error },
  );

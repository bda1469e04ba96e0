import { readFile, realpath, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import type { CiEnvironment } from "../../core/forge/environment.ts";
import { eachBlob } from "../../core/git/blobs.ts";
import { gitText, runGit, wordsOf } from "../../core/git/process.ts";
import { findRemote } from "../../core/git/remote.ts";
import { ignoredOf } from "../../core/git/state.ts";
import { temporaryFolder } from "../../core/git/temporary-folder.ts";
import { messageOf } from "../../core/model/errors.ts";
import type { Settings } from "../../core/model/settings/config.ts";
import type { Environment } from "../../core/model/settings/env.ts";
import { type Checkout, fileAt, type Git, gitIn, timeoutMs, treeWith } from "./checkout.ts";
import { pushCredentials } from "./push-credentials.ts";

const attempts = 3;

export type Pushed = { readonly outcome: "unchanged" | "pushed" } | { readonly outcome: "refused"; readonly reason: string };

interface FileToPush extends Checkout {
  readonly file: string;
  /** Name without refs/heads/. Undefined: the file is committed, but not pushed. */
  readonly branch: string | undefined;
  readonly message: string;
}

/** Commits the bindings file of a target and pushes it to the branch of the job; `isPushed` false: only commits it. */
export const pushBindings = (
  environment: CiEnvironment,
  { folder, bindingsFile: file, target }: Pick<Settings, "folder" | "bindingsFile" | "target">,
  { isPushed, env }: { readonly isPushed: boolean; readonly env: Environment },
): Promise<Pushed> =>
  pushFile({
    folder,
    file,
    remote: environment.pushUrl ?? "origin",
    branch: isPushed ? environment.branch : undefined,
    message: commitMessage(environment, target),
    author: commitAuthor(environment, env),
    env: pushCredentials(environment, env),
  });

/**
 * The author that git's variables name. Otherwise the account of GitHub Actions, or the GitLab user
 * who started the pipeline.
 */
export function commitAuthor(
  { provider }: Pick<CiEnvironment, "provider">,
  env: Environment,
): { readonly name: string; readonly email: string } {
  const { GIT_AUTHOR_NAME, GIT_AUTHOR_EMAIL, GITLAB_USER_NAME, GITLAB_USER_EMAIL } = env;
  const bot = { name: "github-actions[bot]", email: "41898282+github-actions[bot]@users.noreply.github.com" };
  const name = GIT_AUTHOR_NAME ?? (provider === "gitlab" ? GITLAB_USER_NAME : bot.name) ?? "dimsync";
  return { name, email: GIT_AUTHOR_EMAIL ?? (provider === "gitlab" ? GITLAB_USER_EMAIL : bot.email) ?? "dimsync@localhost" };
}

/**
 * A push with the token of a GitHub job starts no workflow. One with a GitLab project token would
 * start a pipeline with nothing to do.
 */
function commitMessage({ provider }: CiEnvironment, target: string): string {
  return `dimsync: record ids of ${target}${provider === "gitlab" ? "\n\n[skip ci]" : ""}`;
}

/**
 * Commits one file, without other changes of the work tree, and pushes it to a branch. If the branch has newer commits, the change is committed on top of
 * them, too; the checkout stays at its own commit. Reads and writes objects only: no filter, attribute or hook of the checkout runs.
 */
export async function pushFile(options: FileToPush): Promise<Pushed> {
  const { branch } = options;
  const git = gitIn(options);
  try {
    const change = await changeOf(options, git);
    if (!("own" in change)) return change;
    // The file was committed anyway: the plan of the next target needs a clean tree if that target is protected.
    if (branch === undefined) return { outcome: "refused", reason: "There is no branch to push to." };
    return await pushChange(options, branch, change);
  } catch (error) {
    return { outcome: "refused", reason: reasonOf(error) };
  }
}

/** What the file was at the commit that is checked out, what it is, and the commit of this job. */
interface Change {
  /** In the repository. */
  readonly path: string;
  readonly before: Buffer | undefined;
  readonly after: Buffer;
  readonly own: string;
}

/** Commits the file on top of what is checked out. */
async function changeOf(options: FileToPush, git: Git): Promise<Change | Pushed> {
  const { file } = options;
  const head = await git(["rev-parse", "--verify", "HEAD^{commit}"]);
  const root = await realpath(await git(["rev-parse", "--show-toplevel"]));
  const path = relative(root, join(await realpath(dirname(file)), basename(file)))
    .split(sep)
    .join("/");
  const before = await contentAt(options, head, path);
  const written = await readFile(file);
  // A checkout can have other line ends than the repository.
  const after =
    before === undefined || before.includes("\r\n") ? written : Buffer.from(written.toString("latin1").replaceAll("\r\n", "\n"), "latin1");
  if (before?.equals(after) === true) return { outcome: "unchanged" };
  if (before === undefined && (await ignoredOf({ folder: root, env: options.env }, [join(root, path)], { timeoutMs })).size > 0)
    return { outcome: "refused", reason: "A .gitignore keeps git from committing the file." };
  const own = await commitOn(options, git, { parent: head, path, content: after });
  await git(["update-ref", "HEAD", own, head]);
  await stage(options, own, path);
  return { path, before, after, own };
}

/** Puts the file of a commit into the index. Git runs in an empty folder: it would run the filters of files that have just been written. */
async function stage(options: FileToPush, commit: string, path: string): Promise<void> {
  const entry = await fileAt(options, commit, path);
  const nothing = await temporaryFolder("index");
  try {
    const gitDir = await gitIn(options)(["rev-parse", "--absolute-git-dir"]);
    await gitText({ folder: nothing, env: options.env, gitDir }, [
      "update-index",
      "--add",
      "--cacheinfo",
      `${entry?.mode},${entry?.id},${path}`,
    ]);
  } finally {
    await rm(nothing, { recursive: true, force: true });
  }
}

async function pushChange(options: FileToPush, branch: string, change: Change): Promise<Pushed> {
  const git = gitIn(options);
  const { own, path, before, after } = change;
  const { toRead, toWrite } = await findRemote(options, options.remote);
  const ref = `refs/heads/${branch}`;
  let commit = own;
  let reason = "";
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    try {
      await git(["push", "--quiet", "--no-verify", "--recurse-submodules=no", toWrite.argument, `${commit}:${ref}`], {
        connection: toWrite,
      });
      return { outcome: "pushed" };
    } catch (error) {
      reason = reasonOf(error);
    }
    // The full name, because a tag may have the name of the branch.
    await git(["fetch", "--quiet", "--no-tags", "--no-recurse-submodules", toRead.argument, ref], { connection: toRead }).catch(
      (error: unknown) => {
        throw new Error(`${reason} ${reasonOf(error)}`.trim());
      },
    );
    const tip = await git(["rev-parse", "--verify", "FETCH_HEAD^{commit}"]);
    const content = await merged(options, { before, after, theirs: await contentAt(options, tip, path) });
    if (content === undefined)
      return { outcome: "refused", reason: `${reason} The branch has another change at the same place of ${path}.`.trim() };
    commit = await commitOn(options, git, { parent: tip, path, content });
  }
  return { outcome: "refused", reason };
}

interface NewCommit {
  readonly parent: string;
  readonly path: string;
  readonly content: Buffer;
}

async function commitOn(options: FileToPush, git: Git, { parent, path, content }: NewCommit): Promise<string> {
  const tree = await treeWith(options, parent, [{ path, content }]);
  return await git(["commit-tree", tree, "-p", parent], { input: options.message });
}

/** Undefined if the commit does not have the file. */
async function contentAt(place: FileToPush, commit: string, path: string): Promise<Buffer | undefined> {
  const entry = await fileAt(place, commit, path);
  const found: Buffer[] = [];
  if (entry?.mode.startsWith("100") === true) await eachBlob(place, [entry], (content) => void found.push(content), { timeoutMs });
  return found[0];
}

/** The file with the changes of both; undefined if they are at the same place. */
async function merged(
  place: FileToPush,
  { before, after, theirs }: Pick<Change, "before" | "after"> & { readonly theirs: Buffer | undefined },
): Promise<Buffer | undefined> {
  if (theirs === undefined || before?.equals(theirs) === true) return after;
  const folder = await temporaryFolder("merge");
  try {
    const files = [after, before ?? Buffer.alloc(0), theirs].map((content, index) => ({ content, name: join(folder, String(index)) }));
    for (const { name, content } of files) await writeFile(name, content);
    const { code, stdout } = await runGit(place, ["merge-file", "--stdout", "--quiet", ...files.map(({ name }) => name)], { timeoutMs });
    return code === 0 ? stdout : undefined;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What git printed, without credentials in URLs. */
const reasonOf = (error: unknown): string => wordsOf(messageOf(error));

import { mkdir, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, sep } from "node:path";
import { DimsyncError, errorCode, messageOf } from "../model/errors.ts";
import { getOrAdd, once } from "../model/maps.ts";
import type { Environment } from "../model/settings/env.ts";
import { eachBlob, filesAt, type GitObject, namedObjects, type TreeEntry } from "./blobs.ts";
import { GitError, type GitPlace, gitText, NoCheckoutError, repositoryTop } from "./process.ts";
import { findRemote } from "./remote.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** The files of a repository at a commit, in a temporary folder. */
interface BaseTree {
  /** The project's folder in this tree, absolute. */
  readonly folder: string;
  /** The top folder of this tree, absolute. */
  readonly top: string;
  /** The path in this tree of a file or folder of the repository; undefined if it is outside the repository. */
  readonly pathInTree: (path: string) => Promise<string | undefined>;
  /** The files are removed when nobody reads them any more. */
  readonly release: () => Promise<void>;
}

/** Large repositories take a while to read or to fetch. */
const timeoutMs = 600_000;

type Git = (args: readonly string[]) => Promise<string>;

const gitIn =
  (place: GitPlace): Git =>
  (args) =>
    gitText(place, args, { timeoutMs });

/**
 * The files of a commit (its whole id) as git stores them: no filter, encoding or other attribute of the work tree applies, so what is checked out now cannot
 * change what is read. Throws E_BASE_UNREADABLE if the folder is in no checkout, or the commit or a file is missing.
 */
export async function extractBase(folder: string, commit: string, env: Environment): Promise<BaseTree> {
  const real = await realpath(folder);
  const top = repositoryTop(real);
  if (top === undefined) throw unreadable(`${folder} is in no checkout of git.`);
  // Git would read it as an option or as another name.
  if (!isCommitId(commit)) throw unreadable(`${JSON.stringify(commit)} is not the id of a commit.`);
  const { written, release } = shareTree({ folder, env }, top, commit);
  try {
    const tree = await written;
    const pathInTree = async (path: string): Promise<string | undefined> => {
      const inside = relative(top, await realpath(path).catch(() => path));
      return isAbsolute(inside) || inside === ".." || inside.startsWith(`..${sep}`) ? undefined : join(tree, inside);
    };
    return { folder: join(tree, relative(top, real)), top: tree, pathInTree, release };
  } catch (error) {
    await release();
    throw unreadable(`The files at ${commit} could not be read: ${messageOf(error)}.`, error);
  }
}

interface SharedTree {
  /** A temporary folder. */
  readonly temp: Promise<string>;
  /** The folder with the files. */
  readonly written: Promise<string>;
  users: number;
}

/** What is read now, by repository and commit: a commit never changes, so all who read it get the same files. */
const sharedTrees = new Map<string, SharedTree>();

function shareTree(place: GitPlace, top: string, commit: string): Pick<SharedTree, "written"> & Pick<BaseTree, "release"> {
  const key = `${commit} ${top}`;
  const shared = getOrAdd(sharedTrees, key, () => {
    const temp = temporaryFolder("base");
    return { temp, written: temp.then((folder) => writeBlobs(place, commit, join(folder, "tree"))), users: 0 };
  });
  shared.users += 1;
  const release = once(async () => {
    shared.users -= 1;
    if (shared.users > 0) return;
    sharedTrees.delete(key);
    await rm(await shared.temp, { recursive: true, force: true });
  });
  return { written: shared.written, release };
}

/** Writes the files of a commit into the new folder `tree`. Resolves with that folder. */
async function writeBlobs(place: GitPlace, commit: string, tree: string): Promise<string> {
  await mkdir(tree);
  // Without submodules. Links last, so that no file is written through one.
  const blobs = (await filesAt(place, commit, { timeoutMs })).filter(({ mode }) => mode !== "160000");
  for (const { path } of blobs) refuseUnsafe(path);
  const isLink = ({ mode }: TreeEntry): boolean => mode === "120000";
  const sorted = [...blobs.filter((blob) => !isLink(blob)), ...blobs.filter(isLink)];
  const folders = new Set<string>([tree]);
  await eachBlob(
    place,
    sorted,
    async (content, blob) => {
      const file = join(tree, blob.path);
      if (!folders.has(dirname(file))) await mkdir(dirname(file), { recursive: true });
      folders.add(dirname(file));
      if (isLink(blob)) await symlink(content, file);
      else await writeFile(file, content);
    },
    { timeoutMs },
  );
  return tree;
}

/** Throws GitError for a path that would be written elsewhere. */
function refuseUnsafe(path: string): void {
  if (path.split("/").some((name) => name === "" || name === "." || name === ".." || name.toLowerCase() === ".git"))
    throw new GitError(`the tree contains the path ${JSON.stringify(path)}`);
}

/** Of what a pull request is reviewed against. */
export interface ReviewBase {
  /** The tip of the branch that apply watches. */
  readonly tip: string;
  /** Where the checkout and that branch parted: the tip itself if the checkout contains it. */
  readonly commit: string;
  /** What is checked out. */
  readonly head: string;
}

/** No branch has it in its name: git would read a pattern, an older commit, or two refs. */
const notOfBranch = /[\s\p{Cc}~^:?*[\\]|\.\.|@\{/u;

/**
 * The tip of a branch of the remote `origin`, and where the checkout left that branch. What is missing is fetched. A tag or a local branch of that name never
 * counts. Throws E_BASE_UNREADABLE.
 */
export async function reviewBase(folder: string, branch: string, env: Environment): Promise<ReviewBase> {
  const place = { folder, env };
  const name = `refs/remotes/origin/${branch}`;
  try {
    if (notOfBranch.test(branch)) throw new GitError("it is not the name of a branch");
    await fetchFrom(place, [`+refs/heads/${branch}:${name}`]);
    const [tip, head] = await commitsNamed(place, [name, "HEAD"]);
    if (tip === undefined) throw new GitError("git found no such branch");
    if (head === undefined) throw new GitError("the checkout has no commit");
    return { tip: tip.id, commit: await mergeBase(place, head, tip.id), head: head.id };
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    throw unreadable(
      `The branch ${JSON.stringify(branch)} of the remote origin, which apply watches, could not be read: ${error.message}. A pull request is compared with it, so no secret was read and there is no plan.`,
      error,
    );
  }
}

/**
 * The commit in which HEAD left the history of `ref`: what both have in common. The commit of the ref itself if they have nothing in common, or if git cannot
 * tell. Throws E_BASE_REF if the ref does not exist (in a shallow clone, perhaps only its history is missing), or outside a repository.
 */
export async function leftAt(folder: string, ref: string, env: Environment): Promise<string> {
  const place = { folder, env };
  const commit = await findCommit(place, ref);
  return (await gitIn(place)(["merge-base", "HEAD", commit]).catch(() => "")) || commit;
}

/** The last commit that both have in common. Fetches the history of a shallow checkout if it is needed. `head`: with what git stores of it. */
async function mergeBase(place: GitPlace, head: GitObject, tip: string): Promise<string> {
  const git = gitIn(place);
  // A shallow checkout of a merge commit names its parents, but has none of their history.
  const [header = ""] = head.content.toString("utf8").split("\n\n", 1);
  const parents = [...header.matchAll(/^parent ([0-9a-f]+)$/gmu)].map(([, parent]) => parent);
  if (head.id === tip || parents.includes(tip)) return tip;
  const common = async (): Promise<string | undefined> => (await git(["merge-base", head.id, tip]).catch(() => undefined)) || undefined;
  const found = await common();
  if (found !== undefined) return found;
  if (await isShallowClone(git)) {
    await fetchFrom(place, [head.id, tip], "--unshallow");
    const deepened = await common();
    if (deepened !== undefined) return deepened;
  }
  throw new GitError("the checkout and this branch have no commit in common, or its history could not be fetched");
}

const commitsNamed = (place: GitPlace, names: readonly string[]): ReturnType<typeof namedObjects> =>
  namedObjects(
    place,
    names.map((name) => `${name}^{commit}`),
    { timeoutMs },
  );

const isShallowClone = async (git: Git): Promise<boolean> => (await git(["rev-parse", "--is-shallow-repository"])) === "true";

/** Fetches what the remote still has. A shallow checkout stays shallow. */
async function fetchFrom(place: GitPlace, refs: readonly string[], flag?: "--unshallow"): Promise<void> {
  const [{ toRead }, depth] = await Promise.all([
    findRemote(place, "origin"),
    flag ?? isShallowClone(gitIn(place)).then((isShallow) => (isShallow ? "--depth=1" : undefined)),
  ]);
  const args = ["fetch", "--quiet", "--no-tags", ...(depth === undefined ? [] : [depth]), toRead.argument, ...refs];
  // A checkout without credentials can have everything already: what is missing is reported when it is used.
  await gitText({ ...place, env: toRead.env }, args, { timeoutMs }).catch((error: unknown) => {
    if (!(error instanceof GitError)) throw error;
  });
}

/**
 * Fetches the commit if the checkout does not have it, as jobs of CI that check out only one commit. A shallow checkout stays shallow. What fails is
 * reported by `extractBase`.
 */
export async function fetchMissing(folder: string, commit: string, env: Environment): Promise<void> {
  const place = { folder, env };
  try {
    const [known] = await commitsNamed(place, [commit]);
    if (known === undefined && isCommitId(commit)) await fetchFrom(place, [commit]);
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
  }
}

const unreadable = (message: string, cause?: unknown): DimsyncError =>
  new DimsyncError(
    "E_BASE_UNREADABLE",
    `${message} Check out the whole history (actions/checkout: fetch-depth: 0; GitLab: GIT_DEPTH: 0).`,
    { cause },
  );

async function findCommit(place: GitPlace, ref: string): Promise<string> {
  // A tag or a local branch of the same name must not stand for a branch of the remote.
  const names = [...(ref.startsWith("refs/") || isCommitId(ref) ? [] : [`refs/remotes/${ref}`]), ref];
  const found = await commitsNamed(place, names).catch((error: unknown) => {
    throw new DimsyncError("E_BASE_REF", `--base needs the git repository of ${place.folder}, but ${whyNoRepository(error)}.`);
  });
  const [commit] = found.flatMap((one) => one ?? []);
  if (commit !== undefined) return commit.id;
  const isShallow = await isShallowClone(gitIn(place)).catch(() => false);
  throw new DimsyncError(
    "E_BASE_REF",
    `The repository has no commit ${JSON.stringify(ref)}.${isShallow ? " It is a shallow clone, so its history is incomplete." : ""} Use an existing ref, or fetch it.`,
    { command: fetchCommand(ref, isShallow) },
  );
}

/** Git reads it as the commit, whatever branches are named. */
const isCommitId = (ref: string): boolean => /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/u.test(ref);

function whyNoRepository(error: unknown): string {
  if (!(error instanceof GitError)) return "it could not be read";
  if (errorCode(error.cause) === "ENOENT") return "git is not installed, or not in PATH";
  return error instanceof NoCheckoutError ? "there is none" : `git cannot read it: ${error.message}`;
}

/** The command that fetches the commit. A branch only needs its tip, so a shallow clone can stay shallow; other refs may need all history. */
function fetchCommand(ref: string, isShallow: boolean): string {
  const branch = /^origin\/([\w./-]+)$/u.exec(ref)?.[1];
  if (branch !== undefined) return `git fetch ${isShallow ? "--depth=1 " : ""}origin +refs/heads/${branch}:refs/remotes/origin/${branch}`;
  return isShallow ? "git fetch --unshallow" : "git fetch --all --tags";
}

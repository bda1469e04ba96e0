import { createHash } from "node:crypto";
import { existsSync, lstatSync, mkdirSync } from "node:fs";
import { mkdir, mkdtemp, readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { GitError, type GitOutput, type GitPlace, gitText, repositoryTop, runGit, wordsOf } from "../../base/git/process.ts";
import { type CheckoutSettings, type Connection, checkoutSettings, findRemote, handedOn } from "../../base/git/remote.ts";
import { removeAbandoned } from "../../base/git/temporary-folder.ts";
import type { Environment } from "../../base/model/settings/env.ts";
import { writeAtomic } from "../files/atomic.ts";

/**
 * The ref of the remote, accessed with dimsync's own bare repository: a shallow fetch would make
 * the user's clone shallow. It is outside the checkout, where no branch can change it.
 */
export interface RecordsRepository {
  /** "refs/dimsync/prod of origin". */
  readonly name: string;
  readonly place: GitPlace;
  readonly ref: string;
  /** Of the remote, without credentials. */
  readonly url: string;
  readonly objectFormat: CheckoutSettings["objectFormat"];
  /** The commit at the ref; undefined if the remote has no such ref. Throws GitError. */
  readonly tip: () => Promise<string | undefined>;
  /**
   * Fetches the commit at the ref, as `fetched`, and its new ancestors. "rewound": the ref was at another
   * commit before, which is not an ancestor of this one. Throws GitError.
   */
  readonly fetch: () => Promise<"fetched" | "rewound" | "missing">;
  /** The local name of the commit that was fetched last. */
  readonly fetched: string;
  readonly isAncestor: (commit: string, of: string) => Promise<boolean>;
  /** One attempt to move the ref from `parent` (undefined: it must not exist) to `commit`. */
  readonly push: (commit: string, parent: string | undefined, timeoutMs: number) => Promise<PushReport>;
  /** Remembers that the ref was at a commit, so that `fetch` notices if the ref is moved back. Throws GitError only if git can't be started. */
  readonly remember: (commit: string) => Promise<void>;
  /** Connects as for a push of the commit that the ref has, and sends nothing. */
  readonly dryRun: (commit: string) => Promise<PushReport>;
}

interface PushReport {
  readonly accepted: boolean;
  /** Git printed that the remote rejected it, which proves nothing by itself. */
  readonly rejected: boolean;
  /** The ref was not at the parent when the push began, or is hidden from those who push. */
  readonly isStale: boolean;
  /** What git printed, for a message. */
  readonly words: string;
}

interface RepositoryOptions {
  /** The project's folder. */
  readonly folder: string;
  readonly remote: string;
  readonly ref: string;
  readonly env: Environment;
}

/** The fetch URL and the push URL of a remote can differ. */
export interface Repositories {
  readonly toRead: RecordsRepository;
  /** Also reads the ref at the push URL. */
  readonly toWrite: RecordsRepository;
}

const quick = ["-c", "http.lowSpeedLimit=1", "-c", "http.lowSpeedTime=15"];
const fetchMs = 60_000;
const listMs = 20_000;

/**
 * Opens the repository, and creates it if it is missing. Throws GitError, and what Node's calls
 * throw.
 */
export async function openRepositories({ folder, remote: name, ref, env }: RepositoryOptions): Promise<Repositories> {
  const [settings, { toRead, toWrite }, real] = await Promise.all([
    checkoutSettings({ folder, env }),
    findRemote({ folder, env }, name),
    realpath(folder),
  ]);
  const { objectFormat } = settings;
  const top = repositoryTop(real) ?? real;
  const gitDir = await bareRepository({ folder: top, env }, { url: toRead.url, ref, objectFormat });
  const at = ({ url, env: withCredentials }: Connection): RecordsRepository =>
    repositoryAt({ name, url, ref, objectFormat, place: { folder: top, env: handedOn(settings, withCredentials), gitDir } });
  return { toRead: at(toRead), toWrite: at(toWrite) };
}

type Opened = Pick<RecordsRepository, "name" | "url" | "ref" | "objectFormat"> & Pick<RemoteRef, "place">;

function repositoryAt({ name, url, ref, objectFormat, place }: Opened): RecordsRepository {
  const key = keyOf(url, ref);
  const connection = { place, url, ref, seen: `refs/seen/${key}`, fetched: `refs/fetched/${key}` };
  const push = async (flags: readonly string[], commit: string, timeoutMs: number): Promise<PushReport> =>
    pushReport(await runGit(place, [...quick, ...flags, url, `${commit}:${ref}`], { timeoutMs }));
  return {
    name: `${ref} of ${name}`,
    place,
    ref,
    url,
    objectFormat,
    fetched: connection.fetched,
    tip: () => remoteTip(connection),
    isAncestor: (commit, of) => isAncestor(place, commit, of),
    fetch: () => fetchTip(connection),
    dryRun: (commit) => push(["push", "--porcelain", "--dry-run", "--no-verify", `--force-with-lease=${ref}:${commit}`], commit, listMs),
    push(commit, parent, timeoutMs) {
      const flags = ["--porcelain", "--no-verify", "--recurse-submodules=no", `--force-with-lease=${ref}:${parent ?? ""}`];
      const settings = ["push.gpgSign=false", "push.followTags=false", "gc.auto=0", "core.hooksPath=/dev/null"];
      return push([...settings.flatMap((setting) => ["-c", setting]), "push", ...flags], commit, timeoutMs);
    },
    remember: async (commit) => void (await runGit(place, ["update-ref", connection.seen, commit])),
  };
}

/** The ref of a remote, and the refs of the local repository that belong to it. */
interface RemoteRef {
  readonly place: GitPlace & Required<Pick<GitPlace, "gitDir">>;
  readonly url: string;
  readonly ref: string;
  /** The newest commit that this machine has seen. */
  readonly seen: string;
  readonly fetched: string;
}

async function remoteTip({ place, url, ref }: RemoteRef): Promise<string | undefined> {
  const text = await gitText(place, [...quick, "ls-remote", "--quiet", url, ref], { timeoutMs: listMs });
  return text
    .split("\n")
    .map((line) => line.split("\t"))
    .find(([, name]) => name === ref)?.[0];
}

async function fetchTip(connection: RemoteRef): ReturnType<RecordsRepository["fetch"]> {
  const { place, url, ref, seen, fetched } = connection;
  const depth = (await hasSeen(connection)) ? [] : ["--depth=1"];
  const flags = ["--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", ...depth];
  // Without a plus sign, git refuses to move `seen` back.
  const refs = [`+${ref}:${fetched}`, `${ref}:${seen}`];
  const args = [...quick, "-c", "gc.auto=0", "-c", "maintenance.auto=false", "fetch", ...flags, url, ...refs];
  const { code, stderr } = await runGit(place, args, { timeoutMs: fetchMs });
  if (code === 0) return "fetched";
  // A missing ref, a missing remote and a ref that was moved back have the same exit code.
  const tip = await remoteTip(connection);
  if (tip === undefined) return "missing";
  const before = await localCommit(place, seen);
  const isRewound = before !== undefined && tip === (await localCommit(place, fetched)) && !(await isAncestor(place, before, tip));
  // `seen` is kept, so that the next run notices it too.
  if (isRewound) return "rewound";
  throw new GitError(wordsOf(stderr));
}

/** Whether this machine has seen the ref. Git is not asked about a new repository. */
const hasSeen = async ({ place, seen }: RemoteRef): Promise<boolean> =>
  [seen, "packed-refs"].some((file) => existsSync(join(place.gitDir, file))) && (await localCommit(place, seen)) !== undefined;

async function localCommit(place: GitPlace, name: string): Promise<string | undefined> {
  const { code, stdout } = await runGit(place, ["rev-parse", "--verify", "--quiet", name]);
  return code === 0 ? stdout.toString("utf8").trim() : undefined;
}

async function isAncestor(place: GitPlace, commit: string, of: string): Promise<boolean> {
  const { code, stderr } = await runGit(place, ["merge-base", "--is-ancestor", commit, of]);
  if (code === 0 || code === 1) return code === 0;
  // 128: the commit is unknown here, so the fetched history does not contain it.
  if (code === 128) return false;
  throw new GitError(wordsOf(stderr));
}

function pushReport({ code, stdout, stderr }: GitOutput): PushReport {
  const status = stdout
    .toString("utf8")
    .split("\n")
    .find((line) => line.startsWith("!"));
  // The reason behind the names of the refs: "[remote rejected] (pre-receive hook declined)".
  const reason = status?.split("\t").slice(2).join(" ") ?? "";
  const [isAccepted, isStale] = [code === 0, reason === "[rejected] (stale info)"];
  return { accepted: isAccepted, rejected: status !== undefined, isStale, words: wordsOf(`${reason} ${stderr}`) };
}

const keyOf = (...parts: readonly string[]): string => createHash("sha256").update(parts.join("\n")).digest("hex").slice(0, 16);

const incomplete = "incomplete-";
const abandonedAfterMs = 600_000;

/** The repository for one ref of one remote. Its configuration is always the one that dimsync writes. */
async function bareRepository(
  place: GitPlace & { readonly gitDir?: never },
  { url, ref, objectFormat }: Pick<RecordsRepository, "url" | "ref" | "objectFormat">,
): Promise<string> {
  const folder = recordsFolder(place.env);
  // Only paths can be relative.
  const remote = /^[\w+.-]+:/u.test(url) ? url : resolve(place.folder, url);
  const gitDir = join(folder, `${keyOf(remote, ref, objectFormat)}.git`);
  if ((await stat(gitDir).catch(() => undefined)) === undefined) await createRepository(folder, { gitDir, objectFormat });
  const config = join(gitDir, "config");
  const text = configOf(objectFormat);
  // Other processes may be using it.
  if ((await readFile(config, "utf8").catch(() => "")) !== text) await writeAtomic(config, text, { mode: 0o600 });
  return gitDir;
}

const configOf = (objectFormat: CheckoutSettings["objectFormat"]): string =>
  objectFormat === "sha1"
    ? "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"
    : `[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectformat = ${objectFormat}\n`;

interface NewRepository {
  readonly gitDir: string;
  readonly objectFormat: CheckoutSettings["objectFormat"];
}

/** Created under another name, so that a kill or a second process never leaves an incomplete repository. */
async function createRepository(folder: string, { gitDir, objectFormat }: NewRepository): Promise<void> {
  await removeAbandoned(folder, incomplete, abandonedAfterMs);
  const temp = await mkdtemp(join(folder, incomplete));
  try {
    // What git init writes and git needs. A job has a new machine each time, and waits for each process.
    await Promise.all([mkdir(join(temp, "objects")), mkdir(join(temp, "refs"))]);
    await writeFile(join(temp, "config"), configOf(objectFormat), { mode: 0o600 });
    await writeFile(join(temp, "HEAD"), "ref: refs/heads/main\n");
    await rename(temp, gitDir).catch(async (error: unknown) => {
      // Another process was first.
      if (!(await stat(join(gitDir, "HEAD")).catch(() => undefined))) throw error;
    });
  } finally {
    await rm(temp, { recursive: true, force: true });
  }
}

/** The user's folder for caches of records: created if it does not exist, and undefined if anyone but its owner could change what is in it. */
function cacheFolder(env: Environment): string | undefined {
  const { HOME, XDG_CACHE_HOME, LOCALAPPDATA } = env;
  const isWindows = process.platform === "win32";
  const caches = (isWindows ? [LOCALAPPDATA ?? ""] : [XDG_CACHE_HOME ?? "", join(HOME ?? "", ".cache")]).find(isAbsolute);
  if (caches === undefined) return undefined;
  const folder = join(caches, "dimsync", "records");
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    // On Windows, a folder of the user is private through its access control list. Elsewhere, whoever can write a folder above could
    // replace this one.
    return isWindows || [folder, dirname(folder), caches].every(isPrivate) ? folder : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The folder for clones of records, which can be deleted at any time: in RUNNER_TEMP of a CI job, else the folder for caches, else one in the
 * system's folder for temporary files. Throws what Node's calls throw, and an Error if it belongs to someone else.
 */
export function recordsFolder(env: Environment): string {
  const { RUNNER_TEMP: job = "" } = env;
  const ofJob = isAbsolute(job) && existsSync(job) ? join(job, "dimsync", "records") : undefined;
  const folder = ofJob ?? cacheFolder(env) ?? join(tmpdir(), `dimsync-${process.getuid?.() ?? "user"}-records`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (process.platform === "win32" || isPrivate(folder)) return folder;
  throw new Error(`${folder} belongs to another user, or others can write it. Remove it, or set XDG_CACHE_HOME to a folder of your own.`);
}

/** Whether it is a folder, not a link to one, that belongs to the user and that only the user can write. */
function isPrivate(folder: string): boolean {
  const stats = lstatSync(folder);
  return stats.isDirectory() && stats.uid === process.getuid?.() && (stats.mode & 0o022) === 0;
}

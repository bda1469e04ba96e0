import { createHash } from "node:crypto";
import { lstat, readFile, readlink, realpath } from "node:fs/promises";
import { join, parse, relative, resolve, sep } from "node:path";
import { byText } from "../model/address.ts";
import { defined } from "../model/json/json.ts";
import type { Plan } from "../model/plan.ts";
import { eachBlob, filesAt } from "./blobs.ts";
import { type GitCall, GitError, type GitPlace, gitText, repositoryTop, runGit } from "./process.ts";

/** The files that a plan depends on. */
export interface ProjectFiles {
  /** Absolute paths, whether the file exists or not. */
  readonly files: readonly string[];
  /** Whether an absolute path would be one of them; for deleted files. */
  readonly covers: (path: string) => boolean;
  /** Those that the command line names, which git may ignore. */
  readonly passed?: readonly string[];
}

/** A large repository on a slow disk takes seconds. */
const limitMs = 10_000;

type Limits = Pick<GitCall, "timeoutMs" | "signal">;

/**
 * The commit of the folder's repository, and which of the project's files differ from it. Other files do not count, such as saved plans and reports. Compares
 * bytes with the blobs of the commit, line ends apart: neither the index nor an attribute or filter of the checkout decides. Undefined outside a repository,
 * before its first commit, without git, and if git does not respond within 10 seconds or is stopped.
 */
export async function gitState(folder: string, project: ProjectFiles, { timeoutMs = limitMs, signal }: Limits = {}): Promise<Plan["git"]> {
  const limits = { timeoutMs, signal };
  try {
    const real = await realpath(folder);
    const top = repositoryTop(real);
    if (top === undefined) return undefined;
    const place = { folder: top, env: process.env };
    const commit = await gitText(place, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], limits);
    const isOfProject = covering(project, folder, real);
    const committed = await committedFiles(place, commit, { isOfProject, limits });
    const inCheckout = (file: string): string => resolve(real, relative(folder, file));
    const { differing, untracked, ignored: ignoredFiles } = await differences(project.files.map(inCheckout), committed, { top, limits });
    const leftOut = new Set(await skipped(place, differing, limits));
    const passed = new Set((project.passed ?? []).map(inCheckout));
    const nameOf = (path: string): string => relative(real, path).split(sep).join("/");
    const shown = (paths: readonly string[]): readonly string[] | undefined =>
      paths.length === 0 ? undefined : [...new Set(paths.map(nameOf))].sort(byText);
    const ignored = [...ignoredFiles].flatMap(([path, by]) => (passed.has(path) ? [] : [{ file: nameOf(path), by }]));
    return {
      commit,
      dirty: differing.length > 0,
      ...defined({
        changedFiles: shown(differing.filter((path) => !leftOut.has(path))),
        leftOut: shown([...leftOut]),
        untracked: shown(untracked),
        ignored: ignored.length === 0 ? undefined : ignored.sort((a, b) => byText(a.file, b.file)),
      }),
    };
  } catch {
    return undefined;
  }
}

/** Whether a path of the checkout, without links, belongs to the project, which may be reached through a link. */
export function covering({ files, covers }: ProjectFiles, folder: string, real: string): (path: string) => boolean {
  const known = new Set(files.map((file) => resolve(real, relative(folder, file))));
  return (path) => known.has(path) || covers(path) || covers(join(folder, relative(real, path)));
}

interface Committed {
  readonly id: string;
  readonly isLink: boolean;
  readonly isOfProject: boolean;
}

interface Listing {
  readonly isOfProject: (path: string) => boolean;
  readonly limits: Limits;
}

/** The files at the commit, by absolute path, without those of submodules. */
async function committedFiles(place: GitPlace, commit: string, { isOfProject, limits }: Listing): Promise<ReadonlyMap<string, Committed>> {
  const found = new Map<string, Committed>();
  for (const { mode, id, path } of await filesAt(place, commit, limits)) {
    const absolute = join(place.folder, path);
    if (mode !== "160000") found.set(absolute, { id, isLink: mode === "120000", isOfProject: isOfProject(absolute) });
  }
  return found;
}

interface Differences {
  /** The project's files that differ from the commit, with the untracked ones. */
  readonly differing: readonly string[];
  /** Those that the commit does not have. */
  readonly untracked: readonly string[];
  /** Those that the commit does not have because git ignores them, with what names them: ".gitignore:3". */
  readonly ignored: ReadonlyMap<string, string>;
}

/** `files`: absolute paths, whose last part may be a link. */
async function differences(
  files: readonly string[],
  committed: ReadonlyMap<string, Committed>,
  { top, limits }: { readonly top: string; readonly limits: Limits },
): Promise<Differences> {
  const isInside = (path: string): boolean => path.startsWith(`${top}${sep}`);
  const covered = [...committed].flatMap(([path, { isOfProject }]) => (isOfProject ? [path] : []));
  const differing = new Set<string>();
  const unknown: string[] = [];
  const unequal: Unequal[] = [];
  for (const file of new Set([...files, ...covered])) {
    if (!isInside(file)) continue;
    const { links, end, text } = await followed(file);
    if (links.some(({ path, target }) => isInside(path) && committed.get(path)?.id !== blobId(target, committed.get(path)?.id)))
      differing.add(file);
    const entry = committed.get(end);
    if (text === undefined ? entry !== undefined : entry?.isLink === true) differing.add(file);
    else if (text !== undefined && entry === undefined && isInside(end)) unknown.push(file);
    else if (text !== undefined && entry !== undefined && entry.id !== blobId(text, entry.id)) unequal.push({ file, text, entry });
  }
  const ignored = await ignoredOf({ folder: top, env: process.env }, unknown, limits);
  const untracked = unknown.filter((file) => !ignored.has(file));
  for (const file of [...untracked, ...(await unlikeBlobs({ folder: top, env: process.env }, unequal, limits))]) differing.add(file);
  return { differing: [...differing], untracked, ignored };
}

/** Follows a path: the links on its way, its end without links, and the bytes of the file there; undefined if there is none. */
async function followed(path: string): Promise<{
  readonly links: readonly { readonly path: string; readonly target: Buffer }[];
  readonly end: string;
  readonly text: Buffer | undefined;
}> {
  const links: { readonly path: string; readonly target: Buffer }[] = [];
  const partsOf = (whole: string): string[] => whole.slice(parse(whole).root.length).split(sep);
  let at = parse(path).root;
  let rest = partsOf(path);
  for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
    const next = resolve(at, name);
    const target = await readlink(next, "buffer").catch(() => undefined);
    if (target !== undefined) links.push({ path: next, target });
    // Node gives up at the same depth.
    if (target === undefined || links.length > 40) at = next;
    else {
      const whole = resolve(at, target.toString("utf8"));
      rest = partsOf(whole).concat(rest);
      at = parse(whole).root;
    }
  }
  return { links, end: at, text: await readFile(at).catch(() => undefined) };
}

/** The id that git gives these bytes, in the format of another id. */
const blobId = (text: Uint8Array, like = ""): string =>
  createHash(like.length === 64 ? "sha256" : "sha1")
    .update(`blob ${text.length}\0`)
    .update(text)
    .digest("hex");

interface Unequal {
  readonly file: string;
  readonly text: Buffer;
  readonly entry: Committed;
}

/** The files that have other bytes than their blob, line ends apart. */
async function unlikeBlobs(place: GitPlace, all: readonly Unequal[], { timeoutMs = limitMs }: Limits): Promise<readonly string[]> {
  const found: string[] = [];
  await eachBlob(
    place,
    all.map(({ file, text, entry: { id } }) => ({ id, path: file, text })),
    (content, { path, text }) => {
      if (withoutReturns(content) !== withoutReturns(text)) found.push(path);
    },
    { timeoutMs },
  );
  return found;
}

const withoutReturns = (text: Buffer): string => text.toString("latin1").replaceAll("\r\n", "\n");

/** Those of the absolute paths that a .gitignore names, with its line. `place`: the top of the repository. Throws GitError. */
async function ignoredOf(place: GitPlace, files: readonly string[], limits: Limits): Promise<ReadonlyMap<string, string>> {
  if (files.length === 0) return new Map();
  const input = files.map((file) => `${relative(place.folder, file)}\0`).join("");
  const { code, stdout } = await runGit(place, ["check-ignore", "-v", "-z", "--stdin"], { ...limits, input });
  // 1: none is ignored. It fails for files of submodules.
  if (code === undefined) throw new GitError("no response");
  const fields = code === 0 ? stdout.toString("utf8").split("\0") : [];
  const by = new Map<string, string>();
  // Of each file: source, line, pattern and path.
  for (let at = 3; at < fields.length; at += 4) {
    const [source, line, pattern = "", path = ""] = fields.slice(at - 3, at + 1);
    // A pattern that includes a file again is printed, too.
    if (!pattern.startsWith("!")) by.set(join(place.folder, path), `${source}:${line}`);
  }
  return new Map(files.flatMap((file) => (by.has(file) ? [[file, by.get(file) ?? ""] as const] : [])));
}

/** The missing files that the index says not to check out (sparse checkout). */
async function skipped(place: GitPlace, files: readonly string[], limits: Limits): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const file of files) if ((await lstat(file).catch(() => undefined)) === undefined) missing.push(file);
  if (missing.length === 0) return [];
  const { stdout } = await runGit(place, ["ls-files", "-t", "-z", "--full-name"], limits);
  const left = new Set(
    stdout
      .toString("utf8")
      .split("\0")
      .flatMap((line) => (line.startsWith("S ") ? [join(place.folder, line.slice(2))] : [])),
  );
  return missing.filter((file) => left.has(file));
}

import { type Dirent, readFileSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, join, relative, resolve, sep } from "node:path";
import { Script } from "node:vm";
import picomatch from "picomatch";
import { byText } from "../base/model/address.ts";
import { errorCode } from "../base/model/errors.ts";
import { once } from "../base/model/maps.ts";
import { type Problem, problemAt, type SourceLocation } from "../base/model/problem.ts";
import type { Code } from "../base/model/titles.ts";
import { type Boundary, isInside, outsideProblem, realPathOf } from "./boundary.ts";
import { shownPath } from "./source.ts";

/** A file, a folder or a glob, and where the config names it; without a place, the user has typed it. */
export interface Wanted {
  readonly pattern: string;
  readonly place?: SourceLocation;
}

export interface Discovered {
  /** Absolute paths, sorted, each file once even if several patterns match it. */
  readonly paths: readonly string[];
  readonly problems: readonly Problem[];
}

interface DiscoverOptions {
  readonly cwd: string;
  /** The patterns are relative to this folder. */
  readonly folder: string;
  /** Which paths the config may name. */
  readonly boundary: Boundary;
  /** Absolute paths that are not manifests: config, bindings, variable files. */
  readonly except: readonly string[];
  /** Ends the search with its reason. */
  readonly signal?: AbortSignal | undefined;
  /** Lists a folder. Default: the one of node:fs/promises. */
  readonly readFolder?: (path: string) => Promise<readonly Dirent[]>;
}

/**
 * The manifest files behind files, folders and globs. Folders are searched for *.yaml and *.yml, without dot folders and node_modules. Symbolic links are
 * followed inside the project, and each folder is read once per pattern. Throws the signal's reason.
 */
export async function discover(wanted: readonly Wanted[], options: DiscoverOptions): Promise<Discovered> {
  const except = new Set(options.except.map(realPathOf));
  const search: Search = { options, except, roots: [realPathOf(options.folder)], paths: new Map(), problems: [], isSlow: false };
  const submodules = submodulesOf(options.boundary.top);
  for (const one of wanted) {
    for (const submodule of submodules) refuseSubmodule(search, one, submodule);
    await findWanted(search, one);
  }
  return { paths: [...search.paths.values()].sort(byText), problems: search.problems };
}

/** The manifests of a target, without files that are only for other targets. `ofOthers`: their files, folders and globs. */
export async function discoverOwn(wanted: readonly Wanted[], ofOthers: readonly string[], options: DiscoverOptions): Promise<Discovered> {
  const { folder, boundary, except } = options;
  const patterns = ofOthers.filter((pattern) => leadsOutside({ pattern }, folder, boundary) === undefined).map((pattern) => ({ pattern }));
  const { paths } = await discover(patterns, { ...options, except: [] });
  return discover(wanted, { ...options, except: [...except, ...paths] });
}

/** One search: its options, and what it has found so far. */
interface Search {
  readonly options: DiscoverOptions;
  /** Real paths. */
  readonly except: ReadonlySet<string>;
  /** Real paths of the folders that the user named; links that lead out of all of them are not followed. */
  readonly roots: string[];
  /** The path of each file, by its real path. */
  readonly paths: Map<string, string>;
  readonly problems: Problem[];
  /** A glob took too long: no more are tried, so that thousands of them do not take hours. */
  isSlow: boolean;
}

async function findWanted(search: Search, { pattern, place }: Wanted): Promise<void> {
  const { options, problems } = search;
  const path = resolve(options.folder, pattern);
  const target = place === undefined ? undefined : leadsOutside({ pattern }, options.folder, options.boundary);
  if (target !== undefined) {
    problems.push(outsideProblem(options.boundary, { written: pattern, target }, place));
    return;
  }
  const kind = await kindOf(search, path, place);
  if (kind === "file") addFile(search, path, realPathOf(path));
  else if (kind === "folder") await walk(search, path, { accept: isYaml, place });
  else if (kind === "absent") await findGlob(search, { pattern, ...(place === undefined ? {} : { place }) });
  else if (!problems.some((problem) => problem.place === place))
    report(search, place, ["E_UNREADABLE", `${shownPath(options.cwd, path)} is neither a file nor a folder.`]);
}

/** The folders of the git submodules of a checkout, absolute. */
function submodulesOf(top: string): readonly string[] {
  try {
    const text = readFileSync(join(top, ".gitmodules"), "utf8");
    return [...text.matchAll(/^\s*path\s*=\s*"?(.+?)"?\s*$/gmu)].map(([, path = ""]) => join(top, path));
  } catch {
    return [];
  }
}

/** Reports a submodule with manifests: git has only its commit, so no review sees what changes in it. */
function refuseSubmodule(search: Search, one: Wanted, submodule: string): void {
  const { cwd, folder } = search.options;
  const real = realPathOf(folder);
  const { base, isGlob } = picomatch.scan(one.pattern);
  const isCovered =
    covering([one], real)(join(submodule, "manifest.yaml")) || isInside(submodule, resolve(real, isGlob ? base : one.pattern));
  if (!isCovered || search.problems.some(({ code, place }) => code === "E_SUBMODULE" && place === one.place)) return;
  const message = `${shownPath(cwd, submodule)} is a git submodule. A pull request shows only its commit, so nobody reviews what changes in it. Copy its manifests into this repository, or exclude it from \`manifests\`.`;
  report(search, one.place, ["E_SUBMODULE", message]);
}

/** Where a pattern leads if that is outside the project. */
function leadsOutside({ pattern }: Pick<Wanted, "pattern">, folder: string, boundary: Boundary): string | undefined {
  const { base, isGlob } = picomatch.scan(pattern);
  return boundary.leadsOutside(resolve(folder, isGlob ? base : pattern));
}

async function findGlob(search: Search, { pattern, place }: Wanted): Promise<void> {
  const { options, paths } = search;
  const { base, glob, isGlob } = picomatch.scan(pattern);
  if (!isGlob) {
    const message = `${pattern} does not exist. Paths are relative to ${place === undefined ? "the working directory" : "the config file"}.`;
    report(search, place, ["E_PATH_NOT_FOUND", message]);
    return;
  }
  const from = resolve(options.folder, base);
  if (search.isSlow) return;
  const matches = globMatcher(glob);
  const before = paths.size;
  const accept = (path: string): boolean => {
    const result = search.isSlow ? false : matches(relative(from, path));
    if (result !== undefined) return result;
    search.isSlow = true;
    const message = `The pattern ${pattern} took longer than ${limitMs} ms for the file ${shownPath(options.cwd, path)}. No more files were compared with patterns. Use fewer * in it, or name a folder.`;
    report(search, place, ["E_WRONG_VALUE", message]);
    return false;
  };
  if ((await kindOf(search, from, place)) === "folder") await walk(search, from, { accept, place });
  if (paths.size === before && !search.isSlow) report(search, place, ["W_NO_MATCH", `No file matches ${pattern}.`, "warning"]);
}

/** Whether a relative path matches; undefined if that takes too long. A pattern such as *a*a*a*a*a*b takes years for some names. */
export function globMatcher(glob: string): (path: string) => boolean | undefined {
  const isMatch = picomatch(glob, { dot: false });
  const matches = (path: string): boolean => isMatch(path.replaceAll(sep, "/"));
  // The limit costs 0.25 ms a path, and three stars without alternatives cannot take long.
  const isFast = !/[({|]/u.test(glob) && (glob.match(/\*+/gu) ?? []).length <= 3;
  return isFast ? matches : (path) => endingInTime(() => matches(path));
}

/** For one path. Less than a second, so that a stop signal is heard within a second. */
const limitMs = 500;

/** The result of a check; undefined if it does not end in time. */
function endingInTime(check: () => boolean): boolean | undefined {
  const key = Symbol.for("dimsync.check");
  try {
    Reflect.set(globalThis, key, check);
    // Code that vm runs can be ended, also inside a regular expression.
    return limited.runInThisContext({ timeout: limitMs }) === true;
  } catch (error) {
    if (errorCode(error) !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
    return undefined;
  } finally {
    Reflect.deleteProperty(globalThis, key);
  }
}

const limited = new Script('globalThis[Symbol.for("dimsync.check")]()');

interface Folder {
  readonly path: string;
  readonly real: string;
}

interface WalkOptions {
  readonly accept: (path: string) => boolean;
  readonly place: SourceLocation | undefined;
}

/** So many folders are read at a time. */
const batch = 16;

/** Links come after everything else, so that a file is named by its own path if that is in the folder, too. */
async function walk(search: Search, path: string, walking: WalkOptions): Promise<void> {
  const real = realPathOf(path);
  search.roots.push(real);
  const seen = new Set([real]);
  const folders: Folder[] = [{ path, real }];
  const links: Link[] = [];
  const enter = (folder: Folder): void => {
    if (seen.has(folder.real)) return;
    seen.add(folder.real);
    folders.push(folder);
  };
  while (folders.length > 0 || links.length > 0) {
    search.options.signal?.throwIfAborted();
    const entries = await Promise.all(folders.splice(0, batch).map((folder) => readEntries(search, folder, walking)));
    for (const found of entries) {
      found.folders.forEach(enter);
      for (const link of found.links) links.push(link);
    }
    if (folders.length > 0) continue;
    for (const link of links.splice(0)) {
      const folder = await followLink(search, link, walking);
      if (folder !== undefined) enter(folder);
    }
  }
}

interface Link {
  readonly path: string;
  readonly from: Folder;
}

/** Adds the files of a folder, and returns the folders and links in it. */
async function readEntries(
  search: Search,
  folder: Folder,
  { accept, place }: WalkOptions,
): Promise<{ readonly folders: readonly Folder[]; readonly links: readonly Link[] }> {
  const { cwd, readFolder = listFolder } = search.options;
  let entries: readonly Dirent[];
  try {
    entries = await readFolder(folder.path);
  } catch (error) {
    const message = `${shownPath(cwd, folder.path)} can't be read (${errorCode(error)}). Check its permissions.`;
    report(search, place, ["E_UNREADABLE", message]);
    return { folders: [], links: [] };
  }
  const folders: Folder[] = [];
  const links: Link[] = [];
  for (const entry of entries) {
    const path = join(folder.path, entry.name);
    if (entry.isSymbolicLink()) links.push({ path, from: folder });
    else if (entry.isFile() && accept(path)) addFile(search, path, join(folder.real, entry.name));
    else if (entry.isDirectory() && isFolderName(entry.name)) folders.push({ path, real: join(folder.real, entry.name) });
  }
  return { folders, links };
}

const listFolder = (path: string): Promise<readonly Dirent[]> => readdir(path, { withFileTypes: true });

/** Adds the file that a link leads to, or returns the folder. What is outside the project is not part of it. */
async function followLink(search: Search, { path, from }: Link, { accept, place }: WalkOptions): Promise<Folder | undefined> {
  const mayBeFolder = isFolderName(basename(path));
  if (!mayBeFolder && !accept(path)) return undefined;
  const real = realPathOf(path);
  const shown = shownPath(search.options.cwd, path);
  if (!search.roots.some((root) => isInside(root, real))) {
    const message = `${shown} is a symbolic link to ${real}, which is outside the folders of manifests, so dimsync does not read it. Add that path to \`manifests\`, or remove the link.`;
    if (accept(path) || (await stat(real).catch(() => undefined))?.isDirectory())
      report(search, place, ["W_LINK_SKIPPED", message, "warning"]);
    return undefined;
  }
  const kind = await kindOf(search, path, place);
  if (kind === "file" && accept(path)) addFile(search, path, real);
  if (kind === "absent" && accept(path))
    report(search, place, ["E_PATH_NOT_FOUND", `${shown} is a symbolic link to a file that does not exist.`]);
  if (kind !== "folder" || !mayBeFolder) return undefined;
  if (isInside(real, from.real)) {
    const message = `${shown} is a symbolic link to a folder that contains it. Remove it.`;
    report(search, place, ["E_UNREADABLE", message]);
    return undefined;
  }
  return { path, real };
}

function addFile({ except, paths }: Search, path: string, real: string): void {
  if (except.has(real)) return;
  const known = paths.get(real);
  if (known === undefined || byText(path, known) < 0) paths.set(real, path);
}

async function kindOf(search: Search, path: string, place: SourceLocation | undefined): Promise<"file" | "folder" | "absent" | "other"> {
  try {
    const stats = await stat(path);
    return stats.isDirectory() ? "folder" : stats.isFile() ? "file" : "other";
  } catch (error) {
    const code = errorCode(error);
    const shown = shownPath(search.options.cwd, path);
    if (code === "ENOENT") return "absent";
    if (code === "ELOOP") report(search, place, ["E_UNREADABLE", `${shown} is a symbolic link that leads back to itself. Remove it.`]);
    else report(search, place, ["E_UNREADABLE", `${shown} can't be read (${code}). Check its permissions.`]);
    return "other";
  }
}

function report(
  { problems }: Search,
  place: SourceLocation | undefined,
  [code, message, severity = "error"]: readonly [code: Code, message: string, severity?: Problem["severity"]],
): void {
  problems.push(problemAt(place, { code, message, severity }));
}

/**
 * Whether the files, folders and globs cover an absolute path, or a glob takes too long to decide it. The path need not exist: the
 * manifest may be deleted.
 */
export function covering(wanted: readonly Wanted[], folder: string): (path: string) => boolean {
  const all = once(() =>
    wanted.map(({ pattern }) => {
      const { base, glob, isGlob } = picomatch.scan(pattern);
      return { from: resolve(folder, isGlob ? base : pattern), matches: isGlob ? globMatcher(glob) : isYaml };
    }),
  );
  let isSlow = false;
  return (path) => {
    if (/(?:^|[\\/])(?:\.(?!\.)|node_modules[\\/])/u.test(relative(folder, path))) return false;
    return all().some(({ from, matches }) => {
      if (path === from || isSlow) return true;
      const result = path.startsWith(from + sep) ? matches(relative(from, path)) : false;
      isSlow = result === undefined;
      return result !== false;
    });
  };
}

const isYaml = (path: string) => /\.ya?ml$/iu.test(path);

const isFolderName = (name: string): boolean => !name.startsWith(".") && name !== "node_modules";

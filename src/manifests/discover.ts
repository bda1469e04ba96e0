import { type Dirent, readdirSync, realpathSync, statSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import picomatch from "picomatch";
import { byText } from "../model/address.ts";
import type { Problem, SourceLocation } from "../model/problem.ts";
import { errorCode, shownPath } from "./source.ts";

/** A file, a folder or a glob as the user wrote it, and where. */
export interface Wanted {
  readonly pattern: string;
  readonly place?: SourceLocation;
}

export interface Discovered {
  /** Absolute paths, sorted, each file once even if several patterns match it. */
  readonly paths: readonly string[];
  readonly problems: readonly Problem[];
}

/**
 * The manifest files behind files, folders and globs, relative to `folder`. Folders are searched for *.yaml and *.yml, without dot folders
 * and node_modules; symbolic links are followed inside the project, and each folder is read once. `except` are absolute paths that are not manifests: config, bindings, variable files.
 */
export function discover(
  wanted: readonly Wanted[],
  options: { readonly cwd: string; readonly folder: string; readonly except: readonly string[] },
): Discovered {
  const problems: Problem[] = [];
  const paths = new Map<string, string>();
  const except = new Set(options.except.map(realOrSame));
  const report = (
    code: string,
    summary: string,
    message: string,
    place: SourceLocation | undefined,
    severity: Problem["severity"] = "error",
  ) => {
    problems.push({ code, severity, summary, message, ...(place === undefined ? {} : { place }) });
  };

  const addFile = (path: string) => {
    const real = realOrSame(path);
    if (except.has(real)) return;
    const known = paths.get(real);
    if (known === undefined || byText(path, known) < 0) paths.set(real, path);
  };

  const kindOf = (path: string, place: SourceLocation | undefined): "file" | "folder" | "absent" | "other" => {
    try {
      const stats = statSync(path);
      return stats.isDirectory() ? "folder" : stats.isFile() ? "file" : "other";
    } catch (error) {
      const shown = shownPath(options.cwd, path);
      if (errorCode(error) === "ENOENT") return "absent";
      if (errorCode(error) === "ELOOP")
        report("E_SYMLINK_LOOP", "Symbolic links in a circle", `${shown} is a symbolic link that leads back to itself. Remove it.`, place);
      else report("E_UNREADABLE", "Path can't be read", `${shown} can't be read (${errorCode(error)}). Check its permissions.`, place);
      return "other";
    }
  };

  /** `above` holds the real paths of the folders that lead here: meeting one again is a circle. */
  let seen = new Set<string>();
  const roots = [realOrSame(options.folder)];
  const isOutside = (path: string): boolean => {
    const real = realOrSame(path);
    return !roots.some((root) => real === root || real.startsWith(root.endsWith(sep) ? root : root + sep));
  };
  const walk = (folder: string, above: readonly string[], accept: (path: string) => boolean, place: SourceLocation | undefined): void => {
    const real = realOrSame(folder);
    if (above.includes(real)) {
      report(
        "E_SYMLINK_LOOP",
        "Symbolic links in a circle",
        `${shownPath(options.cwd, folder)} is a symbolic link to a folder that contains it. Remove it.`,
        place,
      );
      return;
    }
    if (seen.has(real)) return;
    seen.add(real);
    let entries: Dirent[];
    try {
      entries = readdirSync(folder, { withFileTypes: true });
    } catch (error) {
      report(
        "E_UNREADABLE",
        "Folder can't be read",
        `${shownPath(options.cwd, folder)} can't be read (${errorCode(error)}). Check its permissions.`,
        place,
      );
      return;
    }
    for (const entry of entries) {
      const path = join(folder, entry.name);
      const isLink = entry.isSymbolicLink();
      const isFolderName = !entry.name.startsWith(".") && entry.name !== "node_modules";
      if (isLink && !isFolderName && !accept(path)) continue;
      // What a link leads to outside the project is not part of it.
      if (isLink && isOutside(path)) continue;
      const kind = isLink ? kindOf(path, place) : entry.isDirectory() ? "folder" : entry.isFile() ? "file" : "other";
      if (kind === "folder" && isFolderName) walk(path, [...above, real], accept, place);
      else if (kind === "file" && accept(path)) addFile(path);
      else if (kind === "absent" && accept(path))
        report(
          "E_PATH_NOT_FOUND",
          "File not found",
          `${shownPath(options.cwd, path)} is a symbolic link to a file that does not exist.`,
          place,
        );
    }
  };

  for (const { pattern, place } of wanted) {
    const path = resolve(options.folder, pattern);
    seen = new Set();
    const kind = kindOf(path, place);
    if (kind === "file") addFile(path);
    else if (kind === "folder") {
      roots.push(realOrSame(path));
      walk(path, [], isYaml, place);
    } else if (kind === "absent") {
      const { base, glob, isGlob } = picomatch.scan(pattern);
      if (!isGlob) {
        const message = `${pattern} does not exist. Paths are relative to ${place === undefined ? "the working directory" : "the config file"}.`;
        report("E_PATH_NOT_FOUND", "Path not found", message, place);
        continue;
      }
      const from = resolve(options.folder, base);
      const matches = picomatch(glob, { dot: false });
      const before = paths.size;
      if (kindOf(from, place) === "folder") {
        roots.push(realOrSame(from));
        walk(from, [], (candidate) => matches(relative(from, candidate).replaceAll(sep, "/")), place);
      }
      if (paths.size === before) report("W_GLOB_NO_FILE", "Glob without a file", `No file matches ${pattern}.`, place, "warning");
    } else if (kind === "other" && !problems.some((problem) => problem.place === place)) {
      report("E_UNREADABLE", "Neither file nor folder", `${shownPath(options.cwd, path)} is neither a file nor a folder.`, place);
    }
  }
  return { paths: [...paths.values()].sort(byText), problems };
}

/**
 * Whether the files, folders and globs cover an absolute path. It need not exist: the manifest may
 * be deleted.
 */
export function covers(wanted: readonly Wanted[], folder: string, path: string): boolean {
  if (/(?:^|[\\/])(?:\.(?!\.)|node_modules[\\/])/u.test(relative(folder, path))) return false;
  return wanted.some(({ pattern }) => {
    const { base, glob, isGlob } = picomatch.scan(pattern);
    const from = resolve(folder, isGlob ? base : pattern);
    if (path === from) return true;
    const matches = isGlob ? picomatch(glob, { dot: false }) : isYaml;
    return path.startsWith(from + sep) && matches(relative(from, path).replaceAll(sep, "/"));
  });
}

const isYaml = (path: string) => /\.ya?ml$/iu.test(path);

/**
 * The path with symbolic links resolved. If the file does not exist: its folder's, or the path
 * itself.
 */
function realOrSame(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    try {
      return join(realpathSync(dirname(path)), path.slice(dirname(path).length));
    } catch {
      return path;
    }
  }
}

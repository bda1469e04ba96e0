import { realpath } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import { byText } from "../model/address.ts";
import type { Plan } from "../model/plan.ts";
import { type GitCall, runGit } from "./process.ts";
import { repositoryTop } from "./top.ts";

/** The files that a plan depends on. */
export interface ProjectFiles {
  /** Absolute paths, whether the file exists or not. */
  readonly files: readonly string[];
  /** Whether an absolute path would be one of them; for deleted files. */
  readonly covers: (path: string) => boolean;
}

/** A large repository on a slow disk takes seconds. */
const limitMs = 10_000;

/**
 * The commit of the folder's repository, and which of the project's files have uncommitted changes. Other files do not count, such as saved plans and
 * reports. Undefined outside a repository, before its first commit, without git, and if git does not respond within 10 seconds or is stopped.
 */
export async function gitState(
  folder: string,
  project: ProjectFiles,
  { timeoutMs = limitMs, signal }: Pick<GitCall, "timeoutMs" | "signal"> = {},
): Promise<Plan["git"]> {
  const place = { folder, env: process.env };
  try {
    const args = ["status", "--porcelain=v2", "--branch", "--untracked-files=normal", "--ignore-submodules=none", "-z"];
    const { code, stdout } = await runGit(place, args, { timeoutMs, signal });
    const { commit, changed } = parseStatus(stdout.toString("utf8"));
    if (code !== 0 || commit === undefined) return undefined;
    if (changed.length === 0) return { commit, dirty: false };
    const real = await realpath(folder);
    const prefix = relative(repositoryTop(real) ?? real, real);
    const changedFiles = await onlyOf(
      project,
      folder,
      changed.map((path) => join(relative(prefix, path), path.endsWith("/") ? sep : "")),
    );
    return changedFiles.length === 0 ? { commit, dirty: false } : { commit, dirty: true, changedFiles };
  } catch {
    return undefined;
  }
}

/** Paths relative to the top of the repository; untracked folders and submodules end with a slash. */
function parseStatus(text: string): { readonly commit: string | undefined; readonly changed: readonly string[] } {
  const changed: string[] = [];
  let commit: string | undefined;
  const lines = text.split("\0");
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? "";
    const [type = ""] = line;
    if (type === "#") commit ??= /^# branch\.oid ([0-9a-f]+)$/u.exec(line)?.[1];
    if (type === "?") changed.push(line.slice(2));
    // The path comes after a number of fields that depends on the type.
    if (type === "1") changed.push(`${line.split(" ").slice(8).join(" ")}${/^1 .. S/u.test(line) ? "/" : ""}`);
    if (type === "u") changed.push(line.split(" ").slice(10).join(" "));
    if (type !== "2") continue;
    // Of a renamed file, the old path follows.
    changed.push(line.split(" ").slice(9).join(" "), lines[index + 1] ?? "");
    index += 1;
  }
  return { commit, changed };
}

/** The changed paths that belong to the project, relative to its folder, with "/". An untracked folder counts by the files in it. */
async function onlyOf({ files, covers }: ProjectFiles, folder: string, changed: readonly string[]): Promise<readonly string[]> {
  // The project may reach its folder or its files through symbolic links.
  const real = await realpath(folder);
  const paths = new Map(files.map((file) => [file, file]));
  for (const file of files) paths.set(await realpath(file).catch(() => file), file);
  const found = changed.flatMap((path) => {
    const candidates = [...new Set([folder, real])].map((base) =>
      path.endsWith(sep) ? `${resolve(base, path)}${sep}` : resolve(base, path),
    );
    if (path.endsWith(sep)) return [...paths].flatMap(([at, file]) => (candidates.some((one) => at.startsWith(one)) ? [file] : []));
    return candidates.flatMap((one) => paths.get(one) ?? (covers(one) ? [one] : []));
  });
  return [...new Set(found.map((file) => relative(folder, file).split(sep).join("/")))].sort(byText);
}

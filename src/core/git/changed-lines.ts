import { realpath } from "node:fs/promises";
import { relative, resolve, sep } from "node:path";
import { parsePatch } from "diff";
import { fetchMissing } from "./base.ts";
import { GitError, type GitPlace, gitText } from "./process.ts";

/** Whether a line of a file, or any line, differs from the base. */
export type Touches = (file: string, line: number | undefined) => boolean;

/**
 * What the work tree changes of these files (relative to `cwd`, or absolute) since the commit or ref `base`, which is fetched if the
 * checkout does not have it. Undefined if git cannot compare them.
 */
export async function changedLines({ folder: cwd, env }: GitPlace, base: string, files: readonly string[]): Promise<Touches | undefined> {
  if (base.startsWith("-")) return undefined;
  if (files.length === 0) return () => false;
  await fetchMissing(cwd, base, env);
  try {
    const top = await realpath(await gitText({ folder: cwd, env }, ["rev-parse", "--show-toplevel"]));
    const pathOf = (file: string): string => relative(top, resolve(cwd, file)).split(sep).join("/");
    const paths = [...new Set(files.map(pathOf))].filter((path) => path !== "" && !path.startsWith(".."));
    // Attributes of the branch must not hide lines.
    const how = ["--unified=0", "--text", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--no-prefix"];
    const patch = await gitText({ folder: cwd, env }, ["--literal-pathspecs", "diff", ...how, base, "--", ...paths], { timeoutMs: 60_000 });
    const ranges = new Map(parsePatch(patch).map(({ newFileName, hunks }) => [newFileName, hunks]));
    return (file, line) => {
      const hunks = ranges.get(pathOf(file)) ?? [];
      return hunks.some(({ newStart, newLines }) => line === undefined || (line >= newStart && line < newStart + newLines));
    };
  } catch (error) {
    if (error instanceof GitError) return undefined;
    throw error;
  }
}

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Plan } from "../model/plan.ts";

const run = promisify(execFile);

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

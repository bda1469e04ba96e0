import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Plan } from "../model/plan.ts";

const run = promisify(execFile);

/** The commit that the folder is at, and whether anything in its repository differs from it; undefined outside a repository or without git. */
export async function gitState(folder: string): Promise<Plan["git"]> {
  try {
    const [{ stdout: commit }, { stdout: status }] = await Promise.all([
      run("git", ["-C", folder, "rev-parse", "HEAD"]),
      run("git", ["-C", folder, "status", "--porcelain", "--untracked-files=normal"], { maxBuffer: 64 * 1024 * 1024 }),
    ]);
    return { commit: commit.trim(), dirty: status.trim() !== "" };
  } catch {
    return undefined;
  }
}

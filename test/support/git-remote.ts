import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { gitEnv } from "./git-env.ts";

export const git = (folder: string, ...args: readonly string[]): string =>
  execFileSync("git", ["-C", folder, ...args], { encoding: "utf8", env: gitEnv, stdio: ["ignore", "pipe", "pipe"] }).trim();

export interface GitRemote {
  /** A bare repository with one commit on the branch main. */
  readonly bare: string;
  /** A clone in a folder of its own, as another machine would have it. `url`: instead of the path of the bare repository. */
  readonly clone: (url?: string) => string;
  /** The commit at the ref in the bare repository; undefined if there is none. */
  readonly tip: (ref: string) => string | undefined;
}

/** A remote repository that is removed with the test. */
export function gitRemote(objectFormat: "sha1" | "sha256" = "sha1"): GitRemote {
  const folder = mkdtempSync(join(tmpdir(), "dimsync-remote-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const bare = join(folder, "remote.git");
  const seed = join(folder, "seed");
  mkdirSync(seed);
  git(folder, "init", "--quiet", "--bare", "--initial-branch=main", `--object-format=${objectFormat}`, bare);
  git(folder, "init", "--quiet", "--initial-branch=main", `--object-format=${objectFormat}`, seed);
  git(seed, "commit", "--quiet", "--allow-empty", "-m", "first");
  git(seed, "push", "--quiet", bare, "main");
  let clones = 0;
  return {
    bare,
    clone(url = bare) {
      clones += 1;
      const checkout = join(folder, `clone-${clones}`);
      git(folder, "clone", "--quiet", bare, checkout);
      git(checkout, "remote", "set-url", "origin", url);
      return checkout;
    },
    tip(ref) {
      const found = git(bare, "for-each-ref", "--format=%(objectname)", ref);
      return found === "" ? undefined : found;
    },
  };
}

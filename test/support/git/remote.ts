import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { gitEnv } from "./env.ts";

// A commit would start a process that looks for work, and finds none.
const settings = ["-c", "maintenance.auto=false"];

export const git = (folder: string, ...args: readonly string[]): string =>
  execFileSync("git", [...settings, "-C", folder, ...args], {
    encoding: "utf8",
    env: gitEnv,
    stdio: ["ignore", "pipe", "pipe"],
    maxBuffer: 2 ** 28,
  }).trim();

/** Makes a repository of the folder, with all of its files in a commit on main, which is pushed to a new bare `remote`. Returns git in it. */
export function repositoryIn(folder: string, remote?: string): (...args: readonly string[]) => string {
  const inside = (...args: readonly string[]): string => git(folder, ...args);
  inside("init", "--quiet", "--initial-branch=main");
  commitAll(folder, "first");
  if (remote === undefined) return inside;
  inside("init", "--quiet", "--bare", "--initial-branch=main", remote);
  inside("remote", "add", "origin", remote);
  inside("push", "--quiet", "origin", "main");
  return inside;
}

/** Commits all changes in the folder, if there are any. */
export function commitAll(folder: string, message = "change"): void {
  git(folder, "add", "--all");
  git(folder, "commit", "--quiet", "--allow-empty", "--message", message);
}

export interface GitRemote {
  /** A bare repository with one commit on the branch main. */
  readonly bare: string;
  /**
   * A clone in a new folder, as on another machine. `url` replaces the path of the bare repository.
   */
  readonly clone: (url?: string) => string;
  /** The commit at the ref in the bare repository; undefined if there is none. */
  readonly tip: (ref: string) => string | undefined;
}

interface Template {
  readonly bare: string;
  readonly clone: string;
  /** The commit on main. */
  readonly commit: string;
}

type ObjectFormat = "sha1" | "sha256";

const templates = new Map<ObjectFormat, Template>();

/** A remote and its clone, created once per process and removed after all tests: copying them takes a tenth of the time. */
function template(objectFormat: ObjectFormat): Template {
  const made = templates.get(objectFormat);
  if (made !== undefined) return made;
  const folder = mkdtempSync(join(tmpdir(), "template-"));
  const [bare, clone] = [join(folder, "remote.git"), join(folder, "clone")];
  const format = ["--initial-branch=main", "--template=", `--object-format=${objectFormat}`];
  git(folder, "init", "--quiet", "--bare", ...format, bare);
  mkdirSync(join(bare, "hooks"));
  // Every client over HTTP may push. Without the rest, each push starts more processes and waits for the disk.
  for (const setting of ["http.receivepack true", "receive.autogc false", "gc.auto 0", "core.fsync none"])
    git(bare, "config", ...setting.split(" "));
  git(folder, "init", "--quiet", ...format, clone);
  git(clone, "commit", "--quiet", "--allow-empty", "-m", "first");
  git(clone, "remote", "add", "origin", bare);
  git(clone, "push", "--quiet", "--set-upstream", "origin", "main");
  const fresh = { bare, clone, commit: git(clone, "rev-parse", "main") };
  templates.set(objectFormat, fresh);
  return fresh;
}

/** A remote repository that is removed with the test. */
export function gitRemote(objectFormat: ObjectFormat = "sha1"): GitRemote {
  const from = template(objectFormat);
  const folder = mkdtempSync(join(tmpdir(), "dimsync-remote-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const bare = join(folder, "remote.git");
  cpSync(from.bare, bare, { recursive: true });
  let clones = 0;
  return {
    bare,
    clone(url = bare) {
      clones += 1;
      const checkout = join(folder, `clone-${clones}`);
      if (readFileSync(join(bare, "refs", "heads", "main"), "utf8").trim() !== from.commit) {
        git(folder, "clone", "--quiet", bare, checkout);
        git(checkout, "remote", "set-url", "origin", url);
        return checkout;
      }
      cpSync(from.clone, checkout, { recursive: true });
      const config = join(checkout, ".git", "config");
      writeFileSync(config, readFileSync(config, "utf8").replace(`url = ${from.bare}`, `url = ${url}`));
      return checkout;
    },
    tip(ref) {
      const found = git(bare, "for-each-ref", "--format=%(objectname)", ref);
      return found === "" ? undefined : found;
    },
  };
}

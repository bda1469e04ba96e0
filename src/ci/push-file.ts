import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);
const attempts = 3;

/** What became of a file that was to be committed and pushed. */
export type Pushed = { readonly outcome: "unchanged" | "pushed" } | { readonly outcome: "refused"; readonly reason: string };

/** Commits one file as it is, and nothing else, and pushes it to a branch; where the branch has moved on the commit is put on top of it. */
export async function pushFile(options: {
  /** Folder in the repository. */
  readonly folder: string;
  readonly file: string;
  /** Name or address of the remote. */
  readonly remote: string;
  /** Name without refs/heads/; undefined: the changed file is committed, and the push refused. */
  readonly branch: string | undefined;
  readonly message: string;
  readonly author: { readonly name: string; readonly email: string };
  readonly env: NodeJS.ProcessEnv;
}): Promise<Pushed> {
  const { folder, file, remote, branch, message, author } = options;
  const env = {
    ...options.env,
    GIT_TERMINAL_PROMPT: "0",
    GIT_AUTHOR_NAME: author.name,
    GIT_AUTHOR_EMAIL: author.email,
    GIT_COMMITTER_NAME: author.name,
    GIT_COMMITTER_EMAIL: author.email,
  };
  const git = async (...args: readonly string[]): Promise<string> => (await run("git", ["-C", folder, ...args], { env })).stdout;
  try {
    const status = (await git("status", "--porcelain", "--ignored", "--", file)).trim();
    if (status === "") return { outcome: "unchanged" };
    if (status.startsWith("!!")) return { outcome: "refused", reason: "A .gitignore keeps git from committing the file." };
    await git("add", "--", file);
    await git("commit", "--quiet", "--no-verify", "--message", message, "--", file);
  } catch (error) {
    return { outcome: "refused", reason: reasonOf(error) };
  }
  // Committed all the same: the plan of the next target needs a clean tree where that is protected.
  if (branch === undefined) return { outcome: "refused", reason: "There is no branch to push to." };
  let reason = "";
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    try {
      await git("push", "--quiet", remote, `HEAD:refs/heads/${branch}`);
      return { outcome: "pushed" };
    } catch (error) {
      reason = reasonOf(error);
    }
    try {
      // In full, since a tag may have the name of the branch.
      await git("fetch", "--quiet", remote, `refs/heads/${branch}`);
      await git("rebase", "--quiet", "--autostash", "FETCH_HEAD");
    } catch (error) {
      await git("rebase", "--abort").catch(() => "");
      return { outcome: "refused", reason: `${reason} ${reasonOf(error)}`.trim() };
    }
  }
  return { outcome: "refused", reason };
}

/** What git said, on one line; addresses in it may hold a token. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error && "stderr" in error && typeof error.stderr === "string" ? error.stderr : String(error);
  return text
    .replaceAll(/\/\/[^/@\s]*@/gu, "//")
    .replaceAll(/\s+/gu, " ")
    .trim()
    .slice(0, 400);
}

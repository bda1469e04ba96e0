import { gitText, wordsOf } from "../git/process.ts";
import { type Connection, findRemote } from "../git/remote.ts";
import { messageOf } from "../model/errors.ts";
import type { Environment } from "../model/settings/env.ts";

const attempts = 3;
const timeoutMs = 120_000;

export type Pushed = { readonly outcome: "unchanged" | "pushed" } | { readonly outcome: "refused"; readonly reason: string };

export interface FileToPush {
  /** In the repository. */
  readonly folder: string;
  readonly file: string;
  /** Name or URL of the remote. */
  readonly remote: string;
  /** Name without refs/heads/. Undefined: the file is committed, but not pushed. */
  readonly branch: string | undefined;
  readonly message: string;
  readonly author: { readonly name: string; readonly email: string };
  readonly env: Environment;
}

type Git = (args: readonly string[], connection?: Connection) => Promise<string>;

/**
 * Commits one file, without other changes of the work tree, and pushes it to a branch. If the
 * branch has newer commits, puts the commit on top of them.
 */
export async function pushFile(options: FileToPush): Promise<Pushed> {
  const { remote, branch } = options;
  const git = gitIn(options);
  const committed = await commitFile(git, options);
  if (committed !== undefined) return committed;
  // The file was committed anyway: the plan of the next target needs a clean tree if that target is
  // protected.
  if (branch === undefined) return { outcome: "refused", reason: "There is no branch to push to." };
  let reason = "";
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    try {
      const { toWrite } = await findRemote(options, remote);
      await git(["push", "--quiet", toWrite.argument, `HEAD:refs/heads/${branch}`], toWrite);
      return { outcome: "pushed" };
    } catch (error) {
      reason = reasonOf(error);
    }
    try {
      const { toRead } = await findRemote(options, remote);
      // The full name, because a tag may have the name of the branch.
      await git(["fetch", "--quiet", toRead.argument, `refs/heads/${branch}`], toRead);
      await git(["rebase", "--quiet", "--autostash", "FETCH_HEAD"]);
    } catch (error) {
      await git(["rebase", "--abort"]).catch(() => "");
      return { outcome: "refused", reason: `${reason} ${reasonOf(error)}`.trim() };
    }
  }
  return { outcome: "refused", reason };
}

function gitIn({ folder, author, env }: FileToPush): Git {
  const identity = {
    GIT_AUTHOR_NAME: author.name,
    GIT_AUTHOR_EMAIL: author.email,
    GIT_COMMITTER_NAME: author.name,
    GIT_COMMITTER_EMAIL: author.email,
  };
  return (args, connection) => gitText({ folder, env: { ...(connection?.env ?? env), ...identity } }, args, { timeoutMs });
}

/** Undefined if there is a commit to push. */
async function commitFile(git: Git, { file, message }: FileToPush): Promise<Pushed | undefined> {
  try {
    const status = (await git(["status", "--porcelain", "--ignored", "--", file])).trim();
    if (status === "") return { outcome: "unchanged" };
    if (status.startsWith("!!")) return { outcome: "refused", reason: "A .gitignore keeps git from committing the file." };
    await git(["add", "--", file]);
    await git(["commit", "--quiet", "--no-verify", "--message", message, "--", file]);
    return undefined;
  } catch (error) {
    return { outcome: "refused", reason: reasonOf(error) };
  }
}

/** What git printed, without credentials in URLs. */
const reasonOf = (error: unknown): string => wordsOf(messageOf(error));

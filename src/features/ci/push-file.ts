import type { CiEnvironment } from "../../core/forge/environment.ts";
import { wordsOf } from "../../core/git/process.ts";
import { findRemote } from "../../core/git/remote.ts";
import { messageOf } from "../../core/model/errors.ts";
import type { Settings } from "../../core/model/settings/config.ts";
import type { Environment } from "../../core/model/settings/env.ts";
import { type Checkout, type Git, gitIn } from "./checkout.ts";
import { pushCredentials } from "./push-credentials.ts";

const attempts = 3;

export type Pushed = { readonly outcome: "unchanged" | "pushed" } | { readonly outcome: "refused"; readonly reason: string };

interface FileToPush extends Checkout {
  readonly file: string;
  /** Name without refs/heads/. Undefined: the file is committed, but not pushed. */
  readonly branch: string | undefined;
  readonly message: string;
}

/** Commits the bindings file of a target and pushes it to the branch of the job; `isPushed` false: only commits it. */
export const pushBindings = (
  environment: CiEnvironment,
  { folder, bindingsFile: file, target }: Pick<Settings, "folder" | "bindingsFile" | "target">,
  { isPushed, env }: { readonly isPushed: boolean; readonly env: Environment },
): Promise<Pushed> =>
  pushFile({
    folder,
    file,
    remote: environment.pushUrl ?? "origin",
    branch: isPushed ? environment.branch : undefined,
    message: commitMessage(environment, target),
    author: commitAuthor(environment, env),
    env: pushCredentials(environment, env),
  });

/**
 * The author that git's variables name. Otherwise the account of GitHub Actions, or the GitLab user
 * who started the pipeline.
 */
export function commitAuthor(
  { provider }: Pick<CiEnvironment, "provider">,
  env: Environment,
): { readonly name: string; readonly email: string } {
  const { GIT_AUTHOR_NAME, GIT_AUTHOR_EMAIL, GITLAB_USER_NAME, GITLAB_USER_EMAIL } = env;
  const bot = { name: "github-actions[bot]", email: "41898282+github-actions[bot]@users.noreply.github.com" };
  const name = GIT_AUTHOR_NAME ?? (provider === "gitlab" ? GITLAB_USER_NAME : bot.name) ?? "dimsync";
  return { name, email: GIT_AUTHOR_EMAIL ?? (provider === "gitlab" ? GITLAB_USER_EMAIL : bot.email) ?? "dimsync@localhost" };
}

/**
 * A push with the token of a GitHub job starts no workflow. One with a GitLab project token would
 * start a pipeline with nothing to do.
 */
function commitMessage({ provider }: CiEnvironment, target: string): string {
  return `dimsync: record ids of ${target}${provider === "gitlab" ? "\n\n[skip ci]" : ""}`;
}

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
      await git(["push", "--quiet", toWrite.argument, `HEAD:refs/heads/${branch}`], { connection: toWrite });
      return { outcome: "pushed" };
    } catch (error) {
      reason = reasonOf(error);
    }
    try {
      const { toRead } = await findRemote(options, remote);
      // The full name, because a tag may have the name of the branch.
      await git(["fetch", "--quiet", toRead.argument, `refs/heads/${branch}`], { connection: toRead });
      await git(["rebase", "--quiet", "--autostash", "FETCH_HEAD"]);
    } catch (error) {
      await git(["rebase", "--abort"]).catch(() => "");
      return { outcome: "refused", reason: `${reason} ${reasonOf(error)}`.trim() };
    }
  }
  return { outcome: "refused", reason };
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

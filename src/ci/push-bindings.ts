import type { CiEnvironment } from "../forge/environment.ts";
import type { Environment } from "../model/settings/env.ts";
import { pushCredentials } from "./push-credentials.ts";
import { type Pushed, pushFile } from "./push-file.ts";

/** The bindings file after an apply. */
export interface BindingsToPush {
  /** Of the project, in the repository. */
  readonly folder: string;
  readonly file: string;
  readonly target: string;
}

/**
 * Commits the bindings file and pushes it to the branch of the job; `isPushed` false: only commits
 * it.
 */
export async function pushBindings(
  environment: CiEnvironment,
  { folder, file, target }: BindingsToPush,
  { isPushed, env }: { readonly isPushed: boolean; readonly env: Environment },
): Promise<Pushed> {
  return await pushFile({
    folder,
    file,
    remote: environment.pushUrl ?? "origin",
    branch: isPushed ? environment.branch : undefined,
    message: commitMessage(environment, target),
    author: commitAuthor(environment, env),
    env: pushCredentials(environment, env),
  });
}

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

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { dimsyncHere } from "../cli/built-cli.ts";
import { githubToken, startGithub } from "../features/ci/github-stand-in.ts";
import { startRepository } from "../features/ci/rehearsal-job.ts";
import { gitEnv } from "../support/git/env.ts";
import { git } from "../support/git/remote.ts";

type Files = Readonly<Record<string, string>>;

export interface JobEvent {
  /** Default: pull_request. */
  readonly name?: string;
  /** The branch that the pull request would be merged into. */
  readonly into?: string;
  readonly payload?: object;
  readonly env?: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
}

/** A repository on a stand-in of GitHub, in whose jobs `ci plan` has a key. */
export async function startReviewedRepository(key: string, files: Files) {
  const github = await startGithub();
  const repository = startRepository({ ".gitignore": ".dimsync/\n", ...files });
  const temp = join(repository.root, "temp");
  mkdirSync(temp);
  const eventFile = join(temp, "event.json");
  const job = async (argv: readonly string[], event: JobEvent & { readonly branch: string }, workspace: string) => {
    const { branch, name = "pull_request", into = "main", payload = {}, env = {} } = event;
    const isRequest = name === "pull_request";
    const pull = { number: 7, head: { repo: { full_name: "example/data" } }, base: { ref: into } };
    writeFileSync(
      eventFile,
      JSON.stringify({ repository: { default_branch: "main" }, ...(isRequest ? { pull_request: pull } : {}), ...payload }),
    );
    const { code, stdout, stderr } = await dimsyncHere(["ci", ...argv], {
      cwd: workspace,
      env: {
        ...gitEnv,
        ...{ CI: "true", GITHUB_ACTIONS: "true", GITHUB_ACTOR: "dana", GITHUB_API_URL: github.url, GITHUB_TOKEN: githubToken },
        ...{ GITHUB_EVENT_NAME: name, GITHUB_EVENT_PATH: eventFile, GITHUB_REPOSITORY: "example/data" },
        ...{ GITHUB_REF: isRequest ? "refs/pull/7/merge" : `refs/heads/${branch}`, ...(isRequest ? { GITHUB_BASE_REF: into } : {}) },
        ...{
          GITHUB_OUTPUT: join(temp, "output"),
          GITHUB_STEP_SUMMARY: join(temp, "summary"),
          GITHUB_WORKSPACE: workspace,
          RUNNER_TEMP: temp,
        },
        DIMSYNC_API_KEY: key,
        ...env,
      },
    });
    return { code, output: stdout + stderr };
  };
  /** Runs `dimsync ci plan` in a new checkout of the branch, or in `workspace`. */
  const plan = (branch: string, event: JobEvent = {}, workspace = repository.checkout(branch)) =>
    job(["plan", ...(event.flags ?? [])], { ...event, branch }, workspace);
  const apply = (workspace: string, env: JobEvent["env"] = {}, flags: readonly string[] = []) =>
    job(["apply", ...flags], { name: "push", branch: "main", env }, workspace);
  /** Merges the branch of pull request 7, and runs `dimsync ci apply`. */
  const mergeAndApply = (branch: string, env: JobEvent["env"] = {}, flags: readonly string[] = []) => {
    repository.merge(branch);
    if (branch !== "main") github.merged.set(git(repository.remote, "rev-parse", "main"), 7);
    return apply(repository.checkout("main"), env, flags);
  };
  return { ...repository, plan, apply, mergeAndApply, comment: () => (github.comments.get(7) ?? []).map(({ body }) => body).join("\n") };
}

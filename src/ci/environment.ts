import { readFileSync } from "node:fs";
import { isAbsolute, relative, sep } from "node:path";
import { isObject, own } from "../model/json.ts";

/** Where a job runs, as far as comments, issues and pushes need it. */
export interface CiEnvironment {
  readonly forge: "github" | "gitlab" | "none";
  /** "owner/name" on GitHub, the project's id on GitLab. */
  readonly repository: string;
  /** Of the forge's REST interface, without a slash at its end. */
  readonly apiUrl: string;
  readonly token: string | undefined;
  /** The pull or merge request's number. */
  readonly request: string | undefined;
  /** Whether the pull request comes from another repository: such a job has no secrets and may not write. */
  readonly isFork: boolean;
  /** Where a branch is pushed to with the token; undefined where the checkout's own remote takes it. */
  readonly pushUrl: string | undefined;
  /** The branch that was pushed to; undefined in a pull request and for a tag. */
  readonly branch: string | undefined;
  /** The page of this job's log. */
  readonly runUrl: string | undefined;
  /** From the repository's root to the working folder: "" or "deploy/eu". */
  readonly folder: string;
}

/** Reads what GitHub Actions and GitLab CI put into the environment. A file of the event that can't be read counts as no pull request. */
export function ciEnvironmentOf(env: NodeJS.ProcessEnv, cwd: string): CiEnvironment {
  if (env["GITHUB_ACTIONS"] === "true") return ofGithub(env, cwd);
  if (env["GITLAB_CI"] === "true") return ofGitlab(env, cwd);
  return {
    forge: "none",
    repository: "",
    apiUrl: "",
    token: undefined,
    request: undefined,
    isFork: false,
    pushUrl: undefined,
    branch: undefined,
    runUrl: undefined,
    folder: "",
  };
}

function ofGithub(env: NodeJS.ProcessEnv, cwd: string): CiEnvironment {
  const repository = env["GITHUB_REPOSITORY"] ?? "";
  const pull = member(eventOf(env["GITHUB_EVENT_PATH"]), "pull_request");
  const number = isObject(pull) ? own(pull, "number") : undefined;
  const head = member(member(member(pull, "head"), "repo"), "full_name");
  const { GITHUB_REF: ref = "", GITHUB_RUN_ID: run, GITHUB_SERVER_URL: server = "https://github.com" } = env;
  return {
    forge: "github",
    repository,
    apiUrl: (env["GITHUB_API_URL"] ?? "https://api.github.com").replace(/\/$/u, ""),
    token: filled(env["GITHUB_TOKEN"]),
    request: typeof number === "number" ? String(number) : undefined,
    // The head is null where the fork is gone.
    isFork: pull !== undefined && head !== repository,
    // actions/checkout has left the job's token in the configuration of the checkout.
    pushUrl: undefined,
    branch: pull === undefined && ref.startsWith("refs/heads/") ? ref.slice("refs/heads/".length) : undefined,
    runUrl: run === undefined ? undefined : `${server}/${repository}/actions/runs/${run}`,
    folder: folderIn(env["GITHUB_WORKSPACE"], cwd),
  };
}

function ofGitlab(env: NodeJS.ProcessEnv, cwd: string): CiEnvironment {
  const request = filled(env["CI_MERGE_REQUEST_IID"]);
  const [token, projectUrl] = [filled(env["GITLAB_TOKEN"]), filled(env["CI_PROJECT_URL"])];
  return {
    forge: "gitlab",
    repository: env["CI_PROJECT_ID"] ?? "",
    apiUrl: (env["CI_API_V4_URL"] ?? "").replace(/\/$/u, ""),
    token,
    request,
    isFork: request !== undefined && env["CI_MERGE_REQUEST_SOURCE_PROJECT_ID"] !== env["CI_MERGE_REQUEST_PROJECT_ID"],
    // The job's own token, which the remote of the checkout has, may only read in most projects.
    pushUrl: token === undefined || projectUrl === undefined ? undefined : `${projectUrl}.git`,
    branch: filled(env["CI_COMMIT_BRANCH"]),
    runUrl: filled(env["CI_JOB_URL"]),
    folder: folderIn(env["CI_PROJECT_DIR"], cwd),
  };
}

function eventOf(file: string | undefined): unknown {
  if (file === undefined || file === "") return undefined;
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

const member = (value: unknown, key: string): unknown => (isObject(value) ? own(value, key) : undefined);
const filled = (text: string | undefined): string | undefined => (text === "" ? undefined : text);

function folderIn(root: string | undefined, cwd: string): string {
  const inside = root === undefined ? "" : relative(root, cwd);
  return inside.startsWith("..") || isAbsolute(inside) ? "" : inside.split(sep).join("/");
}

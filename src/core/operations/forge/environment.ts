import { readFileSync } from "node:fs";
import { isAbsolute, relative, sep } from "node:path";
import { memberAt } from "../../base/model/json/json.ts";
import { type Environment, isPullRequestJob } from "../../base/model/settings/env.ts";

/** The CI job that dimsync runs in: what comments, issues and pushes need. */
export interface CiEnvironment {
  readonly provider: "github" | "gitlab" | "none";
  /** "owner/name" on GitHub, the project's id on GitLab. */
  readonly repository: string;
  /** Of the provider's REST interface, without a trailing slash. */
  readonly apiUrl: string;
  readonly token: string | undefined;
  /** Whether the job is for a pull or merge request. */
  readonly isPullRequest: boolean;
  /** The number of the pull or merge request; undefined if the job does not say it. */
  readonly pullRequest: string | undefined;
  /** The last commit of the pull request, which may not be what is checked out; undefined if the job does not say it. */
  readonly head: string | undefined;
  /** The branch that the pull request would be merged into; undefined without a pull request, and if the job does not say it. Its author chose it. */
  readonly targetBranch: string | undefined;
  /** The branch that apply watches: DIMSYNC_APPLIED_BRANCH, else the default branch as the forge reports it. Undefined if the job says neither. */
  readonly appliedBranch: string | undefined;
  /** Whether the job is for a push to the branch that apply watches: what is checked out was reviewed. */
  readonly isAppliedPush: boolean;
  /** The commit that the job is for, which an old job that runs again has not checked out; undefined if the job does not say it. */
  readonly commit: string | undefined;
  /** The commit of that branch before such a push; undefined if the job does not say it. */
  readonly before: string | undefined;
  /**
   * Whether the pull request is from a fork or from Dependabot: such a job has no secrets and must
   * not write.
   */
  readonly isRestricted: boolean;
  /**
   * The URL to push the records to with the token; undefined if the remote of the checkout accepts the
   * push.
   */
  readonly pushUrl: string | undefined;
  /** The page of the repository. */
  readonly projectUrl: string | undefined;
  /** The page of this job's log. */
  readonly runUrl: string | undefined;
  /** From the root of the repository to the working folder: "" or "deploy/eu". */
  readonly folder: string;
}

/** Reads the variables that GitHub Actions and GitLab CI set, and the file of the event, if it can be read. */
export function readCiEnvironment(env: Environment, cwd: string): CiEnvironment {
  if (env["GITHUB_ACTIONS"] === "true") return readGithub(env, cwd);
  if (env["GITLAB_CI"] === "true") return readGitlab(env, cwd);
  return {
    provider: "none",
    repository: "",
    apiUrl: "",
    token: undefined,
    isPullRequest: false,
    pullRequest: undefined,
    head: undefined,
    targetBranch: undefined,
    appliedBranch: filled(env["DIMSYNC_APPLIED_BRANCH"]),
    isAppliedPush: false,
    commit: undefined,
    before: undefined,
    isRestricted: false,
    pushUrl: undefined,
    projectUrl: undefined,
    runUrl: undefined,
    folder: "",
  };
}

function readGithub(env: Environment, cwd: string): CiEnvironment {
  const repository = env["GITHUB_REPOSITORY"] ?? "";
  const event = readEvent(env["GITHUB_EVENT_PATH"]);
  const pull = memberAt(event, "pull_request");
  const number = memberAt(pull, "number");
  const head = memberAt(pull, "head");
  const { GITHUB_RUN_ID: run, GITHUB_SERVER_URL: server = "https://github.com" } = env;
  // A container may get the file of the event without its name.
  const isPullRequest = isPullRequestJob(env) || pull !== undefined;
  const appliedBranch = filled(env["DIMSYNC_APPLIED_BRANCH"]) ?? text(memberAt(event, "repository", "default_branch"));
  return {
    provider: "github",
    repository,
    apiUrl: (env["GITHUB_API_URL"] ?? "https://api.github.com").replace(/\/$/u, ""),
    token: filled(env["GITHUB_TOKEN"]),
    pullRequest: typeof number === "number" ? String(number) : undefined,
    head: text(memberAt(head, "sha")),
    isPullRequest,
    targetBranch: isPullRequest ? (text(memberAt(pull, "base", "ref")) ?? filled(env["GITHUB_BASE_REF"])) : undefined,
    appliedBranch,
    isAppliedPush: env["GITHUB_EVENT_NAME"] === "push" && appliedBranch !== undefined && branchIn(env["GITHUB_REF"]) === appliedBranch,
    commit: commitIn(env["GITHUB_SHA"]),
    before: commitIn(text(memberAt(event, "before"))),
    // The head repository is null if the fork was deleted. Dependabot's jobs only get the secrets
    // of Dependabot.
    isRestricted: isPullRequest && (memberAt(head, "repo", "full_name") !== repository || env["GITHUB_ACTOR"] === "dependabot[bot]"),
    // actions/checkout has left the job's token in the configuration of the checkout.
    pushUrl: undefined,
    projectUrl: `${server}/${repository}`,
    runUrl: run === undefined ? undefined : `${server}/${repository}/actions/runs/${run}`,
    folder: folderIn(env["GITHUB_WORKSPACE"], cwd),
  };
}

function readGitlab(env: Environment, cwd: string): CiEnvironment {
  const isPullRequest = isPullRequestJob(env);
  const [token, projectUrl] = [filled(env["GITLAB_TOKEN"]), filled(env["CI_PROJECT_URL"])];
  const [branch, appliedBranch] = [
    filled(env["CI_COMMIT_BRANCH"]),
    filled(env["DIMSYNC_APPLIED_BRANCH"]) ?? filled(env["CI_DEFAULT_BRANCH"]),
  ];
  const isFork = env["CI_MERGE_REQUEST_SOURCE_PROJECT_ID"] !== env["CI_MERGE_REQUEST_PROJECT_ID"];
  return {
    provider: "gitlab",
    repository: env["CI_PROJECT_ID"] ?? "",
    apiUrl: (env["CI_API_V4_URL"] ?? "").replace(/\/$/u, ""),
    token,
    pullRequest: filled(env["CI_MERGE_REQUEST_IID"]),
    // A pipeline for merged results checks out another commit.
    head: isPullRequest ? (filled(env["CI_MERGE_REQUEST_SOURCE_BRANCH_SHA"]) ?? filled(env["CI_COMMIT_SHA"])) : undefined,
    isPullRequest,
    targetBranch: isPullRequest ? filled(env["CI_MERGE_REQUEST_TARGET_BRANCH_NAME"]) : undefined,
    appliedBranch,
    isAppliedPush: env["CI_PIPELINE_SOURCE"] === "push" && branch !== undefined && branch === appliedBranch,
    commit: commitIn(env["CI_COMMIT_SHA"]),
    before: commitIn(env["CI_COMMIT_BEFORE_SHA"]),
    isRestricted: isPullRequest && isFork,
    // The remote of the checkout has the job's own token, which may only read in most projects.
    pushUrl: token === undefined || projectUrl === undefined ? undefined : `${projectUrl}.git`,
    projectUrl,
    runUrl: filled(env["CI_JOB_URL"]),
    folder: folderIn(env["CI_PROJECT_DIR"], cwd),
  };
}

function readEvent(file: string | undefined): unknown {
  if (file === undefined || file === "") return undefined;
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

const filled = (value: string | undefined): string | undefined => (value === "" ? undefined : value);
const text = (value: unknown): string | undefined => (typeof value === "string" ? filled(value) : undefined);
/** Of a new branch, the forges say zeros. */
const commitIn = (text = ""): string | undefined => (/^(?!0+$)[0-9a-f]{40,64}$/u.test(text) ? text : undefined);
const branchIn = (ref = ""): string | undefined => /^refs\/heads\/(.+)$/su.exec(ref)?.[1];

function folderIn(root: string | undefined, cwd: string): string {
  const inside = root === undefined ? "" : relative(root, cwd);
  return inside.startsWith("..") || isAbsolute(inside) ? "" : inside.split(sep).join("/");
}

// A job of GitHub or GitLab is known by what its environment says.
import { describe, expect, test } from "vitest";
import { readCiEnvironment } from "../../../../src/core/operations/forge/environment.ts";
import { writeProject } from "../../../support/project-folder.ts";

/** The variables of a job on GitHub for an event with this content. */
function github(event: unknown, more: Readonly<Record<string, string>> = {}) {
  const folder = writeProject({ "event.json": JSON.stringify(event) });
  return {
    GITHUB_ACTIONS: "true",
    GITHUB_REPOSITORY: "example/data",
    GITHUB_REF: "refs/heads/main",
    GITHUB_EVENT_PATH: `${folder}/event.json`,
    GITHUB_WORKSPACE: "/repo",
    ...more,
  };
}
const pull = (repository: string | undefined) => ({
  pull_request: { number: 7, head: { repo: repository === undefined ? null : { full_name: repository } } },
});

describe("a job of GitHub", () => {
  test.each<[string, unknown, Readonly<Record<string, string>>, object]>([
    ["for a push", {}, {}, { pullRequest: undefined, isRestricted: false }],
    ["for a pull request", pull("example/data"), {}, { pullRequest: "7", isRestricted: false }],
    ["for a pull request of a fork", pull("other/data"), {}, { pullRequest: "7", isRestricted: true }],
    ["for a pull request of a deleted fork", pull(undefined), {}, { isRestricted: true }],
    ["for a pull request of Dependabot", pull("example/data"), { GITHUB_ACTOR: "dependabot[bot]" }, { isRestricted: true }],
    ["for a push of Dependabot", {}, { GITHUB_ACTOR: "dependabot[bot]" }, { isRestricted: false }],
    [
      "in a merge queue",
      { merge_group: { base_sha: "0" } },
      { GITHUB_REF: "refs/heads/gh-readonly-queue/main/pr-7-0" },
      { pullRequest: undefined, isRestricted: false },
    ],
  ])("%s", (_sentence, event, more, expected) => {
    expect(readCiEnvironment(github(event, more), "/repo/deploy/eu")).toMatchObject({
      provider: "github",
      repository: "example/data",
      folder: "deploy/eu",
      ...expected,
    });
  });

  test.each<[string, Readonly<Record<string, string>>, object]>([
    ["is one without a pull request", {}, { isPullRequest: false, targetBranch: undefined }],
    [
      "is one for a pull request if its name says so, of anybody",
      { GITHUB_EVENT_NAME: "pull_request", GITHUB_BASE_REF: "main" },
      { isPullRequest: true, isRestricted: true, targetBranch: "main" },
    ],
    ["does not say which branch apply watches", { GITHUB_EVENT_NAME: "push" }, { appliedBranch: undefined, isAppliedPush: false }],
    [
      "says it in a variable",
      { GITHUB_EVENT_NAME: "push", DIMSYNC_APPLIED_BRANCH: "main" },
      { appliedBranch: "main", isAppliedPush: true },
    ],
  ])("whose event cannot be read %s", (_sentence, more, expected) => {
    expect(readCiEnvironment({ ...github({}), GITHUB_EVENT_PATH: "/none", ...more }, "/repo")).toMatchObject({
      pullRequest: undefined,
      ...expected,
    });
  });

  const repository = { default_branch: "main" };
  test.each<[string, unknown, Readonly<Record<string, string>>, object]>([
    ["a push to the default branch", { repository }, { GITHUB_EVENT_NAME: "push" }, { appliedBranch: "main", isAppliedPush: true }],
    [
      "a push to another branch",
      { repository },
      { GITHUB_EVENT_NAME: "push", GITHUB_REF: "refs/heads/feature" },
      { appliedBranch: "main", isAppliedPush: false },
    ],
    ["a push of a tag of that name", { repository }, { GITHUB_EVENT_NAME: "push", GITHUB_REF: "refs/tags/main" }, { isAppliedPush: false }],
    ["a run by hand", { repository }, { GITHUB_EVENT_NAME: "workflow_dispatch" }, { appliedBranch: "main", isAppliedPush: false }],
    [
      "a comment on an issue",
      { repository, issue: { number: 7 } },
      { GITHUB_EVENT_NAME: "issue_comment" },
      { appliedBranch: "main", isAppliedPush: false },
    ],
    [
      "a pull request, whatever branch its author chose",
      { repository, pull_request: { number: 7, base: { ref: "mine", sha: "0".repeat(40) } } },
      { GITHUB_EVENT_NAME: "pull_request", GITHUB_BASE_REF: "mine" },
      { appliedBranch: "main", targetBranch: "mine", isAppliedPush: false },
    ],
    [
      "a project whose apply watches another branch",
      { repository },
      { GITHUB_EVENT_NAME: "push", GITHUB_REF: "refs/heads/release", DIMSYNC_APPLIED_BRANCH: "release" },
      { appliedBranch: "release", isAppliedPush: true },
    ],
  ])("knows the branch that apply watches: %s", (_sentence, event, more, expected) => {
    expect(readCiEnvironment(github(event, more), "/repo")).toMatchObject(expected);
  });
});

describe("a job of GitLab", () => {
  const environment = {
    GITLAB_CI: "true",
    CI_PROJECT_ID: "12",
    CI_API_V4_URL: "https://gitlab.example.com/api/v4/",
    CI_MERGE_REQUEST_IID: "3",
    CI_MERGE_REQUEST_PROJECT_ID: "12",
    CI_MERGE_REQUEST_SOURCE_PROJECT_ID: "12",
    CI_PROJECT_DIR: "/builds/data",
    CI_COMMIT_BRANCH: "",
  };

  test("for a merge request, and for that of a fork", () => {
    expect(readCiEnvironment(environment, "/builds/data/deploy/eu")).toMatchObject({
      provider: "gitlab",
      pullRequest: "3",
      isRestricted: false,
      apiUrl: "https://gitlab.example.com/api/v4",
      folder: "deploy/eu",
    });
    expect(readCiEnvironment(environment, "/x")).toMatchObject({ targetBranch: undefined, appliedBranch: undefined, isAppliedPush: false });
    const more = { CI_DEFAULT_BRANCH: "main", CI_MERGE_REQUEST_TARGET_BRANCH_NAME: "mine", CI_PIPELINE_SOURCE: "merge_request_event" };
    expect(readCiEnvironment({ ...environment, ...more }, "/x")).toMatchObject({
      targetBranch: "mine",
      appliedBranch: "main",
      isAppliedPush: false,
    });
    const push = { CI_MERGE_REQUEST_IID: "", CI_COMMIT_BRANCH: "main", CI_PIPELINE_SOURCE: "push" };
    expect(readCiEnvironment({ ...environment, ...more, ...push }, "/x").isAppliedPush).toBe(true);
    expect(readCiEnvironment({ ...environment, CI_MERGE_REQUEST_SOURCE_PROJECT_ID: "99" }, "/elsewhere")).toMatchObject({
      isRestricted: true,
      folder: "",
    });
  });

  test("pushes to the URL of the project if it has a token for that", () => {
    const projectUrl = { ...environment, CI_PROJECT_URL: "https://gitlab.example.com/group/data" };
    expect(readCiEnvironment({ ...projectUrl, GITLAB_TOKEN: "t" }, "/x").pushUrl).toBe("https://gitlab.example.com/group/data.git");
    expect(readCiEnvironment(projectUrl, "/x").pushUrl).toBeUndefined();
  });
});

test("outside CI there is no provider, and its token is not used", () => {
  expect(readCiEnvironment({ GITHUB_TOKEN: "x" }, "/x")).toMatchObject({ provider: "none", token: undefined, pullRequest: undefined });
});

import { expect, test } from "vitest";
import { putNote } from "../../src/ci/comments.ts";
import { ciEnvironmentOf } from "../../src/ci/environment.ts";
import { mergeRequestNotes, projectIssues } from "../../src/ci/gitlab.ts";
import { putDriftIssue } from "../../src/ci/issues.ts";
import { openRest } from "../../src/ci/rest.ts";
import { driftReport } from "../render/full-plan.ts";
import { plan } from "../render/plans.ts";
import { type GitlabIssue, type GitlabNote, gitlabToken, startGitlab } from "./gitlab-stand-in.ts";

const restOf = (baseUrl: string) => openRest({ name: "GitLab", baseUrl, headers: { "private-token": gitlabToken }, pauseMs: 1 });

test("the note on a merge request is created, updated, and no other user's is touched", async () => {
  const notes: GitlabNote[] = [{ id: 1, body: "<!-- m -->\nsomebody else's", author: { id: 6 } }];
  const rest = restOf(await startGitlab({ notes }));
  const put = (text: string) => putNote(mergeRequestNotes(rest, "12", "3"), { marker: "<!-- m -->", text, isEmpty: false });
  expect(await put("one")).toBe("created");
  expect(await put("two")).toBe("updated");
  expect(notes.map(({ body }) => body)).toEqual(["<!-- m -->\nsomebody else's", "<!-- m -->\ntwo"]);
});

test("one issue is opened, updated and closed", async () => {
  const issues: GitlabIssue[] = [];
  const rest = restOf(await startGitlab({ issues }));
  const put = (report: typeof driftReport) =>
    putDriftIssue(projectIssues(rest, "12", "dimsync-drift"), report, { marker: "<!-- m -->", footer: "Written by dimsync." });
  expect(await put(driftReport)).toBe("created");
  expect(await put({ ...driftReport, manual: [] })).toBe("updated");
  expect(await put(plan({ kind: "DriftReport" }))).toBe("closed");
  expect(issues).toMatchObject([
    { state: "closed", title: expect.stringContaining("Drift for prod"), notes: [expect.stringContaining("No drift")] },
  ]);
});

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

test("a job of GitLab knows its merge request, and a fork's", () => {
  expect(ciEnvironmentOf(environment, "/builds/data/deploy/eu")).toMatchObject({
    forge: "gitlab",
    request: "3",
    isFork: false,
    apiUrl: "https://gitlab.example.com/api/v4",
    folder: "deploy/eu",
    branch: undefined,
  });
  expect(ciEnvironmentOf({ ...environment, CI_MERGE_REQUEST_SOURCE_PROJECT_ID: "99" }, "/elsewhere")).toMatchObject({
    isFork: true,
    folder: "",
  });
});

test("a branch of GitLab is pushed to the project's address where there is a token for it", () => {
  const projectUrl = { ...environment, CI_PROJECT_URL: "https://gitlab.example.com/group/data" };
  expect(ciEnvironmentOf({ ...projectUrl, GITLAB_TOKEN: "t" }, "/x").pushUrl).toBe("https://gitlab.example.com/group/data.git");
  expect(ciEnvironmentOf(projectUrl, "/x").pushUrl).toBeUndefined();
});

test("outside of any CI nothing is written anywhere", () => {
  expect(ciEnvironmentOf({ GITHUB_TOKEN: "x" }, "/x")).toMatchObject({ forge: "none", token: undefined, request: undefined });
});

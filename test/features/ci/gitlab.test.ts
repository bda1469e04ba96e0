// Comments and issues of GitLab are created, updated and closed once.
import { expect, test } from "vitest";
import { openRest } from "../../../src/core/operations/forge/rest.ts";
import { upsertComment } from "../../../src/features/ci/comments.ts";
import { gitlabIssues, mergedMergeRequests, mergeRequestComments } from "../../../src/features/ci/gitlab.ts";
import { upsertDriftIssue } from "../../../src/features/ci/issues.ts";
import { driftReport } from "../../core/render/full-plan.ts";
import { plan } from "../../core/render/plans.ts";
import { clockWithoutWaiting } from "../../support/clock.ts";
import { withSteps } from "../../support/steps.ts";
import { type GitlabIssue, type GitlabNote, gitlabToken, startGitlab } from "./gitlab-stand-in.ts";

const restOf = (baseUrl: string) =>
  openRest({ name: "GitLab", baseUrl, headers: { "private-token": gitlabToken }, env: {}, clock: clockWithoutWaiting() });

test("the comment on a merge request is created and updated, and those of other users stay unchanged", async () => {
  const notes: GitlabNote[] = [{ id: 1, body: "<!-- m -->\nsomebody else's", author: { id: 6 } }];
  const rest = restOf(await startGitlab({ notes }));
  const put = (text: string) =>
    upsertComment(mergeRequestComments(rest, "12", "3"), { marker: "<!-- m -->", footer: "f" }, () => [{ target: "a", text }]);
  expect(await put("one")).toBe("created");
  expect(await put("two")).toBe("updated");
  expect(notes.map(({ body }) => body)).toEqual([
    "<!-- m -->\nsomebody else's",
    expect.stringMatching(/^<!-- m -->\n<!-- dimsync:target:a -->\ntwo\n/u),
  ]);
});

test("the merged merge requests of a commit are found", async () => {
  const rest = restOf(await startGitlab({}));
  expect(await mergedMergeRequests(rest, "12", "0a1b")).toEqual(["3"]);
});

test("one issue is opened, updated and closed", async () => {
  const issues: GitlabIssue[] = [];
  const rest = restOf(await startGitlab({ issues }));
  const put = (report: typeof driftReport) =>
    upsertDriftIssue(gitlabIssues(rest, "12", { label: "dimsync-drift", marker: "<!-- m -->" }), report, {
      marker: "<!-- m -->",
      footer: "Written by dimsync.",
    });
  expect(await put(driftReport)).toBe("created");
  expect(await put(withSteps(driftReport, { byHand: [] }))).toBe("updated");
  expect(await put(plan({ kind: "DriftReport" }))).toBe("closed");
  expect(issues).toMatchObject([
    { state: "closed", title: expect.stringMatching(/^prod: /u), notes: [expect.stringContaining("No drift")] },
  ]);
});

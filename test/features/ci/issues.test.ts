import { expect, test } from "vitest";
import { openRest } from "../../../src/core/forge/rest.ts";
import type { Plan } from "../../../src/core/model/plan.ts";
import { driftMarker } from "../../../src/features/ci/comments.ts";
import { githubIssues } from "../../../src/features/ci/github.ts";
import { upsertDriftIssue } from "../../../src/features/ci/issues.ts";
import { driftReport } from "../../core/render/full-plan.ts";
import { plan } from "../../core/render/plans.ts";
import { clockWithoutWaiting } from "../../support/clock.ts";
import { withSteps } from "../../support/steps.ts";
import { type GithubStandIn, githubToken, startGithub } from "./github-stand-in.ts";

const put = ({ url }: GithubStandIn, report: Plan, run = 1, folder = "") =>
  upsertDriftIssue(
    githubIssues(
      openRest({
        name: "GitHub",
        baseUrl: url,
        headers: { authorization: `Bearer ${githubToken}` },
        env: {},
        clock: clockWithoutWaiting(),
      }),
      "example/data",
      { label: "dimsync-drift", marker: driftMarker(folder, report.target) },
    ),
    report,
    {
      marker: driftMarker(folder, report.target),
      footer: `Written by dimsync in [this run](https://example.com/${run}).`,
      filePrefix: folder === "" ? "" : `${folder}/`,
    },
  );
const nothing = plan({ kind: "DriftReport" });

test("the issue of a target is opened, left unchanged, updated and closed", async () => {
  const github = await startGithub();
  expect(await put(github, nothing)).toBe("none");
  expect(await put(github, driftReport, 1)).toBe("created");
  expect(await put(github, driftReport, 2)).toBe("same");
  expect(await put(github, withSteps(driftReport, { byHand: [] }), 3)).toBe("updated");
  expect(await put(github, nothing, 4)).toBe("closed");
  expect(github.issues).toMatchObject([
    { state: "closed", title: expect.stringMatching(/^prod: /u), comments: [expect.stringContaining("No drift")] },
  ]);
  expect(await put(github, driftReport, 5)).toBe("created");
});

test("an incomplete report does not close the issue", async () => {
  const github = await startGithub();
  await put(github, driftReport);
  expect(await put(github, plan({ kind: "DriftReport", complete: false, exit: { code: 1, reasons: ["incomplete"] } }))).toBe("none");
  expect(github.issues[0]?.state).toBe("open");
});

test("each target has its own issue, also if the list has several pages", async () => {
  const github = await startGithub();
  for (const target of ["a", "b", "c", "d"]) await put(github, { ...driftReport, target });
  expect(await put(github, { ...nothing, target: "d" })).toBe("closed");
  expect(github.issues.map(({ state }) => state)).toEqual(["open", "open", "open", "closed"]);
});

test("projects in two folders have an issue each, which names the folder in its title, files and commands", async () => {
  const github = await startGithub();
  for (const folder of ["deploy/eu", "deploy/us"]) await put(github, driftReport, 1, folder);
  expect(github.issues.map(({ title }) => title.replace(/:.*/su, ""))).toEqual(["deploy/eu, prod", "deploy/us, prod"]);
  for (const [index, folder] of ["deploy/eu", "deploy/us"].entries()) {
    const { body = "" } = github.issues[index] ?? {};
    expect(body).toContain(`\n## \`${folder}, prod\`: `);
    const commands = body.match(/`dimsync [^`]*/gu) ?? [];
    expect([commands.length > 0, commands.filter((one) => !one.includes(`-C ${folder}`))]).toEqual([true, []]);
    expect(body).toContain(`| pii-email, ${folder}/manifests/pii.yaml:9: `);
    expect(body).toContain(`(\`${folder}/policies/pii.yaml:4\`)`);
  }
});

test("an issue of another user with our marker stays as it is", async () => {
  const github = await startGithub();
  await put(github, driftReport);
  github.login = "robot";
  expect(await put(github, driftReport, 2)).toBe("created");
  expect(await put(github, nothing, 3)).toBe("closed");
  expect(github.issues.map(({ state }) => state)).toEqual(["open", "closed"]);
});

test("a policy that the account violates opens an issue, too", async () => {
  const github = await startGithub();
  expect(await put(github, { ...nothing, policy: driftReport.policy, exit: { code: 3, reasons: ["policy"] } })).toBe("created");
  expect(github.issues[0]?.title).toBe("prod: 2 policy findings");
});

test.each([502, "reset-after"] as const)("an issue is opened once although the response was %s", async (status) => {
  const github = await startGithub();
  github.refuse = { matches: /^POST/u, status, times: 1 };
  expect(await put(github, driftReport)).toBe("created");
  expect(github.issues).toHaveLength(1);
});

// Drift has one issue for each target, updated in place and closed.
import { expect, test } from "vitest";
import { defined } from "../../../src/core/base/model/json/json.ts";
import type { Attribution, Plan } from "../../../src/core/base/model/plan.ts";
import { readCiEnvironment } from "../../../src/core/operations/forge/environment.ts";
import { openRest } from "../../../src/core/operations/forge/rest.ts";
import { ciFiles } from "../../../src/core/operations/forge/workflows.ts";
import type { DriftLinks } from "../../../src/core/render/document.ts";
import { driftMarker } from "../../../src/features/ci/comments.ts";
import { githubIssues } from "../../../src/features/ci/github.ts";
import { driftLinks, upsertDriftIssue } from "../../../src/features/ci/issues.ts";
import { driftReport } from "../../core/render/full-plan.ts";
import { change, item, plan } from "../../core/render/plans.ts";
import { clockWithoutWaiting } from "../../support/clock.ts";
import { withSteps } from "../../support/steps.ts";
import { visibleWords } from "../../support/visible-words.ts";
import { type GithubStandIn, githubToken, startGithub } from "./github-stand-in.ts";

const put = ({ url }: GithubStandIn, report: Plan, run = 1, folder = "", links?: DriftLinks) =>
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
      ...defined({ links }),
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

test("an incomplete report opens an issue, which the next whole one closes", async () => {
  const github = await startGithub();
  const incomplete = plan({ kind: "DriftReport", complete: false, exit: { code: 1, reasons: ["incomplete"] } });
  expect(await put(github, incomplete)).toBe("created");
  expect(github.issues[0]?.title).toBe("prod: not compared completely");
  expect(await put(github, nothing)).toBe("closed");
});

test("what was merged and not applied yet is not called drift", async () => {
  const github = await startGithub();
  const [first] = typical.steps;
  const merged = {
    ...typical,
    steps: first === undefined ? [] : [{ ...first, changes: first.changes.map((one) => ({ ...one, origin: "config" as const })) }],
  };
  const env = { GITHUB_ACTIONS: "true", GITHUB_REPOSITORY: "example/data" };
  await put(github, merged, 1, "", driftLinks({ environment: readCiEnvironment(env, "/"), env }, "prod", ["prod"]));
  const { body = "" } = github.issues[0] ?? {};
  expect(body).toContain(
    "1 change of the manifests is merged and not applied yet. To apply now, [run the workflow dimsync apply by hand](",
  );
  expect(body).not.toMatch(/undoes every change|--resolve/u);
});

test("each target has its own issue, also if the list has several pages", async () => {
  const github = await startGithub();
  for (const target of ["a", "b", "c", "d"]) await put(github, { ...driftReport, target });
  expect(await put(github, { ...nothing, target: "d" })).toBe("closed");
  expect(github.issues.map(({ state }) => state)).toEqual(["open", "open", "open", "closed"]);
});

const dana: Attribution = {
  actor: "dana@example.com",
  at: "2026-03-03T06:37:12Z",
  event: "email un-hashed",
  confidence: "exact",
  own: false,
};
/** One column is exposed, and somebody changed another one. */
const typical = plan({
  kind: "DriftReport",
  items: [
    item({
      address: "Schemas/shop-it",
      changes: [
        change({
          path: "/schemas/public/tables/customers/columns/email/hashed",
          cause: { rule: "email", file: "manifests/shops.yaml", line: 9, reason: "addresses identify people" },
          origin: "drift",
          attribution: dana,
        }),
      ],
    }),
    item({
      id: "s2",
      address: "Schemas/shop-de",
      changes: [
        change({
          path: "/schemas/public/tables/orders/columns/total/enabled",
          cause: { rule: "all", file: "manifests/shops.yaml", line: 12 },
          risk: "neutral",
          origin: "drift",
          attribution: { ...dana, event: "total switched off" },
        }),
      ],
    }),
  ],
  exit: { code: 2, reasons: ["drift"] },
});

test("the issue names the column, and offers the job that reverts, a command for each object and the pull request that accepts", async () => {
  const github = await startGithub();
  const env = {
    GITHUB_ACTIONS: "true",
    GITHUB_REPOSITORY: "example/data",
    GITHUB_WORKFLOW_REF: "example/data/.github/workflows/dimsync-drift.yml@refs/heads/main",
  };
  await put(github, typical, 1, "", driftLinks({ environment: readCiEnvironment(env, "/"), env }, "prod", ["dev", "prod"]));
  const [{ title, body } = { title: "", body: "" }] = github.issues;
  expect(title).toBe("prod: shop-it customers.email readable since 2026-03-03 06:37 UTC (dana@example.com); 1 other difference");
  expect(body).toContain("[run the workflow dimsync apply by hand](https://github.com/example/data/actions/workflows/dimsync-apply.yml)");
  for (const address of ["Schemas/shop-it", "Schemas/shop-de"])
    expect(body).toContain(`\`dimsync drift --resolve accept --only ${address}\``);
  expect(body).toContain("(https://github.com/example/data/pulls?q=is%3Aopen+head%3Adimsync%2Fdrift-prod)");
  expect(visibleWords(body)).toBeLessThanOrEqual(120);
});

test.each([
  [
    { GITHUB_ACTIONS: "true", GITHUB_REPOSITORY: "o/r" },
    "https://github.com/o/r/actions/workflows/dimsync-apply-deploy-eu.yml",
    "drift-deploy-eu-b-c-1",
  ],
  [{ GITLAB_CI: "true", CI_PROJECT_URL: "https://gitlab.com/o/r" }, "https://gitlab.com/o/r/-/pipelines", "drift-deploy-eu-b-c-1"],
  [
    { GITLAB_CI: "true", CI_PROJECT_URL: "https://gitlab.com/o/r", CI_PIPELINE_URL: "https://gitlab.com/o/r/-/pipelines/7" },
    "https://gitlab.com/o/r/-/pipelines/7",
    "drift-deploy-eu-b-c-1",
  ],
])("with %j apply is run by hand at %s, and the names are those that init writes", (env, apply, branch) => {
  const links = driftLinks({ environment: { ...readCiEnvironment(env, "/"), folder: "deploy/eu" }, env }, "b-c", ["b c", "b-c"]);
  expect(links?.apply.href).toBe(apply);
  expect(links?.accept.href).toContain(branch);
  const project = {
    targets: ["b c", "b-c"].map((name) => ({ name, key: "DIMSYNC_API_KEY" })),
    hosts: [],
    branch: "main",
    folder: "deploy/eu",
  };
  const ci = "GITLAB_CI" in env ? "gitlab" : "github";
  expect(Object.values(ciFiles(ci, project)).join("")).toContain(`dimsync/${branch}`);
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
  expect(await put(github, { ...nothing, findings: driftReport.findings, exit: { code: 3, reasons: ["policy"] } })).toBe("created");
  expect(github.issues[0]?.title).toBe("prod: 2 policy findings");
});

test.each([502, "reset-after"] as const)("an issue is opened once although the response was %s", async (status) => {
  const github = await startGithub();
  github.refuse = { matches: /^POST/u, status, times: 1 };
  expect(await put(github, driftReport)).toBe("created");
  expect(github.issues).toHaveLength(1);
});

// A job on main applies, undoes drift, and comments on what it merged.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startEmbeddedService } from "../../../src/embedded/index.ts";
import { artifactSuffix } from "../../../src/features/ci/job.ts";
import { runCommand } from "../../support/command.ts";
import { gitEnv } from "../../support/git/env.ts";
import { git } from "../../support/git/remote.ts";
import { ordersManifest } from "../../support/orders.ts";
import { writeProject } from "../../support/project-folder.ts";
import { type GithubStandIn, githubToken, startGithub } from "./github-stand-in.ts";

test.each([
  ["", ["prod"], "prod"],
  ["deploy/eu", ["a", "b"], "deploy-eu-a-b"],
  ["", ["p/r:o*d"], "p-r-o-d"],
])("the artifacts of folder %j and targets %j end with %s", (folder, targets, suffix) => {
  expect(artifactSuffix(folder, targets)).toBe(suffix);
});

/** A project whose pushes to main are applied. `push`: the exit code of the job. */
async function appliedProject(github?: GithubStandIn) {
  const service = await startEmbeddedService({ apiKeys: { key: "bot@example.com" } });
  onTestFinished(() => service.close());
  const target = `{ baseUrl: "${service.url}", apiKey: { $secret: { env: DIMSYNC_API_KEY } } }`;
  const folder = writeProject({
    "dimsync.yaml": `apiVersion: dimsync/v1\nkind: Config\nmanifests: [manifests]\ntargets: { prod: ${target} }\n`,
    "manifests/orders.yaml": ordersManifest("email: { hashed: true }"),
    ".gitignore": ".dimsync/\ndimsync.bindings.yaml\n",
  });
  const commit = (message: string): string => {
    git(folder, "add", "--all");
    git(folder, "commit", "--quiet", "--allow-empty", "--message", message);
    return git(folder, "rev-parse", "HEAD");
  };
  const apply = async (before?: string) => {
    const event = join(writeProject({ "event.json": JSON.stringify({ before, repository: { default_branch: "main" } }) }), "event.json");
    const job = { GITHUB_ACTIONS: "true", GITHUB_EVENT_NAME: "push", GITHUB_REPOSITORY: "example/data", GITHUB_REF: "refs/heads/main" };
    const forge = github === undefined ? {} : { GITHUB_API_URL: github.url, GITHUB_TOKEN: githubToken };
    return await runCommand(["ci", "apply"], folder, { ...gitEnv, ...job, ...forge, GITHUB_EVENT_PATH: event, DIMSYNC_API_KEY: "key" });
  };
  git(folder, "init", "--quiet", "--initial-branch=main");
  const email = () => service.state().integrations[0]?.schemas["public"]?.tables["customers"]?.columns["email"];
  return { service, folder, commit, apply, email };
}

test("a push that changes no file of the project undoes drift, too", async () => {
  const { service, folder, commit, apply, email } = await appliedProject();
  const push = async (message: string): Promise<void> => {
    commit(message);
    const { code, stdout, stderr } = await apply();
    expect(code, stdout + stderr).toBe(0);
  };
  await push("one");
  service.mutate(({ integrations: [orders] }) => {
    const column = orders?.schemas["public"]?.tables["customers"]?.columns["email"];
    if (column !== undefined) column.hashed = false;
  });
  writeFileSync(join(folder, "README.md"), "new\n");
  await push("two");
  expect(email()?.hashed).toBe(true);
});

test("the result is on each pull request that the push merged, and says why there is none", async () => {
  const github = await startGithub();
  const { service, folder, commit, apply, email } = await appliedProject(github);
  const before = commit("start");
  github.merged.set(commit("one"), 7).set(commit("two"), 8).set(before, 6);
  const { code, stderr } = await apply(before);
  expect([code, email()?.hashed], stderr).toEqual([0, true]);
  const bodyOf = (number: number) => github.comments.get(number)?.map(({ body }) => body);
  expect([...github.comments.keys()].sort()).toEqual([7, 8]);
  for (const number of [7, 8]) expect(bodyOf(number)).toEqual([expect.stringContaining("\n## Apply on `prod`: 2 done\n")]);
  // Applying again changes nothing, which needs no comment of its own, and replaces the one that is there.
  const last = commit("three");
  github.merged.set(last, 9);
  expect((await apply(last)).code).toBe(0);
  expect(bodyOf(9)).toBeUndefined();
  // A run without a result says why.
  service.mutate(({ integrations: [orders] }) => {
    const column = orders?.schemas["public"]?.tables["customers"]?.columns["email"];
    if (column !== undefined) column.hashed = false;
  });
  await runCommand(["records", "lock", "--reason", "maintenance"], folder, gitEnv);
  expect((await apply(before)).code).toBe(6);
  expect(bodyOf(8)).toEqual([expect.stringMatching(/## No result for `prod`\n\n`E_LOCKED`: .*maintenance/u)]);
});

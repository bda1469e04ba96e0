// A job on main applies, undoes drift, and comments on what it merged.
import { readFileSync, writeFileSync } from "node:fs";
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
  const apply = async (before?: string, sha?: string) => {
    const event = join(writeProject({ "event.json": JSON.stringify({ before, repository: { default_branch: "main" } }) }), "event.json");
    const job = { GITHUB_ACTIONS: "true", GITHUB_EVENT_NAME: "push", GITHUB_REPOSITORY: "example/data", GITHUB_REF: "refs/heads/main" };
    const forge = github === undefined ? {} : { GITHUB_API_URL: github.url, GITHUB_TOKEN: githubToken };
    return await runCommand(["ci", "apply"], folder, {
      ...gitEnv,
      ...job,
      ...forge,
      GITHUB_EVENT_PATH: event,
      DIMSYNC_API_KEY: "key",
      ...(sha === undefined ? {} : { GITHUB_SHA: sha }),
    });
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

test("the result is on each pull request that the push merged", async () => {
  const github = await startGithub();
  const { commit, apply, email } = await appliedProject(github);
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
});

/** The project, applied once, with `push`: commits columns to hash, and says the commits before and after. */
async function mergedProject() {
  const github = await startGithub();
  const project = await appliedProject(github);
  project.commit("start");
  expect((await project.apply()).code).toBe(0);
  const push = (request: number, column: string) => {
    writeFileSync(join(project.folder, `manifests/${column}.yaml`), hashes(column, request));
    const before = git(project.folder, "rev-parse", "HEAD");
    const commit = project.commit(`Hash ${column} (#${request})`);
    github.merged.set(commit, request);
    return { before, commit };
  };
  const bodyOf = (request: number) => github.comments.get(request)?.map(({ body }) => body)[0] ?? "";
  return { ...project, github, push, bodyOf };
}

const hashes = (column: string, priority: number): string =>
  `apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: ${column.replaceAll("_", "-")} }
spec: { integration: orders, priority: ${priority}, schemas: { public: { tables: { customers: { columns: { ${column}: { hashed: true } } } } } } }
`;

test("a squash merge has its result on its pull request, with the columns that changed, and again only if the next run does more", async () => {
  const { push, apply, bodyOf, github } = await mergedProject();
  const { before, commit } = push(7, "phone");
  expect((await apply(before, commit)).code).toBe(0);
  expect(bodyOf(7)).toContain("\n## Apply on `prod`: 1 done\n");
  expect(bodyOf(7)).toMatch(
    /<details><summary>prod: 1 change, which protects<\/summary>[\s\S]*`customers\.phone`[\s\S]*Commit [0-9a-f]{7}\./u,
  );
  expect(bodyOf(7)).not.toContain("together");
  const written = bodyOf(7);
  github.calls.length = 0;
  expect((await apply(before, commit)).code, "the job runs again").toBe(0);
  expect([bodyOf(7), github.calls.filter((call) => /^P/u.test(call) && !call.includes("graphql"))]).toEqual([written, []]);
});

test("two merges in one push are named in the result on both", async () => {
  const { push, apply, bodyOf } = await mergedProject();
  const { before } = push(7, "phone");
  const { commit } = push(8, "city");
  expect((await apply(before, commit)).code).toBe(0);
  for (const number of [7, 8]) expect(bodyOf(number)).toMatch(/## Apply on `prod`: 1 done[\s\S]*This run applied #8 and #7 together\./u);
});

test("a pull request whose job failed or was replaced by a newer one gets the result of that one", async () => {
  const { folder, push, apply, bodyOf } = await mergedProject();
  const first = push(7, "phone");
  await runCommand(["records", "lock", "--reason", "maintenance"], folder, gitEnv);
  expect((await apply(first.before, first.commit)).code).toBe(6);
  expect(bodyOf(7)).toMatch(/## No result for `prod`\n\n`E_LOCKED`: .*maintenance/u);
  await runCommand(["records", "unlock"], folder, gitEnv);
  const second = push(8, "city");
  expect((await apply(second.before, second.commit)).code).toBe(0);
  for (const number of [7, 8]) expect(bodyOf(number)).toContain("## Apply on `prod`: 1 done");
});

test("an old job that runs again leaves the results of later merges as they are", async () => {
  const { service, push, apply, bodyOf, email } = await mergedProject();
  const first = push(7, "phone");
  await apply(first.before, first.commit);
  const second = push(8, "city");
  await apply(second.before, second.commit);
  const written = [bodyOf(7), bodyOf(8)];
  expect((await apply(first.before, first.commit)).code).toBe(0);
  expect([bodyOf(7), bodyOf(8)]).toEqual(written);
  service.mutate(({ integrations: [orders] }) => {
    const column = orders?.schemas["public"]?.tables["customers"]?.columns["email"];
    if (column !== undefined) column.hashed = false;
  });
  expect((await apply(first.before, first.commit)).code).toBe(0);
  expect([email()?.hashed, bodyOf(7), bodyOf(8)], "also if it undoes drift").toEqual([true, ...written]);
});

test("a run without the key says on the pull request that nothing was sent", async () => {
  const { folder, push, bodyOf, github } = await mergedProject();
  const { before, commit } = push(7, "phone");
  const event = join(writeProject({ "event.json": JSON.stringify({ before, repository: { default_branch: "main" } }) }), "event.json");
  const job = { GITHUB_ACTIONS: "true", GITHUB_EVENT_NAME: "push", GITHUB_REPOSITORY: "example/data", GITHUB_REF: "refs/heads/main" };
  const forge = { GITHUB_API_URL: github.url, GITHUB_TOKEN: githubToken, GITHUB_EVENT_PATH: event, GITHUB_SHA: commit };
  expect((await runCommand(["ci", "apply"], folder, { ...gitEnv, ...job, ...forge, DIMSYNC_API_KEY: "" })).code).toBe(1);
  expect(bodyOf(7)).toMatch(
    /## Nothing was sent to `prod`\n\n`E_SECRET_MISSING[^\n]*Create the secret that the workflow passes as DIMSYNC&#95;API&#95;KEY/u,
  );
});

test("a plan of a pull request tells what was merged and not applied yet from what someone changed, and strict review does not refuse it", async () => {
  const { folder, push, commit, service } = await mergedProject();
  writeFileSync(
    join(folder, "dimsync.yaml"),
    readFileSync(join(folder, "dimsync.yaml"), "utf8").replace("targets:", "review: strict\ntargets:"),
  );
  const origin = join(writeProject({}), "origin.git");
  git(folder, "init", "--quiet", "--bare", origin);
  git(folder, "remote", "add", "origin", origin);
  push(7, "phone");
  git(folder, "push", "--quiet", "origin", "main");
  git(folder, "switch", "--quiet", "--create", "feature");
  writeFileSync(join(folder, "manifests/city.yaml"), hashes("city", 8));
  commit("Hash city");
  const event = { pull_request: { number: 8, head: { repo: { full_name: "example/data" } }, base: { ref: "main" } } };
  const place = writeProject({ "event.json": JSON.stringify({ ...event, repository: { default_branch: "main" } }) });
  const env = {
    ...gitEnv,
    GITHUB_ACTIONS: "true",
    GITHUB_EVENT_NAME: "pull_request",
    GITHUB_REPOSITORY: "example/data",
    GITHUB_EVENT_PATH: join(place, "event.json"),
    DIMSYNC_API_KEY: "key",
  };
  const group = join(
    writeProject({ "event.json": JSON.stringify({ merge_group: {}, repository: { default_branch: "main" } }) }),
    "event.json",
  );
  const plan = () => runCommand(["ci", "plan", "-o", "human"], folder, env);
  const queued = await runCommand(["ci", "plan", "-o", "human"], folder, {
    ...env,
    GITHUB_EVENT_NAME: "merge_group",
    GITHUB_EVENT_PATH: group,
  });
  expect([queued.code, queued.stdout], queued.stderr).toEqual([
    0,
    expect.stringContaining("prod: 1 change from this merge group, which protects;"),
  ]);
  const merged = await plan();
  expect([merged.code, merged.stdout], merged.stderr).toEqual([
    0,
    expect.stringMatching(
      /^prod: 1 change from this pull request, which protects; 1 change is not from this pull request\.[\s\S]*phone .*not from this pull request/u,
    ),
  ]);
  service.mutate(
    ({ integrations: [orders] }) => {
      const column = orders?.schemas["public"]?.tables["customers"]?.columns["email"];
      if (column !== undefined) column.hashed = false;
    },
    { email: "dana@example.com" },
    'Schema configuration of integration 8f1c "Orders" changed',
  );
  expect(await plan()).toMatchObject({
    code: 3,
    stdout: expect.stringMatching(/1 outside change is undone; 1 change is not from this pull request/u),
  });
});

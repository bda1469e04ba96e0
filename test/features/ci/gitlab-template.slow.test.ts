// gitlab-ci-local checks the template against GitLab's JSON Schema, evaluates its rules, and runs its
// scripts as GitLab's runner does.
import { execFile } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { type CiTarget, ciFiles } from "../../../src/core/operations/forge/workflows.ts";
import { startEmbeddedService } from "../../../src/embedded/index.ts";
import { programsOfBranch } from "../../security/hostile.ts";
import { git } from "../../support/git/remote.ts";
import { ordersManifest } from "../../support/orders.ts";
import { fileNeeds } from "../../support/programs.ts";
import { writeProject } from "../../support/project-folder.ts";
import { sampleOf } from "../../support/sample.ts";
import { type GitlabIssue, type GitlabNote, gitlabToken, startGitlab } from "./gitlab-stand-in.ts";
import { installedOnce, packedPackage, startRepository } from "./rehearsal-job.ts";

fileNeeds("bash");

let [packageFile, npm] = ["", ""];
beforeAll(async () => {
  [packageFile, npm] = [await packedPackage(), await installedOnce()];
});

/** The jobs that init writes for the targets, which have a key of the environment or keys of their own. */
const templateFor = (targets: readonly CiTarget[], isOrdered = false): string =>
  ciFiles("gitlab", { targets, isOrdered, hosts: ["api.example.com"], branch: "main", folder: "" })["dimsync.gitlab-ci.yml"] ?? "";
const template = templateFor([{ name: "prod", key: "DIMSYNC_API_KEY" }]);
// gitlab-ci-local needs a method that the oldest supported Node lacks.
const setUnion = "data:text/javascript,Set.prototype.union||=function(other){return new Set([...this,...other])}";
// It runs for less than a second: optimizing its code would take a fifth of the processor time.
const runner = ["--no-opt", "--import", setUnion, resolve("node_modules/gitlab-ci-local/dist/index.js")];

/** Runs a job, with the `npm` in the variable PATH if there is one, or lists all jobs if none is named. */
function gitlab(cwd: string, { PATH = process.env["PATH"], ...variables }: Readonly<Record<string, string>>, ...job: readonly string[]) {
  const given = Object.entries(variables).flatMap(([name, value]) => ["--variable", `${name}=${value}`]);
  const how = ["--force-shell-executor", "--no-shell-isolation", "--ignore-predefined-vars", Object.keys(variables).join(",")];
  // It copies files for jobs in containers with rsync, which is not needed here.
  const bin = writeProject({});
  writeFileSync(join(bin, "rsync"), "#!/bin/sh\n", { mode: 0o755 });
  const env = {
    PATH: `${bin}:${PATH}`,
    HOME: bin,
    TMPDIR: bin,
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_SYSTEM: "/dev/null",
    NO_COLOR: "1",
  };
  return new Promise<{ readonly code: number; readonly stdout: string; readonly log: string }>((done) => {
    execFile(process.execPath, [...runner, ...job, ...how, ...given], { cwd, env }, (error, stdout, stderr) =>
      done({ code: error === null ? 0 : Number(error.code), stdout, log: stdout + stderr }),
    );
  });
}

const files = (baseUrl: string): Readonly<Record<string, string>> => ({
  ".gitlab-ci.yml": "include: { local: dimsync.gitlab-ci.yml }\n",
  "dimsync.gitlab-ci.yml": template,
  ".gitignore": ".dimsync/\n.gitlab-ci-local/\n",
  "dimsync.yaml": `apiVersion: dimsync/v1\nkind: Config\nmanifests: [manifests]\ntargets: { prod: { baseUrl: "${baseUrl}" } }\n`,
  "manifests/orders.yaml": ordersManifest("email: { hashed: true }"),
});

test("a merge request, the merge, the night after, and an apply by hand", async () => {
  const service = await startEmbeddedService({ apiKeys: { reading: "reader@example.com", writing: "bot@example.com" } });
  try {
    const [notes, issues]: [GitlabNote[], GitlabIssue[]] = [[], []];
    const repository = startRepository(files(service.url));
    git(repository.remote, "config", "receive.advertisePushOptions", "true");
    await repository.createRecords();
    const checkout = repository.checkout("main");
    const common = {
      PATH: `${npm}:${process.env["PATH"]}`,
      GITLAB_CI: "true",
      CI_API_V4_URL: await startGitlab({ notes, issues }),
      CI_PROJECT_ID: "12",
      CI_PROJECT_URL: `file://${repository.remote.replace(/\.git$/u, "")}`,
      GITLAB_TOKEN: gitlabToken,
      GITLAB_USER_NAME: "Dana",
      GITLAB_USER_EMAIL: "dana@example.com",
      DIMSYNC_PACKAGE: packageFile,
      DIMSYNC_ALLOWED_HOSTS: new URL(service.url).host,
      DIMSYNC_READ_KEY: "reading",
      npm_config_offline: "true",
      npm_config_cache: join(repository.root, "npm"),
    };
    const run = async (job: string, variables: Readonly<Record<string, string>>): Promise<void> => {
      const { code, log } = await gitlab(checkout, { ...common, ...variables }, job);
      expect(code, log).toBe(0);
    };
    await run("dimsync plan", {
      CI_PIPELINE_SOURCE: "merge_request_event",
      CI_MERGE_REQUEST_IID: "3",
      CI_MERGE_REQUEST_TARGET_BRANCH_NAME: "main",
      CI_DEFAULT_BRANCH: "main",
    });
    expect(notes).toMatchObject([
      { body: expect.stringContaining("## `prod`: this merge request changes nothing; 1 change is not from this merge request") },
    ]);
    expect(readFileSync(join(checkout, "dimsync-plan.md"), "utf8")).toContain("## `prod`: ");

    // A newer commit on the branch than the one that the job was started for.
    repository.commit("main", { "manifests/orders.yaml": ordersManifest("phone: { hashed: true }") });
    const onMain = { CI_PIPELINE_SOURCE: "push", CI_COMMIT_BRANCH: "main", CI_DEFAULT_BRANCH: "main" };
    await run("dimsync apply prod", { ...onMain, DIMSYNC_API_KEY: "writing" });
    expect(service.counts()).toMatchObject({ PATCH: 1 });
    expect(service.state().integrations[0]?.schemas["public"]?.tables["customers"]?.columns["phone"]?.hashed).toBe(true);
    // The branch is protected.
    expect(repository.read("main", "dimsync.bindings.yaml")).toBeUndefined();
    expect(repository.read("refs/dimsync/prod", "records")).toContain("8f1c");

    service.mutate((state) => {
      const column = state.integrations[0]?.schemas["public"]?.tables["customers"]?.columns["phone"];
      if (column !== undefined) column.hashed = false;
    });
    // The key that can write is set, and drift does not use it.
    const nightly = { CI_PIPELINE_SOURCE: "schedule", CI_COMMIT_BRANCH: "main", CI_DEFAULT_BRANCH: "main", DIMSYNC_API_KEY: "wrong" };
    await run("dimsync drift prod", nightly);
    expect(issues).toMatchObject([{ state: "opened", title: expect.stringMatching(/^prod: /u) }]);
    const accepted = "dimsync/drift-prod";
    expect(repository.read(accepted, "manifests/orders.yaml")).toContain("phone: { hashed: false }");

    /** As in a new checkout. */
    const openTip = (): void => {
      git(checkout, "fetch", "--quiet", "origin", "main");
      git(checkout, "checkout", "--quiet", "--detach", "FETCH_HEAD");
    };
    const byHand = { ...nightly, DIMSYNC_API_KEY: "writing" };
    const refused = await gitlab(checkout, { ...common, ...byHand }, "dimsync apply prod by hand");
    expect(refused.log).toContain("give the variable REASON");
    expect(service.counts()).toMatchObject({ PATCH: 1 });
    openTip();
    await run("dimsync apply prod by hand", { ...byHand, REASON: "the column is personal" });
    expect(service.counts()).toMatchObject({ PATCH: 2 });
    openTip();
    await run("dimsync drift prod", nightly);
    expect(issues).toMatchObject([{ state: "closed" }]);
    expect(repository.read(accepted, "dimsync.yaml")).toBeUndefined();
  } finally {
    await service.close();
  }
});

test("a branch does not choose the program that a job runs", async () => {
  const service = await startEmbeddedService({ apiKeys: { reading: "reader@example.com" } });
  onTestFinished(service.close);
  const notes: GitlabNote[] = [];
  const repository = startRepository(files(service.url));
  const ran = join(repository.root, "ran");
  repository.commit("feature", {
    ...programsOfBranch("http://127.0.0.1:9/", ran),
    "manifests/orders.yaml": ordersManifest("phone: { hashed: true }"),
  });
  const variables = {
    ...{ GITLAB_CI: "true", CI_API_V4_URL: await startGitlab({ notes, issues: [] }), CI_PROJECT_ID: "12", GITLAB_TOKEN: gitlabToken },
    ...{
      CI_PIPELINE_SOURCE: "merge_request_event",
      CI_MERGE_REQUEST_IID: "3",
      CI_MERGE_REQUEST_TARGET_BRANCH_NAME: "main",
      CI_DEFAULT_BRANCH: "main",
    },
    ...{ DIMSYNC_PACKAGE: packageFile, DIMSYNC_ALLOWED_HOSTS: new URL(service.url).host, DIMSYNC_READ_KEY: "reading" },
    ...{ npm_config_offline: "true", npm_config_cache: join(repository.root, "npm") },
  };
  const { code, log } = await gitlab(repository.checkout("feature"), variables, "dimsync plan");
  expect(existsSync(ran) ? readFileSync(ran, "utf8") : "nothing ran").toBe("nothing ran");
  expect(code, log).toBe(0);
  expect(notes).toMatchObject([{ body: expect.stringContaining("## `prod`: ") }]);
});

const sources = [
  ["merge_request_event", "feature", ["dimsync plan"]],
  ["push", "main", ["dimsync apply prod", "dimsync apply prod by hand"]],
  ["push", "feature", []],
  ["schedule", "main", ["dimsync apply prod by hand", "dimsync drift prod"]],
  ["web", "main", ["dimsync apply prod by hand"]],
] as const;

// Each run of gitlab-ci-local takes seconds.
const sampled = sampleOf(sources, {
  name: "pipelines",
  kindOf: ([, , jobs]) => (jobs[0]?.startsWith("dimsync apply") === true ? "writes" : "other"),
});

test.each(sampled)("a pipeline of source %s on %s has the jobs %j", async (source, branch, wanted) => {
  const checkout = startRepository(files("https://api.example.com")).checkout("main");
  const variables = {
    CI_PIPELINE_SOURCE: source,
    CI_COMMIT_BRANCH: branch,
    CI_MERGE_REQUEST_TARGET_BRANCH_NAME: "main",
    CI_DEFAULT_BRANCH: "main",
  };
  const { code, stdout, log } = await gitlab(checkout, variables, "--list-json");
  expect(code, log).toBe(0);
  const jobs = JSON.parse(stdout) as readonly { name: string; when: string }[];
  expect(
    jobs
      .filter(({ when }) => when !== "never")
      .map(({ name }) => name)
      .sort(),
  ).toEqual(wanted);
});

test("a project in a folder has a job for each target, in order", async () => {
  const targets = ["dev", "prod"].map((name) => ({ name, key: `${name.toUpperCase()}_API_KEY` }));
  const written = ciFiles("gitlab", { targets, isOrdered: true, hosts: ["api.example.com"], branch: "main", folder: "deploy/e $u" });
  const variables = { CI_PIPELINE_SOURCE: "push", CI_COMMIT_BRANCH: "main", CI_DEFAULT_BRANCH: "main" };
  const { code, stdout, log } = await gitlab(startRepository(written).checkout("main"), variables, "--list-json");
  expect(code, log).toBe(0);
  const jobs = JSON.parse(stdout) as readonly { name: string; when: string; needs: unknown }[];
  expect(jobs.filter(({ when }) => when === "on_success").map(({ name, needs }) => [name, needs])).toEqual([
    ["dimsync apply dev (deploy/e $u)", undefined],
    ["dimsync apply prod (deploy/e $u)", [expect.objectContaining({ job: "dimsync apply dev (deploy/e $u)" })]],
  ]);
});

test("two accounts with keys of their own are planned in one job, and applied each with its key", async () => {
  const services = await Promise.all(
    ["dev", "prod"].map((name) =>
      startEmbeddedService({ apiKeys: { [`${name}-read`]: "reader@example.com", [`${name}-write`]: "bot@example.com" } }),
    ),
  );
  onTestFinished(async () => void (await Promise.all(services.map((service) => service.close()))));
  const names = ["dev", "prod"].map((name) => ({ name, key: `${name.toUpperCase()}_API_KEY` }));
  const entries = names.map(
    ({ name, key }, index) => `  ${name}: { baseUrl: "${services[index]?.url}", apiKey: { $secret: { env: ${key} } } }\n`,
  );
  const repository = startRepository({
    ...files(""),
    "dimsync.gitlab-ci.yml": templateFor(names),
    "dimsync.yaml": `apiVersion: dimsync/v1\nkind: Config\nmanifests: [manifests]\ntargets:\n${entries.join("")}`,
  });
  await repository.createRecords("dev", "prod");
  const checkout = repository.checkout("main");
  const notes: GitlabNote[] = [];
  const common = {
    ...{ PATH: `${npm}:${process.env["PATH"]}`, npm_config_offline: "true", npm_config_cache: join(repository.root, "npm") },
    ...{ GITLAB_CI: "true", CI_API_V4_URL: await startGitlab({ notes, issues: [] }), CI_PROJECT_ID: "12", GITLAB_TOKEN: gitlabToken },
    ...{ CI_PROJECT_URL: `file://${repository.remote.replace(/\.git$/u, "")}`, CI_DEFAULT_BRANCH: "main", DIMSYNC_PACKAGE: packageFile },
    DIMSYNC_ALLOWED_HOSTS: services.map(({ url }) => new URL(url).host).join(","),
    ...{ DEV_READ_KEY: "dev-read", PROD_READ_KEY: "prod-read" },
  };
  const request = { CI_PIPELINE_SOURCE: "merge_request_event", CI_MERGE_REQUEST_IID: "3", CI_MERGE_REQUEST_TARGET_BRANCH_NAME: "main" };
  const planned = await gitlab(checkout, { ...common, ...request }, "dimsync plan");
  expect(planned.code, planned.log).toBe(0);
  expect(notes[0]?.body.match(/^## `\w+`/gmu)).toEqual(["## `dev`", "## `prod`"]);
  const push = { CI_PIPELINE_SOURCE: "push", CI_COMMIT_BRANCH: "main" };
  const applied = await gitlab(checkout, { ...common, ...push, PROD_API_KEY: "prod-write" }, "dimsync apply prod");
  expect(applied.code, applied.log).toBe(0);
  expect(services.map((service) => service.counts()["PATCH"] ?? 0)).toEqual([0, 1]);
});

test("the check against GitLab's schema finds an unknown key", async () => {
  const broken = { ...files("https://api.example.com"), "dimsync.gitlab-ci.yml": template.replace("resource_group:", "resourcegroup:") };
  const { code, log } = await gitlab(startRepository(broken).checkout("main"), {}, "--list-json");
  expect([code, log]).toEqual([1, expect.stringContaining("Invalid .gitlab-ci.yml configuration")]);
});

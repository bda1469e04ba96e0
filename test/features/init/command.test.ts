import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { runCommand } from "../../support/command.ts";
import { git } from "../../support/git/remote.ts";
import { writeProject } from "../../support/project-folder.ts";

interface Workflow {
  readonly jobs: Readonly<Record<string, { readonly strategy: { readonly matrix: { readonly target: readonly string[] } } }>>;
}
const tasks = ["plan", "apply", "drift"] as const;

async function targetsAfterInit(files: Readonly<Record<string, string>>): Promise<readonly (readonly string[])[]> {
  const folder = writeProject(files);
  expect((await runCommand(["init"], folder)).code).toBe(0);
  return tasks.map((task) => {
    const text = readFileSync(join(folder, `.github/workflows/dimsync-${task}.yml`), "utf8");
    return (parse(text) as Workflow).jobs[task]?.strategy.matrix.target ?? [];
  });
}

const config = (targets: string): string => `apiVersion: dimsync/v1\nkind: Config\nmanifests: [manifests]\n${targets}`;

describe("the workflows have a job for", () => {
  test.each<[string, Readonly<Record<string, string>>, readonly string[]]>([
    ["the target of the config that init writes", {}, ["prod"]],
    [
      "each target of an existing config",
      { "dimsync.yaml": config('targets: { eu: { baseUrl: "https://eu.example.com" }, "u s": { baseUrl: "https://us.example.com" } }\n') },
      ["eu", "u s"],
    ],
    ["the default target of a config without targets", { "dimsync.yaml": config("") }, ["default"]],
    ["the target prod if the config cannot be read", { "dimsync.yaml": "kind: [\n" }, ["prod"]],
  ])("%s", async (_sentence, files, targets) => {
    expect(await targetsAfterInit(files)).toEqual(tasks.map(() => targets));
  });
});

test("a project without targets can be planned with the target that the workflows name", async () => {
  const folder = writeProject({ "dimsync.yaml": config(""), "manifests/README.md": "text" });
  const { code, stderr } = await runCommand(["validate"], folder, { DIMSYNC_TARGET: "default" });
  expect(code, stderr).toBe(0);
});

test("in a repository without a remote, init names the command that moves the records there", async () => {
  const folder = writeProject({});
  const { code, stderr } = await runCommand(["init"], folder);
  expect(code).toBe(0);
  expect(stderr).toContain("  dimsync records migrate --to git -t prod\n");
});

test("with --approval, each target has a job that plans and a job that waits for the approval", async () => {
  const folder = writeProject({ "dimsync.yaml": config('targets: { eu: { baseUrl: "https://eu.example.com" } }\n') });
  expect((await runCommand(["init", "--approval"], folder)).code).toBe(0);
  const { jobs } = parse(readFileSync(join(folder, ".github/workflows/dimsync-apply.yml"), "utf8")) as {
    readonly jobs: Readonly<Record<string, { readonly needs?: string; readonly environment?: string }>>;
  };
  expect(Object.entries(jobs).map(([name, { needs, environment }]) => [name, needs, environment])).toEqual([
    ["plan-eu", undefined, undefined],
    ["apply-eu", "plan-eu", "eu"],
  ]);
});

test("the workflows limit the hosts that get a key to those of the config, and allow no code", async () => {
  const config = (folder: string): string => readFileSync(join(folder, ".github/workflows/dimsync-plan.yml"), "utf8");
  const targets =
    "targets: { a: { baseUrl: https://a.example.com }, b: { baseUrl: 'https://b.example.com:8443/x' }, c: { baseUrl: 'embedded:c.json' } }";
  const existing = writeProject({ "dimsync.yaml": `apiVersion: dimsync/v1\nkind: Config\n${targets}\n` });
  await runCommand(["init"], existing, { DIMSYNC_BASE_URL: "" });
  expect(config(existing)).toContain('\n  DIMSYNC_ALLOWED_HOSTS: "a.example.com,b.example.com"\n');
  const fresh = writeProject({});
  await runCommand(["init"], fresh, { DIMSYNC_BASE_URL: "https://eu.example.com" });
  for (const name of ["plan", "apply", "drift"]) {
    const text = readFileSync(join(fresh, `.github/workflows/dimsync-${name}.yml`), "utf8");
    expect([text.includes('DIMSYNC_ALLOWED_HOSTS: "eu.example.com"'), text.includes("ALLOW_CODE")]).toEqual([true, false]);
  }
});

test("the workflows watch the branch of the repository, and --update replaces those that nobody has edited", async () => {
  const folder = writeProject({});
  git(folder, "init", "--quiet", "--initial-branch=trunk");
  expect((await runCommand(["init"], folder)).code).toBe(0);
  const pathOf = (task: string): string => join(folder, `.github/workflows/dimsync-${task}.yml`);
  const textOf = (task: string): string => readFileSync(pathOf(task), "utf8");
  expect([parse(textOf("plan")).on, parse(textOf("apply")).on.push, parse(textOf("apply")).jobs.apply.if]).toEqual([
    { pull_request: { branches: ["trunk"] }, merge_group: null },
    { branches: ["trunk"] },
    "github.ref == 'refs/heads/trunk'",
  ]);
  writeFileSync(pathOf("drift"), textOf("drift").replace("17 5", "17 6"));
  const edited = textOf("drift");
  git(folder, "branch", "--move", "main");
  await runCommand(["init"], folder);
  expect(textOf("plan")).toContain("trunk");
  const { stderr } = await runCommand(["init", "--update"], folder);
  expect(stderr).toMatch(/updated +\.github\/workflows\/dimsync-plan\.yml\n[\s\S]*kept +\.github\/workflows\/dimsync-drift\.yml\n/u);
  expect([textOf("plan").includes("trunk"), textOf("drift")]).toEqual([false, edited]);
});

test.each(["manifests", "schema", ".github"])("nothing is written through a link that leads out of the repository: %s", async (link) => {
  const [folder, outside] = [writeProject({ ".git/HEAD": "" }), writeProject({})];
  symlinkSync(outside, join(folder, link));
  const { code, stderr } = await runCommand(["init"], folder);
  expect([code, stderr, readdirSync(outside)]).toEqual([1, expect.stringContaining("E_PATH_OUTSIDE"), []]);
});

describe("the jobs are written", () => {
  const workflowsIn = (folder: string): readonly string[] =>
    existsSync(join(folder, ".github/workflows")) ? readdirSync(join(folder, ".github/workflows")).sort() : [];

  test("to the top of the repository, also for a project in a folder", async () => {
    const top = writeProject({ ".git/HEAD": "" });
    const { code, stderr } = await runCommand(["init", "deploy/eu"], top);
    expect(code, stderr).toBe(0);
    expect(workflowsIn(top)).toEqual(tasks.map((task) => `dimsync-${task}-deploy-eu.yml`).sort());
    expect(workflowsIn(join(top, "deploy/eu"))).toEqual([]);
    expect(readFileSync(join(top, "deploy/eu/dimsync.yaml"), "utf8")).toContain("kind: Config");
  });

  test("for GitLab with --ci gitlab, or not at all with --ci none", async () => {
    const [gitlab, none] = [writeProject({}), writeProject({})];
    expect((await runCommand(["init", "--ci", "gitlab"], gitlab)).code).toBe(0);
    expect(readFileSync(join(gitlab, ".gitlab-ci.yml"), "utf8")).toBe("include:\n  - local: dimsync.gitlab-ci.yml\n");
    expect((await runCommand(["init", "--ci", "none"], none)).code).toBe(0);
    expect([workflowsIn(gitlab), workflowsIn(none)]).toEqual([[], []]);
  });

  test.each([
    ["https://gitlab.example.com/data/dimsync.git", true],
    ["git@gitlab.com:data/dimsync.git", true],
    ["ssh://git@gitlab.example.com:2222/data/dimsync.git", true],
    ["https://github.com/gitlab-users/dimsync.git", false],
    ["git@github.com:data/gitlab.git", false],
  ])("for the host of the remote: %s", async (remote, isGitlab) => {
    const folder = writeProject({});
    git(folder, "init", "--quiet");
    git(folder, "remote", "add", "origin", remote);
    expect((await runCommand(["init", "--no-records"], folder)).code).toBe(0);
    expect([existsSync(join(folder, ".gitlab-ci.yml")), workflowsIn(folder).length]).toEqual(isGitlab ? [true, 0] : [false, 3]);
  });

  test("beside an existing .gitlab-ci.yml, with the lines to add there", async () => {
    const folder = writeProject({ ".gitlab-ci.yml": "test: { script: [make] }\n" });
    const { stderr } = await runCommand(["init", "--ci", "gitlab"], folder);
    expect(stderr).toContain("add this to .gitlab-ci.yml, or the jobs will not run:\n  include:\n    - local: dimsync.gitlab-ci.yml\n");
    expect(readFileSync(join(folder, ".gitlab-ci.yml"), "utf8")).toBe("test: { script: [make] }\n");
  });

  test.each([
    [["--ci", "travis"], '--ci takes github, gitlab or none, not "travis".'],
    [["--ci", "gitlab", "--approval"], "--approval writes a workflow for GitHub."],
  ])("and nothing is written with %j", async (flags, message) => {
    const folder = writeProject({});
    const { code, stderr } = await runCommand(["init", ...flags], folder);
    expect([code, stderr, readdirSync(folder)]).toEqual([1, expect.stringContaining(message), []]);
  });
});

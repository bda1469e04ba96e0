// init writes the jobs of the project, and nothing twice.
import { existsSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { runCommand } from "../../support/command.ts";
import { git } from "../../support/git/remote.ts";
import { writeProject } from "../../support/project-folder.ts";

interface Workflow {
  readonly jobs: Readonly<Record<string, { readonly steps: readonly { readonly env?: Readonly<Record<string, string>> }[] }>>;
}
const tasks = ["plan", "apply", "drift"] as const;

/** By job, the variables that `keys` matches. */
async function keysAfterInit(files: Readonly<Record<string, string>>, keys: RegExp): Promise<Readonly<Record<string, readonly string[]>>> {
  const folder = writeProject(files);
  expect((await runCommand(["init"], folder)).code).toBe(0);
  const jobs = tasks.flatMap((task) => {
    const text = readFileSync(join(folder, `.github/workflows/dimsync-${task}.yml`), "utf8");
    return Object.entries((parse(text) as Workflow).jobs);
  });
  return Object.fromEntries(
    jobs.map(([name, { steps }]) => {
      const env = steps.map((step) => step.env ?? {}).find((one) => "GITHUB_TOKEN" in one) ?? {};
      return [
        name,
        Object.entries(env).flatMap(([key, value]) =>
          keys.test(key) ? [`${key}=${value.replace(/^\$\{\{ secrets\.(\w+) \}\}$/u, "$1")}`] : [],
        ),
      ];
    }),
  );
}

const config = (targets: string): string => `apiVersion: dimsync/v1\nkind: Config\nmanifests: [manifests]\n${targets}`;

describe("the workflows have jobs with a key for", () => {
  const one = (target: string): Readonly<Record<string, readonly string[]>> => ({
    plan: ["DIMSYNC_API_KEY=DIMSYNC_READ_KEY"],
    [`apply-${target}`]: ["DIMSYNC_API_KEY=DIMSYNC_API_KEY"],
    [`drift-${target}`]: ["DIMSYNC_API_KEY=DIMSYNC_READ_KEY"],
  });
  test.each<[string, Readonly<Record<string, string>>, Readonly<Record<string, readonly string[]>>]>([
    ["the target of the config that init writes", {}, one("prod")],
    [
      "each target of an existing config, by the name that it gives its key",
      {
        "dimsync.yaml": config(
          'targets: { eu: { baseUrl: "https://eu.example.com", apiKey: { $secret: { env: EU_TOKEN } } }, us: { baseUrl: "https://us.example.com", apiKey: { $secret: { env: US_API_KEY } } } }\n',
        ),
      },
      {
        plan: ["EU_TOKEN=EU_TOKEN_READ_KEY", "US_API_KEY=US_READ_KEY"],
        "apply-eu": ["EU_TOKEN=EU_TOKEN"],
        "apply-us": ["US_API_KEY=US_API_KEY"],
        "drift-eu": ["EU_TOKEN=EU_TOKEN_READ_KEY"],
        "drift-us": ["US_API_KEY=US_READ_KEY"],
      },
    ],
    ["the default target of a config without targets", { "dimsync.yaml": config("") }, one("default")],
    ["the target prod if the config cannot be read", { "dimsync.yaml": "kind: [\n" }, one("prod")],
  ])("%s", async (_sentence, files, wanted) => {
    expect(await keysAfterInit(files, /KEY$|TOKEN$(?<!GITHUB_TOKEN)/u)).toEqual(
      Object.fromEntries(
        Object.entries(wanted).map(([job, keys]) => [
          job,
          job.startsWith("apply") ? [...keys, "DIMSYNC_DIGEST_KEY=DIMSYNC_DIGEST_KEY"] : keys,
        ]),
      ),
    );
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

test("-t names the targets of a new project, each with a key of its own", async () => {
  const folder = writeProject({});
  const { code, stderr } = await runCommand(["init", "-t", "dev", "-t", "eu-1"], folder);
  expect(code, stderr).toBe(0);
  const { targets } = parse(readFileSync(join(folder, "dimsync.yaml"), "utf8")) as { readonly targets: object };
  expect(targets).toMatchObject({
    dev: { apiKey: { $secret: { env: "DEV_API_KEY" } } },
    "eu-1": { apiKey: { $secret: { env: "EU_1_API_KEY" } } },
  });
  expect(stderr).toContain("  eu-1: EU_1_READ_KEY, which can only read, for plan and drift; EU_1_API_KEY for apply\n");
  expect(stderr).toContain("their keys in DEV_API_KEY and EU_1_API_KEY.");
});

test("init in a finished project says that it wrote nothing, and refuses a target that dimsync.yaml does not have", async () => {
  const folder = writeProject({});
  await runCommand(["init", "-t", "dev", "-t", "prod"], folder);
  const again = await runCommand(["init"], folder);
  expect([again.code, again.stderr]).toEqual([0, expect.stringContaining("Nothing was written: the project has all files.")]);
  expect(again.stderr).not.toMatch(/Next:|Secrets of the jobs/u);
  const other = await runCommand(["init", "-t", "qa"], folder);
  expect([other.code, other.stderr]).toEqual([1, expect.stringContaining("dimsync.yaml exists and does not have qa.")]);
});

test("with --in-order, a target is applied after the one before", async () => {
  const folder = writeProject({
    "dimsync.yaml": config('targets: { dev: { baseUrl: "https://dev.example.com" }, prod: { baseUrl: "https://api.example.com" } }\n'),
  });
  expect((await runCommand(["init", "--in-order"], folder)).code).toBe(0);
  const { jobs } = parse(readFileSync(join(folder, ".github/workflows/dimsync-apply.yml"), "utf8")) as {
    readonly jobs: Readonly<Record<string, { readonly needs?: string }>>;
  };
  expect(Object.entries(jobs).map(([name, { needs }]) => [name, needs])).toEqual([
    ["apply-dev", undefined],
    ["apply-prod", "apply-dev"],
  ]);
});

test("the workflows limit the hosts that get a key to those of the config, and allow no code", async () => {
  const config = (folder: string): string => readFileSync(join(folder, ".github/workflows/dimsync-plan.yml"), "utf8");
  const targets =
    "targets: { a: { baseUrl: https://a.example.com }, b: { baseUrl: 'https://b.example.com:8443/x' }, c: { baseUrl: 'embedded:c.json' } }";
  const existing = writeProject({
    "dimsync.yaml": `apiVersion: dimsync/v1\nkind: Config\nnotify: { url: { $secret: { env: HOOK } }, format: slack }\n${targets}\n`,
  });
  await runCommand(["init"], existing, { DIMSYNC_BASE_URL: "" });
  expect(config(existing)).toContain('\n  DIMSYNC_ALLOWED_HOSTS: "a.example.com,b.example.com,hooks.slack.com" #');
  const fresh = writeProject({});
  await runCommand(["init"], fresh, { DIMSYNC_BASE_URL: "https://eu.example.com" });
  for (const name of ["plan", "apply", "drift"]) {
    const text = readFileSync(join(fresh, `.github/workflows/dimsync-${name}.yml`), "utf8");
    expect(text).toContain('DIMSYNC_ALLOWED_HOSTS: "eu.example.com"');
  }
});

test("the workflows watch the branch of the repository, and stay as they are once they exist", async () => {
  const folder = writeProject({});
  git(folder, "init", "--quiet", "--initial-branch=trunk");
  expect((await runCommand(["init"], folder)).code).toBe(0);
  const textOf = (task: string): string => readFileSync(join(folder, `.github/workflows/dimsync-${task}.yml`), "utf8");
  expect([parse(textOf("plan")).on, parse(textOf("apply")).on.push, parse(textOf("apply")).jobs["apply-prod"].if]).toEqual([
    { pull_request: { branches: ["trunk"] }, merge_group: null },
    { branches: ["trunk"] },
    expect.stringContaining("github.ref == 'refs/heads/trunk'"),
  ]);
  git(folder, "branch", "--move", "main");
  const { stderr } = await runCommand(["init"], folder);
  expect(stderr).toMatch(/kept +\.github\/workflows\/dimsync-plan\.yml\n/u);
  expect(textOf("plan")).toContain("trunk");
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

  test("and nothing is written for another system", async () => {
    const folder = writeProject({});
    const { code, stderr } = await runCommand(["init", "--ci", "travis"], folder);
    expect([code, stderr, readdirSync(folder)]).toEqual([
      1,
      expect.stringContaining('--ci takes github, gitlab or none, not "travis".'),
      [],
    ]);
  });
});

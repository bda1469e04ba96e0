// The workflows that init writes run on the forge, and give no key to code of a branch.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { type CiProject, type CiSystem, ciFiles, readKey } from "../../../../src/core/operations/forge/workflows.ts";
import { lintWorkflow } from "../../../features/ci/actionlint.ts";

const one: CiProject = { targets: [{ name: "prod", key: "DIMSYNC_API_KEY" }], hosts: ["api.example.com"], branch: "main", folder: "" };
const two: CiProject = {
  ...one,
  targets: [
    { name: "dev", key: "DEV_API_KEY" },
    { name: "prod", key: "PROD_API_KEY" },
  ],
  isOrdered: true,
};
const odd: CiProject = {
  targets: [
    { name: "eu.west", key: "KEY" },
    { name: "eu-west", key: "KEY" },
    { name: "1", key: "ONE_TOKEN" },
  ],
  hosts: [],
  branch: "re'lease+1",
  folder: `deploy/e $\{{ github.token }} $u`,
};
const inDatabase: CiProject = { ...two, targets: two.targets.map((target) => ({ ...target, database: "DIMSYNC_DATABASE_URL" })) };
const projects = { one, two, odd, inDatabase };

/** The text with the version of this package left out. */
const shown = (text: string): string => text.replaceAll(/(?<=dimsync@)\d+\.\d+\.\d+\S*/gu, "VERSION");

describe.each(Object.entries({ one, two }))("the files for a project of %s target(s)", (name, project) => {
  test.each<CiSystem>(["github", "gitlab"])("in %s", async (ci) => {
    for (const [path, text] of Object.entries(ciFiles(ci, project)))
      await expect(shown(text)).toMatchFileSnapshot(
        join(import.meta.dirname, "golden", `${ci}-${name}`, path.replace(/^\.github\/workflows\/|^\./u, "")),
      );
  });
});

test("records in PostgreSQL are read by every job", () => {
  const [plan = "", apply = "", drift = ""] = Object.values(ciFiles("github", inDatabase));
  const uses = (text: string): number => text.split(`DIMSYNC_DATABASE_URL: $\{{ secrets.DIMSYNC_DATABASE_URL }}`).length - 1;
  expect([uses(plan), uses(apply), uses(drift)], "once for all targets, once for each, and in both steps").toEqual([1, 2, 4]);
});

const folder = ".github/workflows";
const files = readdirSync(folder).map((name): readonly [string, string] => [name, readFileSync(join(folder, name), "utf8")]);
const ofInit = Object.entries(projects).flatMap(([project, of]) =>
  Object.entries(ciFiles("github", of)).map(([path, text]): readonly [string, string] => [path.replace(folder, project), text]),
);

describe("actionlint", () => {
  test.each([...files, ...ofInit])("finds nothing in %s", async (name, text) => {
    expect(await lintWorkflow(text, name.replaceAll("/", "-"))).toEqual([]);
  });

  test("finds an unknown key, an undefined step and an expression that could inject code into a script", async () => {
    const of = (expression: string): string => `$\{{ ${expression} }}`;
    const steps = [
      `run: echo "${of("github.event.pull_request.title")}"`,
      "run: echo\n        shel: x",
      `run: echo ${of("steps.none.outputs.x")}`,
    ];
    const text = `on: pull_request\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n${steps.map((step) => `      - ${step}\n`).join("")}`;
    expect(await lintWorkflow(text, "x.yml")).toHaveLength(3);
  });
});

type Step = Readonly<Record<string, unknown>>;
const action = parse(readFileSync("action.yml", "utf8")) as {
  readonly description: string;
  readonly branding: unknown;
  readonly inputs: Readonly<Record<string, { readonly default?: string }>>;
  readonly runs: { readonly steps: readonly Step[] };
};

test.each([...files, ...ofInit])("each job of %s ends before the six hours of GitHub", (_, text) => {
  const { jobs } = parse(text) as { readonly jobs: Readonly<Record<string, Readonly<Record<string, unknown>>>> };
  for (const job of Object.values(jobs)) expect("uses" in job || typeof job["timeout-minutes"] === "number").toBe(true);
});

describe("the composite action", () => {
  test("has what the Marketplace requires", () => {
    // A short description, and an icon and a colour of GitHub's lists.
    expect(action.description.length).toBeLessThan(125);
    expect(action.branding).toEqual({ icon: "git-compare", color: "blue" });
  });

  test("passes actionlint as a workflow with the same steps", async () => {
    // actionlint only reads workflows.
    const job = { "runs-on": "ubuntu-latest", steps: action.runs.steps };
    const inputs = Object.fromEntries(Object.keys(action.inputs).map((name) => [name, { type: "string" }]));
    const { stringify } = await import("yaml");
    expect(await lintWorkflow(stringify({ on: { workflow_call: { inputs } }, jobs: { job } }), "action.yml")).toEqual([]);
  });

  test("has a shell for each script, which composite actions require", () => {
    for (const step of action.runs.steps) expect("run" in step).toBe("shell" in step);
  });
});

test("the scripts of the action have no expressions, whose values would be code, and install this version", () => {
  for (const { run } of action.runs.steps) expect(String(run ?? "")).not.toContain("${{");
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly version: string };
  expect(readFileSync("action.yml", "utf8")).toContain(`default: dimsync@${version}\n`);
});

test.each(Object.entries(ciFiles("gitlab", odd)))(
  "in GitLab, %s of a project in a folder has jobs, groups and branches of its own",
  (path, text) => {
    expect(path).toMatch(/^dimsync-deploy-e-github.token-u\.gitlab-ci\.yml$|^\.gitlab-ci\.yml$/u);
    const jobs = parse(text) as Readonly<Record<string, Step>>;
    if (path === ".gitlab-ci.yml") return;
    const place = `(${odd.folder})`;
    expect(Object.keys(jobs)).toEqual([
      `.dimsync ${place}`,
      `dimsync plan ${place}`,
      `.dimsync apply ${place}`,
      `.dimsync drift ${place}`,
      ...odd.targets.flatMap(({ name }) =>
        ["apply NAME", "apply NAME by hand", "drift NAME"].map((job) => `dimsync ${job.replace("NAME", name)} ${place}`),
      ),
    ]);
    expect(jobs[`.dimsync ${place}`]).toMatchObject({
      before_script: expect.arrayContaining([`cd '${odd.folder}'`]),
      artifacts: { paths: [`${odd.folder.replaceAll("$", "$$$$")}/dimsync-*.md`] },
    });
    const groups = odd.targets.map(({ name }) => jobs[`dimsync apply ${name} ${place}`]?.["resource_group"]);
    expect(groups).toEqual(["eu-west", "eu-west-1", "1"].map((id) => `dimsync-apply-deploy-e-github-token-u-${id}`));
  },
);

test("the read key is named after the key", () => {
  expect(["DIMSYNC_API_KEY", "PROD_KEY", "EU_TOKEN", "KEY"].map(readKey)).toEqual([
    "DIMSYNC_READ_KEY",
    "PROD_READ_KEY",
    "EU_TOKEN_READ_KEY",
    "READ_KEY",
  ]);
});

test("no workflow decides itself which files are those of the project", () => {
  for (const [name, text] of ofInit) expect([name, text]).toEqual([name, expect.not.stringMatching(/git diff|^ *paths(?:-ignore)?:/mu)]);
});

test("a GitHub workflow of a project in a folder runs there, and no name in it becomes an expression", () => {
  const [plan = "", apply = ""] = Object.values(ciFiles("github", odd));
  const escaped = odd.folder.replace("${{", () => `$\{{ '$\{{' }}`);
  expect(parse(plan)).toMatchObject({
    name: "dimsync plan (deploy-e-github.token-u)",
    on: { pull_request: { branches: [String.raw`re'lease\+1`] } },
    jobs: { plan: { defaults: { run: { "working-directory": escaped } } } },
  });
  const { jobs } = parse(apply) as { readonly jobs: Readonly<Record<string, Step>> };
  expect(Object.keys(jobs)).toEqual(["apply-eu-west", "apply-eu-west-1", "apply-1"]);
  expect(jobs["apply-1"]?.["if"]).toContain("github.ref == 'refs/heads/re''lease+1'");
});

test("targets in an order wait for the one before, and one can be applied by hand", () => {
  const { jobs } = parse(ciFiles("github", two)[".github/workflows/dimsync-apply.yml"] ?? "") as {
    readonly jobs: Readonly<Record<string, Step>>;
  };
  expect([jobs["apply-dev"]?.["needs"], jobs["apply-prod"]?.["needs"]]).toEqual([undefined, "apply-dev"]);
  expect(jobs["apply-prod"]?.["if"]).toContain(
    "(inputs.target == 'prod' || (github.event_name == 'push' && needs.apply-dev.result == 'success'))",
  );
});

describe("concurrency", () => {
  const groups = ofInit.flatMap(([name, text]) =>
    Object.entries((parse(text) as { jobs: Record<string, { concurrency?: { group: string; "cancel-in-progress": boolean } }> }).jobs).map(
      ([job, { concurrency }]) => [name, job, concurrency] as const,
    ),
  );

  test.each(groups)("of %s, job %s: the group is its own, and only plans are cancelled", (name, job, concurrency) => {
    const same = groups.filter(([file, , of]) => file.split("/")[0] === name.split("/")[0] && of?.group === concurrency?.group);
    expect([same.length, concurrency?.["cancel-in-progress"]]).toEqual([1, job === "plan"]);
  });
});

test("no workflow hands secrets to code of a fork", () => {
  for (const [, text] of [...files, ...ofInit]) expect(text).not.toContain("pull_request_target");
});

test("only jobs that apply get the key that can write, in an environment", () => {
  for (const [name, text] of [...files, ...ofInit])
    for (const [job, content] of Object.entries((parse(text) as { jobs: Record<string, Step> }).jobs))
      if (/secrets\.(?:\w+_API_KEY|KEY|ONE_TOKEN) /u.test(JSON.stringify(content)))
        expect([name, job, "environment" in content]).toEqual([name, expect.stringMatching(/^apply(?:-|$)/u), true]);
});

test("a job that plans may only read the repository, and none uses a cache", () => {
  for (const [name, text] of ofInit) {
    const { permissions, jobs } = parse(text) as { permissions: Step; jobs: Record<string, { permissions?: Step }> };
    for (const [job, content] of Object.entries(jobs)) {
      const contents = (content.permissions ?? permissions)["contents"];
      expect([name, job, contents]).toEqual([name, job, job === "plan" ? "read" : "write"]);
    }
    expect(text).not.toContain("actions/cache");
  }
});

test("a check that a rule can require has no filter of paths, and runs for the branch that apply watches", () => {
  const [, text = ""] = ofInit.find(([name]) => name === "one/dimsync-plan.yml") ?? [];
  expect((parse(text) as { on: unknown }).on).toEqual({ pull_request: { branches: ["main"] }, merge_group: null });
});

describe("actions", () => {
  const texts: readonly (readonly [string, string])[] = [...files, ...ofInit, ["action.yml", readFileSync("action.yml", "utf8")]];
  const uses = texts.flatMap(([name, text]) =>
    [...text.matchAll(/uses: +(\S+)(.*)$/gmu)].map(([, action = "", comment = ""]) => ({ name, action, comment })),
  );

  // The first major versions that run on Node 24. Composite actions run on no Node of their own.
  const node24: Readonly<Record<string, number>> = {
    "actions/attest-build-provenance": 0,
    "actions/checkout": 5,
    "actions/download-artifact": 7,
    "actions/setup-node": 5,
    "actions/upload-artifact": 6,
    "docker/build-push-action": 7,
    "docker/login-action": 4,
    "docker/setup-buildx-action": 4,
    "docker/setup-qemu-action": 4,
    "peter-evans/create-pull-request": 8,
  };

  test("run on Node 24", () => {
    const older = uses.filter(({ action, comment }) => {
      const first = node24[action.split("@")[0] ?? ""];
      return !action.startsWith("./") && !(Number(/# v(\d+)/u.exec(comment)?.[1]) >= (first ?? Number.NaN));
    });
    expect(older).toEqual([]);
  });

  test("are pinned to a commit, with the version in a comment", () => {
    expect(uses.length).toBeGreaterThan(20);
    for (const { name, action, comment } of uses) {
      expect(action, name).toMatch(/^[\w-]+\/[\w./-]+@[0-9a-f]{40}$/u);
      expect(comment, name).toMatch(/^ # v\d+\.\d+\.\d+$/u);
    }
  });

  test("have the same version everywhere", () => {
    const versions = new Map<string, Set<string>>();
    for (const { action, comment } of uses) {
      const [path = "", commit = ""] = action.split("@");
      const repository = path.split("/").slice(0, 2).join("/");
      versions.set(repository, (versions.get(repository) ?? new Set()).add(`${commit}${comment}`));
    }
    for (const [repository, found] of versions) expect([repository, [...found]]).toEqual([repository, [expect.any(String)]]);
  });
});

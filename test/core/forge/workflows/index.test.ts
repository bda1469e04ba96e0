import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { ciFiles, workflows } from "../../../../src/core/forge/workflows/index.ts";
import { lintWorkflow } from "../../../features/ci/actionlint.ts";

const folder = ".github/workflows";
const files = readdirSync(folder).map((name): readonly [string, string] => [name, readFileSync(join(folder, name), "utf8")]);
const targets = ["prod", "eu-west", "u s", "u.s"];
const ofInit = [
  ...Object.entries(workflows({ version: "0.0.0", targets })).map(([name, text]): readonly [string, string] => [`init-${name}.yml`, text]),
  ["init-approved-apply.yml", workflows({ version: "0.0.0", targets, approval: true }).apply] as const,
  ...Object.entries(workflows({ version: "0.0.0", targets, folder: "deploy/e u" })).map(([name, text]): readonly [string, string] => [
    `init-folder-${name}.yml`,
    text,
  ]),
];

describe("actionlint", () => {
  test.each([...files, ...ofInit])("finds nothing in %s", async (name, text) => {
    expect(await lintWorkflow(text, name)).toEqual([]);
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

describe("in GitLab", () => {
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly version: string };
  const options = { version, targets: ["prod"], hosts: ["api.example.com"] };

  test("the example is what init writes", async () => {
    await expect(ciFiles("gitlab", options)["dimsync.gitlab-ci.yml"]).toMatchFileSnapshot(
      join(process.cwd(), "examples/gitlab/dimsync.gitlab-ci.yml"),
    );
  });

  test("the component is what init writes, with inputs", async () => {
    const input = (name: string): string => `$[[ inputs.${name} ]]`;
    const pipeline = ciFiles("gitlab", { version: input("version"), targets: [input("target")], hosts: [input("allowed-hosts")] });
    const text = (pipeline["dimsync.gitlab-ci.yml"] ?? "")
      .replace(/^# Written by .*\n/u, "")
      .replace(/^# Include it in [\s\S]*?\n(?=# Set these)/mu, "");
    const spec = `spec:
  inputs:
    target:
      description: A target of dimsync.yaml
      default: prod
    allowed-hosts:
      description: The hosts that may get an API key, whatever dimsync.yaml says, separated by commas
    version:
      description: The version of the npm package dimsync
      default: ${version}
---
`;
    await expect(spec + text).toMatchFileSnapshot(join(process.cwd(), "examples/gitlab/component.yml"));
  });

  test("a project in a folder has jobs, files and groups of its own, and each target a job", () => {
    const files = ciFiles("gitlab", { ...options, targets: ["prod", "e u"], folder: "deploy/e u" });
    expect(Object.keys(files)).toEqual(["dimsync-deploy-e-u.gitlab-ci.yml", ".gitlab-ci.yml"]);
    const jobs = parse(files["dimsync-deploy-e-u.gitlab-ci.yml"] ?? "") as Readonly<Record<string, Step>>;
    expect(Object.keys(jobs)).toEqual([
      ".dimsync deploy-e-u",
      ".dimsync read deploy-e-u",
      ...["plan", "apply", "drift"].map((task) => `dimsync ${task} (deploy/e u)`),
    ]);
    expect(jobs[".dimsync deploy-e-u"]).toMatchObject({
      parallel: { matrix: [{ DIMSYNC_TARGET: ["prod", "e u"] }] },
      before_script: expect.arrayContaining(["cd 'deploy/e u'"]),
      artifacts: { paths: ["deploy/e u/dimsync-*.md"] },
    });
    expect(jobs["dimsync apply (deploy/e u)"]).toMatchObject({
      extends: ".dimsync deploy-e-u",
      resource_group: "dimsync-apply-deploy-e-u-$DIMSYNC_TARGET",
    });
  });
});

test("no workflow decides itself which files are those of the project", () => {
  for (const [name, text] of ofInit) expect([name, text]).toEqual([name, expect.not.stringMatching(/git diff|^ *paths(?:-ignore)?:/mu)]);
});

test("a GitHub workflow of a project in a folder runs there", () => {
  const { plan, apply } = workflows({ version: "0.0.0", targets: ["prod"], folder: "deploy/e u" });
  expect(parse(plan)).toMatchObject({ name: "dimsync plan (deploy/e u)", defaults: { run: { "working-directory": "deploy/e u" } } });
  expect(parse(apply)).toMatchObject({
    jobs: { apply: { concurrency: { group: expect.stringMatching(/^dimsync-apply-deploy-e-u-\$/u) } } },
  });
  expect(apply).toContain('path: "deploy/e u/.dimsync/responses-*/*.ndjson"');
});

describe("concurrency", () => {
  const groups = ofInit.flatMap(([name, text]) =>
    Object.entries(
      (parse(text) as { jobs: Record<string, { concurrency?: { group: string; "cancel-in-progress": boolean } }> }).jobs,
    ).flatMap(([job, { concurrency }]) => (concurrency === undefined ? [] : [[name, job, concurrency] as const])),
  );

  test.each(groups)(
    "the group of %s, job %s, has the target, and only plans are cancelled",
    (_name, job, { group, "cancel-in-progress": cancel }) => {
      const name = job.replace(/^apply-/u, "");
      expect(group.replace(new RegExp(`-${name}$`, "u"), "TARGET")).toMatch(/\$\{\{ (?:inputs|matrix)\.target \}\}|TARGET$/u);
      expect(cancel).toBe(job === "plan");
    },
  );

  test("every apply without an approval has one", () => {
    expect(groups.filter(([, job]) => job.startsWith("apply")).map(([name, job]) => `${name} ${job}`)).toEqual([
      "init-apply.yml apply",
      "init-folder-apply.yml apply",
    ]);
  });

  // In a group, a run that waits for its approval would be cancelled by a newer one, or keep it waiting.
  test("an apply that waits for an approval has none, and waits for the lease of another one", () => {
    for (const [name, text] of ofInit.filter(([file]) => file.includes("approved")))
      expect([name, text.includes("concurrency:"), text.includes('reviewed/plan.json" --lock-timeout=10m')]).toEqual([name, false, true]);
  });
});

test("no workflow hands secrets to code of a fork", () => {
  for (const [, text] of [...files, ...ofInit]) expect(text).not.toContain("pull_request_target");
});

test("only jobs that apply get the key that can write, in an environment", () => {
  for (const [name, text] of [...files, ...ofInit])
    for (const [job, content] of Object.entries((parse(text) as { jobs: Record<string, Step> }).jobs))
      if (JSON.stringify(content).includes("secrets.DIMSYNC_API_KEY"))
        expect([name, job, "environment" in content]).toEqual([name, expect.stringMatching(/^apply(?:-|$)/u), true]);
});

test("only jobs that apply may write to the repository, and none commits to a branch or uses a cache", () => {
  for (const [name, text] of ofInit) {
    const { permissions, jobs } = parse(text) as { permissions: Step; jobs: Record<string, { permissions?: Step }> };
    for (const [job, content] of Object.entries(jobs)) {
      const contents = (content.permissions ?? permissions)["contents"];
      expect([name, job, contents]).toEqual([name, job, job.startsWith("apply") ? "write" : "read"]);
    }
    expect(text).not.toMatch(/actions\/cache|git push/u);
  }
});

test("a check that a rule can require has no filter of paths, and runs for the branch that apply watches", () => {
  const [, text = ""] = ofInit.find(([name]) => name === "init-plan.yml") ?? [];
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

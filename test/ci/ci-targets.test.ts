import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { markerOf } from "../../src/ci/comments.ts";
import { runCommand } from "../support/command.ts";
import { writeProject } from "../support/project-folder.ts";
import { outputsIn } from "./action-runner.ts";
import { standInToken, startForge } from "./forge-stand-in.ts";

// `dimsync ci` in a checkout of a repository with a bare remote, for two protected targets, each an account of its own.

const gitEnv = {
  PATH: process.env["PATH"] ?? "",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_SYSTEM: "/dev/null",
  GIT_AUTHOR_NAME: "Dana",
  GIT_AUTHOR_EMAIL: "dana@example.com",
  GIT_COMMITTER_NAME: "Dana",
  GIT_COMMITTER_EMAIL: "dana@example.com",
};

function startCheckout(ignored = ".dimsync/\n") {
  const root = writeProject({
    "work/dimsync.yaml": `apiVersion: dimsync/v1
kind: Config
manifests: [manifests]
targets:
  a: { baseUrl: "embedded:../a.json", protected: true }
  b: { baseUrl: "embedded:../b.json", protected: true }
`,
    "work/manifests/orders.yaml": `apiVersion: dimsync/v1
kind: Integration
metadata: { name: orders }
spec: { match: { name: Orders } }
---
apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: orders }
spec:
  integration: orders
  schemas: { public: { tables: { customers: { columns: { email: { hashed: true } } } } } }
`,
    "work/.gitignore": ignored,
    "temp/event.json": "{}",
  });
  const [work, remote, temp] = [join(root, "work"), join(root, "remote.git"), join(root, "temp")];
  const git = (...args: readonly string[]): string =>
    execFileSync("git", args, { cwd: work, env: gitEnv, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  git("init", "--quiet", "--bare", "--initial-branch=main", remote);
  git("init", "--quiet", "--initial-branch=main");
  git("add", "--all");
  git("commit", "--quiet", "--message", "first");
  git("remote", "add", "origin", remote);
  git("push", "--quiet", "origin", "main");
  const env = {
    ...gitEnv,
    GITHUB_ACTIONS: "true",
    GITHUB_REPOSITORY: "example/data",
    GITHUB_REF: "refs/heads/main",
    GITHUB_EVENT_PATH: join(temp, "event.json"),
    GITHUB_OUTPUT: join(temp, "output"),
    GITHUB_STEP_SUMMARY: join(temp, "summary"),
    GITHUB_WORKSPACE: work,
    RUNNER_TEMP: temp,
  };
  const read = (path: string): string => readFileSync(join(work, path), "utf8");
  return {
    work,
    git,
    read,
    run: (...argv: readonly string[]) => runCommand(["ci", ...argv], work, env),
    /** In pull request 7, with the comments of the stand-in. */
    runInRequest: (url: string, ...argv: readonly string[]) => {
      const head = { repo: { full_name: "example/data" } };
      writeFileSync(env.GITHUB_EVENT_PATH, JSON.stringify({ pull_request: { number: 7, head } }));
      return runCommand(["ci", ...argv], work, { ...env, GITHUB_API_URL: url, GITHUB_TOKEN: standInToken });
    },
    outputs: () => Object.fromEntries(outputsIn(readFileSync(env.GITHUB_OUTPUT, "utf8"))),
    summary: () => readFileSync(env.GITHUB_STEP_SUMMARY, "utf8"),
    forgetOutputs: () => {
      for (const file of [env.GITHUB_OUTPUT, env.GITHUB_STEP_SUMMARY]) rmSync(file, { force: true });
    },
  };
}

test("apply of two protected targets writes one file of each format, for both, and the outputs tell of both", async () => {
  const { run, read, outputs, git } = startCheckout();
  const files = ["junit=j.xml", "json=r.json", "ndjson=e.ndjson"].flatMap((output) => ["-o", output]);
  const { code, stderr } = await run("apply", "-t", "a", "-t", "b", ...files, "--metrics", "m.prom");
  expect(code, stderr).toBe(0);
  expect(read("j.xml").match(/<testsuite name="[^"]*"/gu)).toEqual([
    '<testsuite name="dimsync apply a"',
    '<testsuite name="dimsync apply b"',
  ]);
  expect(JSON.parse(read("r.json"))).toMatchObject([{ kind: "Result", target: "a" }, { target: "b" }]);
  expect(read("e.ndjson").match(/"event":"end","target":"[ab]"/gu)).toHaveLength(2);
  expect(read("m.prom").match(/^dimsync_exit_code\{.*\} 0$/gmu)).toHaveLength(2);
  expect(outputs()).toMatchObject({
    has_changes: "true",
    exit_code: "0",
    plan_file: "",
    summary_line: "Apply on a: 2 done · Apply on b: 2 done",
  });
  expect(git("log", "--format=%s", "-2", "origin/main").trim().split("\n")).toEqual([
    "dimsync: record ids of b",
    "dimsync: record ids of a",
  ]);
});

test("an apply that has nothing to do tells it once, and its outputs still tell what the first target did", async () => {
  const { run, outputs, summary, forgetOutputs } = startCheckout();
  await run("apply", "-t", "b");
  forgetOutputs();
  expect((await run("apply", "-t", "a", "-t", "b")).code).toBe(0);
  expect(outputs()["has_changes"]).toBe("true");
  expect(summary().match(/^## .*target|^## .*`b`.*$/gmu)).toEqual(["## Plan for `b`: no changes"]);
});

test("a target that isn't there is found before another one is written to", async () => {
  const { run, read } = startCheckout();
  const { code, stdout } = await run("apply", "-t", "a", "-t", "nowhere");
  expect(code).toBe(1);
  expect(stdout).toMatch(/^::error title=E_UNKNOWN_TARGET[^\n]*file=dimsync\.yaml,line=4/u);
  expect(() => read("dimsync.bindings.yaml")).toThrow("ENOENT");
});

test("bindings that are uploaded don't stand in the way of the next target", async () => {
  const { run, outputs, work } = startCheckout();
  const { code, stderr } = await run("apply", "-t", "a", "-t", "b", "--bindings", "upload");
  expect(code, stderr).toBe(0);
  expect(outputs()["bindings_file"]).toBe(join(work, "dimsync.bindings.yaml"));
});

test("bindings that git ignores are not taken for unchanged", async () => {
  const { run, outputs } = startCheckout(".dimsync/\n*.bindings.yaml\n");
  const { code, stderr } = await run("apply", "-t", "a");
  expect(code).toBe(4);
  expect(stderr).toContain(
    "E_BINDINGS_NOT_PUSHED: The ids that apply recorded could not be pushed. A .gitignore keeps git from committing",
  );
  expect(outputs()).toMatchObject({ exit_code: "4", bindings_file: expect.stringMatching(/dimsync\.bindings\.yaml$/u) });
});

test("stdout of another format is that format's alone, and the step has its outputs and its annotations", async () => {
  const { run, outputs, summary, work } = startCheckout();
  const applied = await run("apply", "-t", "a", "-o", "json");
  expect(JSON.parse(applied.stdout)).toMatchObject({ kind: "Result", target: "a" });
  expect(outputs()).toMatchObject({ has_changes: "true", exit_code: "0" });
  expect(summary()).toContain("## Apply on `a`: 2 done");
  mkdirSync(join(work, "manifests/more"));
  writeFileSync(join(work, "manifests/more/tag.yaml"), "apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: pii }\nspec: { nme: PII }\n");
  const planned = await run("plan", "-t", "a", "-o", "json");
  expect(JSON.parse(planned.stdout)).toMatchObject({ kind: "Plan", exit: { code: 1 } });
  expect(planned.stderr).toMatch(/^::error title=E_UNKNOWN_KEY[^\n]*file=manifests\/more\/tag\.yaml,line=4/mu);
  expect(outputs()["exit_code"]).toBe("1");
});

test("a plan that could not be written into its comment takes no other target's plan away", async () => {
  const forge = await startForge();
  const { runInRequest, outputs, summary } = startCheckout();
  forge.refuse = { matches: /^POST/u, status: 502, times: 1 };
  const { code, stderr } = await runInRequest(forge.url, "plan", "-t", "a", "-t", "b");
  expect(code).toBe(1);
  expect(stderr).toContain("E_FORGE: GitHub answered POST");
  expect(outputs()).toMatchObject({ has_changes: "true", exit_code: "0" });
  expect(summary()).not.toContain("E_FORGE");
  expect(forge.comments.get(7)?.map(({ body }) => body.split("\n").slice(0, 2))).toEqual([
    [markerOf("plan", "", "b"), expect.stringMatching(/^## Plan for `b`/u)],
  ]);
});

test("a job of one target that fails leaves the comments of the others alone", async () => {
  const forge = await startForge();
  const { runInRequest, work } = startCheckout();
  await runInRequest(forge.url, "plan", "-t", "a", "-t", "b");
  writeFileSync(join(work, "dimsync.yaml"), "kind: [\n");
  await runInRequest(forge.url, "plan", "-t", "a");
  expect(forge.comments.get(7)?.map(({ body }) => body.split("\n")[1])).toEqual(["## No plan", expect.stringMatching(/^## Plan for `b`/u)]);
});

test("an issue that could not be opened leaves the next target its own, and one that can't be fails its job by drift alone", async () => {
  const forge = await startForge();
  const { runInRequest } = startCheckout();
  forge.refuse = { matches: /^POST/u, status: 502, times: 1 };
  expect((await runInRequest(forge.url, "drift", "-t", "a", "-t", "b")).code).toBe(1);
  expect(forge.issues).toMatchObject([{ state: "open", body: expect.stringContaining(markerOf("drift", "", "b")) }]);
  forge.refuse = { matches: /issues$/u, status: 410, times: 9, message: "Issues are disabled for this repo" };
  const { code, stderr } = await runInRequest(forge.url, "drift", "-t", "a");
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining("(Issues are disabled for this repo). It is switched off there. The report is in"),
  ]);
});

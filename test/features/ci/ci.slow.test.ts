// `dimsync ci` in a checkout with a bare remote, for two protected targets that are separate accounts.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { commentMarker, driftMarker } from "../../../src/features/ci/comments.ts";
import { dimsync } from "../../cli/built-cli.ts";
import { selfSigned } from "../../core/service/certificate.ts";
import { proxyTo } from "../../core/service/connect-proxy.ts";
import { runCommand } from "../../support/command.ts";
import { gitEnv } from "../../support/git/env.ts";
import { commitAll, repositoryIn } from "../../support/git/remote.ts";
import { ordersManifest } from "../../support/orders.ts";
import { writeProject } from "../../support/project-folder.ts";
import { outputsIn } from "./action-runner.ts";
import { githubToken, startGithub } from "./github-stand-in.ts";

const ofRepository = { repository: { default_branch: "main" } };

function startCheckout() {
  const root = writeProject({
    "work/dimsync.yaml": `apiVersion: dimsync/v1
kind: Config
manifests: [manifests]
targets:
  a: { baseUrl: "embedded:a.json", protected: true }
  b: { baseUrl: "embedded:b.json", protected: true }
`,
    "work/manifests/orders.yaml": ordersManifest("email: { hashed: true }"),
    "work/.gitignore": ".dimsync/\ndimsync.bindings.yaml\n[ab].json*\n",
    "temp/event.json": JSON.stringify(ofRepository),
  });
  const [work, remote, temp] = [join(root, "work"), join(root, "remote.git"), join(root, "temp")];
  const git = repositoryIn(work, remote);
  const env = {
    ...gitEnv,
    GITHUB_ACTIONS: "true",
    GITHUB_EVENT_NAME: "push",
    GITHUB_REPOSITORY: "example/data",
    GITHUB_REF: "refs/heads/main",
    GITHUB_EVENT_PATH: join(temp, "event.json"),
    GITHUB_OUTPUT: join(temp, "output"),
    GITHUB_STEP_SUMMARY: join(temp, "summary"),
    GITHUB_WORKSPACE: work,
    RUNNER_TEMP: temp,
  };
  /** The variables of a job for pull request 7, from a branch of this repository or of a fork. */
  const requestEnv = (url: string, repository = "example/data", event: object = ofRepository) => {
    const pull = { number: 7, head: { repo: { full_name: repository } }, base: { ref: "main" } };
    writeFileSync(env.GITHUB_EVENT_PATH, JSON.stringify({ ...event, pull_request: pull }));
    return { ...env, GITHUB_EVENT_NAME: "pull_request", GITHUB_API_URL: url, GITHUB_TOKEN: githubToken };
  };
  const read = (path: string): string => readFileSync(join(work, path), "utf8");
  return {
    work,
    git,
    read,
    run: (...argv: readonly string[]) => runCommand(["ci", ...argv], work, env),
    requestEnv,
    /** In pull request 7, with the comments of the stand-in. */
    runInRequest: (url: string, ...argv: readonly string[]) => runCommand(["ci", ...argv], work, requestEnv(url)),
    /** A plan in a pull request of this repository by this user. */
    runFor: (url: string, { repository = "example/data", actor = "dana" }) =>
      runCommand(["ci", "plan", "-t", "a"], work, { ...requestEnv(url, repository), GITHUB_ACTOR: actor }),
    /** The names of the outputs, as often as they were written. */
    outputNames: () => [...readFileSync(env.GITHUB_OUTPUT, "utf8").matchAll(/^(\w+)<<dimsync_/gmu)].map(([, name]) => name),
    outputs: () => Object.fromEntries(outputsIn(readFileSync(env.GITHUB_OUTPUT, "utf8"))),
    summary: () => readFileSync(env.GITHUB_STEP_SUMMARY, "utf8"),
    forgetOutputs: () => {
      for (const file of [env.GITHUB_OUTPUT, env.GITHUB_STEP_SUMMARY]) rmSync(file, { force: true });
    },
  };
}

test("apply of two protected targets writes one file per format, and the outputs cover both", async () => {
  const { run, read, outputs, outputNames } = startCheckout();
  const files = ["markdown=r.md", "json=r.json"].flatMap((output) => ["-o", output]);
  const { code, stderr } = await run("apply", "-t", "a", "-t", "b", ...files);
  expect(code, stderr).toBe(0);
  expect(read("r.md").match(/^## Apply on .*/gmu)).toHaveLength(2);
  expect(JSON.parse(read("r.json"))).toMatchObject([{ kind: "Result", target: "a" }, { target: "b" }]);
  expect(outputs()).toMatchObject({
    has_changes: "true",
    exit_code: "0",
    plan_file: "",
    summary_line: "Apply on a: 2 done · Apply on b: 2 done",
  });
  expect(outputNames(), "each once").toEqual(["has_changes", "exit_code", "plan_file", "summary_line", "artifact_suffix"]);
});

test("apply --protect-only of a protected target sends what protects and fails while something is held", async () => {
  const { run, work, git, outputs, forgetOutputs } = startCheckout();
  const held = "apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: gold }\nspec: { name: Gold, description: the best }\n";
  writeFileSync(join(work, "manifests/gold.yaml"), held);
  commitAll(work, "describe a tag");
  git("push", "--quiet", "origin", "main");
  expect((await run("apply", "-t", "a", "--protect-only")).code).toBe(4);
  expect(outputs()).toMatchObject({ exit_code: "4", summary_line: "Apply on a: 3 done, 1 held" });
  forgetOutputs();
  expect((await run("apply", "-t", "a", "--protect-only")).code, "nothing but the held item is left").toBe(4);
  expect(outputs()).toMatchObject({ summary_line: "Apply on a: 1 held" });
  expect((await run("drift", "-t", "a", "--protect-only")).code).toBe(1);
});

test("a target without changes is reported once, and the outputs still show what the first target did", async () => {
  const { run, outputs, summary, forgetOutputs } = startCheckout();
  await run("apply", "-t", "b");
  forgetOutputs();
  expect((await run("apply", "-t", "a", "-t", "b")).code).toBe(0);
  expect(outputs()["has_changes"]).toBe("true");
  expect(summary().match(/^## .*target|^## .*`b`/gmu)).toEqual(["## `b`"]);
});

test("an unknown target is reported before another one is written to", async () => {
  const { run, read } = startCheckout();
  const { code, stdout } = await run("apply", "-t", "a", "-t", "nowhere");
  expect(code).toBe(1);
  expect(stdout).toMatch(/^::error title=E_UNKNOWN_TARGET[^\n]*file=dimsync\.yaml,line=4/u);
  expect(() => read("dimsync.bindings.yaml")).toThrow("ENOENT");
});

test("stdout belongs to the format that asks for it, and the step still has outputs and annotations", async () => {
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

test("a comment that cannot be written is a warning: the plan and its exit code stay as they are", async () => {
  const github = await startGithub();
  const { runInRequest, outputs, summary } = startCheckout();
  github.refuse = { matches: /^POST .*comments$/u, status: 422, times: 1, message: "Validation Failed" };
  const { code, stderr } = await runInRequest(github.url, "plan", "-t", "a", "-t", "b");
  expect(code, stderr).toBe(0);
  expect(stderr).toMatch(
    /^::warning title=dimsync%3A E_FORGE::GitHub answered POST \S+ with 422 \(Validation Failed\)\..*not in a comment\.$/mu,
  );
  expect(outputs()).toMatchObject({ has_changes: "true", exit_code: "0", artifact_suffix: "a-b" });
  expect(summary()).not.toContain("E_FORGE");
  expect(github.comments.get(7)).toEqual([]);
});

test("GitHub is reached through the proxy of HTTPS_PROXY", async () => {
  const certificate = selfSigned("github.example.com");
  const github = await startGithub(certificate);
  const proxy = await proxyTo(github.port);
  const { work, requestEnv } = startCheckout();
  writeFileSync(join(work, "../ca.pem"), certificate.cert);
  const env = {
    ...requestEnv("https://github.example.com"),
    HTTPS_PROXY: proxy.url,
    // Node reads this variable only at its start, so the built command line runs in its own process.
    NODE_EXTRA_CA_CERTS: join(work, "../ca.pem"),
  };
  const { code, stderr } = await dimsync(["ci", "plan", "-t", "a"], { cwd: work, env });
  expect(code, stderr).toBe(0);
  expect(github.comments.get(7)).toHaveLength(1);
  expect(new Set(proxy.tunnels.map(({ target }) => target))).toEqual(new Set(["github.example.com:443"]));
});

describe("a pull request that sends the key of one of two targets elsewhere", () => {
  const startRequest = async () => {
    const github = await startGithub();
    const checkout = startCheckout();
    const config = checkout.read("dimsync.yaml").replace("embedded:b.json", "https://elsewhere.example.com");
    writeFileSync(join(checkout.work, "dimsync.yaml"), config);
    const plan = (event: object | undefined, ...argv: readonly string[]) =>
      runCommand(["ci", "plan", "-t", "a", "-t", "b", ...argv], checkout.work, checkout.requestEnv(github.url, "example/data", event));
    return { ...checkout, plan, comments: () => github.comments.get(7)?.map(({ body }) => body.split("\n")) };
  };

  test("is planned for the other one, and the job fails and says why there is no plan for this one", async () => {
    const { plan, comments, outputs, outputNames, summary } = await startRequest();
    const { code, stdout, stderr } = await plan(undefined, "-o", "json=plan.json");
    expect(code, stderr).toBe(1);
    expect(stdout).toContain("a (apply will refuse it");
    expect(stdout).toMatch(/^::error title=E_TARGET_CHANGED[^\n]*file=dimsync\.yaml,line=6/mu);
    expect(stderr).toContain('Target "b" differs from the branch that apply watches');
    expect(comments()).toEqual([[commentMarker(""), ...Array((comments()?.[0] ?? []).length - 1).fill(expect.anything())]]);
    expect(comments()?.[0]?.slice(1, 3)).toEqual([
      expect.stringMatching(/^<!-- dimsync:target:a -->$/u),
      expect.stringMatching(/^## `a` \(apply will refuse it: uncommitted/u),
    ]);
    expect(comments()?.[0]?.slice(-6)).toEqual([
      "<!-- dimsync:target:b -->",
      "## No plan for `b`",
      "",
      expect.stringMatching(/^`E_TARGET_CHANGED dimsync\.yaml:6:8`: Target "b" differs from the branch .* no secret was read/u),
      "<!-- dimsync:end -->",
      "Written by dimsync.",
    ]);
    expect(outputs()).toMatchObject({ has_changes: "true", exit_code: "1", artifact_suffix: "a-b" });
    expect(new Set(outputNames()).size, "each once").toBe(outputNames().length);
    expect(summary()).toMatch(/## `a`[\s\S]*## No plan for `b`\n\n`E_TARGET_CHANGED dimsync\.yaml:6:8`/u);
    expect(summary()).not.toContain("invalid");
  });

  test("is planned for none if it changes the webhook of all", async () => {
    const { plan, work, read } = await startRequest();
    const config = read("dimsync.yaml").replace("https://elsewhere.example.com", "embedded:b.json");
    writeFileSync(join(work, "dimsync.yaml"), `${config}notify: { url: { $secret: { env: DIMSYNC_API_KEY } } }\n`);
    const { code, stderr } = await plan(undefined);
    expect([code, stderr.match(/differs from the branch that apply watches: notify\./gu)?.length], stderr).toEqual([1, 2]);
  });

  test("is planned for none if the job does not say which branch apply watches", async () => {
    const { plan, comments } = await startRequest();
    const { code, stdout, stderr } = await plan({});
    expect([code, stdout]).toEqual([1, expect.not.stringMatching(/^a[: ]/mu)]);
    expect(stderr).toMatch(/^dimsync: E_BASE_UNREADABLE: The job does not say which branch apply watches, so dimsync/mu);
    const expected = ["## No plan for `b`", "", expect.stringMatching(/^`E_BASE_UNREADABLE`: The job does not say/u)];
    expect(comments()?.[0]?.slice(-5, -2)).toEqual(expected);
  });
});

test("a pull request fails if something is blocked, and is annotated only at the lines that it touches", async () => {
  const github = await startGithub();
  const { work, git, requestEnv } = startCheckout();
  const rule = (name: string, table: string, priority: number): string =>
    `apiVersion: dimsync/v1\nkind: SchemaConfig\nmetadata: { name: ${name} }\nspec: { integration: orders, priority: ${priority}, rules: [{ match: { table: ${table} }, set: { enabled: true } }] }\n`;
  writeFileSync(join(work, "manifests/before.yaml"), rule("before", "x*", 5));
  commitAll(work, "before");
  git("push", "--quiet", "origin", "main");
  const env = requestEnv(github.url);
  writeFileSync(join(work, "manifests/after.yaml"), `# new\n${rule("after", "y*", 7)}`);
  writeFileSync(
    join(work, "manifests/gold.yaml"),
    "apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: no-such-tag }\nspec: { name: no-such-tag }\n",
  );
  git("add", "--all");
  const plan = (...argv: readonly string[]) => runCommand(["ci", "plan", "-t", "a", ...argv], work, env);
  const { code, stdout } = await plan();
  expect([code, stdout], stdout).toEqual([2, expect.stringContaining("Exit 2")]);
  expect([...stdout.matchAll(/^::\w+ title=([EW]_\w+)[^\n]*?,file=([^,:]+),/gmu)].map(([, of, file]) => [of, file])).toEqual([
    ["W_NO_MATCH", "manifests/after.yaml"],
  ]);
  expect(stdout).toContain("::error title=E_TAG_MISSING%3A Blocked::Tag/no-such-tag is blocked.");
  expect((await plan("--fail-on", "policy")).code).toBe(0);
  const accepted = await plan("--fail-on", "");
  expect(accepted).toMatchObject({ code: 0, stdout: expect.stringContaining("::warning title=E_TAG_MISSING%3A Blocked::") });
});

test("a pull request is compared with its base: the comment says what it no longer manages, and what someone changed in the account", async () => {
  const github = await startGithub();
  const { work, git, read, run, requestEnv } = startCheckout();
  const forum = `apiVersion: dimsync/v1
kind: Integration
metadata: { name: forum, id: "51a1" }
spec: {}
---
apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: forum }
spec: { integration: forum, rules: [{ match: { column: "*" }, set: { enabled: true } }] }
`;
  writeFileSync(join(work, "manifests/forum.yaml"), forum);
  // The base has the same account.
  writeFileSync(join(work, "dimsync.yaml"), read("dimsync.yaml").replace("embedded:a.json", "embedded:a.json"));
  commitAll(work, "manage the forum");
  git("push", "--quiet", "origin", "main");
  expect((await run("apply", "-t", "a")).code).toBe(0);
  const account = read("a.json");
  writeFileSync(
    join(work, "a.json"),
    account.replaceAll('"hashed": true', '"hashed": false').replaceAll('"hashed":true', '"hashed":false'),
  );
  git("switch", "--quiet", "--create", "feature");
  rmSync(join(work, "manifests/forum.yaml"));
  git("commit", "--quiet", "--all", "--message", "leave the forum");
  const { path, commands } = recordGit(work);
  const env = { ...requestEnv(github.url), PATH: path };
  expect(await runCommand(["ci", "plan", "-t", "a"], work, env)).toMatchObject({ code: 0, stderr: "dimsync: comment for a: created\n" });
  const [comment] = github.comments.get(7) ?? [];
  expect(comment?.body).toMatch(
    /`Integration\/forum` `released`<br>It is not managed any more, with \d+ columns?\. dimsync sends nothing/u,
  );
  expect(comment?.body).toMatch(/^## `a`.*: this pull request changes nothing; \d+ outside changes? (?:is|are) undone/mu);
  // Each start takes milliseconds. ls-files lists what is tracked below .dimsync and what git ignores; cat-file prints the commits, the files of the base, and what lines are compared with.
  const once = ["diff-tree", "fetch", "ls-files", "ls-files", "ls-tree", "remote", "rev-parse"];
  expect(commands()).toEqual(["cat-file", "cat-file", "cat-file", ...once]);
});

/** A folder for PATH with a program git that notes its command before it runs the real one. The state of the checkout is asked with the PATH of the process. */
function recordGit(work: string) {
  const [bin, log] = [join(work, ".git/bin"), join(work, ".git/commands")];
  const { PATH = "" } = process.env;
  const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  mkdirSync(bin);
  writeFileSync(join(bin, "git"), `#!/bin/sh\nprintf '%s\\n' "$*" >>'${log}'\nexec '${real}' "$@"\n`, { mode: 0o755 });
  const commandIn = (line: string): string => line.replaceAll(/-c \S+ |--(?:no|work)-\S+ /gu, "").split(" ")[0] ?? "";
  return { path: `${bin}:${PATH}`, commands: () => readFileSync(log, "utf8").trim().split("\n").map(commandIn).sort() };
}

test("a failed job of one target leaves the sections of other targets unchanged", async () => {
  const github = await startGithub();
  const { runInRequest, work } = startCheckout();
  await runInRequest(github.url, "plan", "-t", "a", "-t", "b");
  writeFileSync(join(work, "dimsync.yaml"), "kind: [\n");
  await runInRequest(github.url, "plan", "-t", "a");
  expect(github.comments.get(7)?.map(({ body }) => body.match(/^## .*/gmu))).toEqual([
    ["## No plan for `a`", expect.stringMatching(/^## `b`/u)],
  ]);
});

test("a target that cannot be read fails the drift job, and the other one is in its issue", async () => {
  const github = await startGithub();
  const { runInRequest, work, read } = startCheckout();
  writeFileSync(join(work, "dimsync.yaml"), read("dimsync.yaml").replace("embedded:b.json", "https://b.example.com"));
  const { code, stderr } = await runInRequest(github.url, "drift", "-t", "a", "-t", "b");
  expect([code, stderr]).toEqual([1, expect.stringContaining('E_NO_API_KEY: No API key is set for target "b".')]);
  expect(github.issues).toMatchObject([
    { state: "open", body: expect.stringContaining(driftMarker("", "a")) },
    { state: "open", title: "b: no drift report (E_NO_API_KEY)", body: expect.stringContaining("No API key is set for target") },
  ]);
  // The report of an earlier day says more than a failure.
  const [{ body } = { body: "" }] = github.issues;
  writeFileSync(join(work, "dimsync.yaml"), read("dimsync.yaml").replace("embedded:a.json", "https://a.example.com"));
  await runInRequest(github.url, "drift", "-t", "a", "-t", "b");
  expect(github.issues.map((issue) => issue.body === body)).toEqual([true, false]);
});

test("the drift job succeeds if what violates a policy is in an issue, and fails without one", async () => {
  const github = await startGithub();
  const { runInRequest, work } = startCheckout();
  const policy = `apiVersion: dimsync/v1
kind: Policy
metadata: { name: hash-all }
spec: { severity: error, when: { column: { name: "*" } }, require: { hashed: true }, message: Hash it. }
`;
  writeFileSync(join(work, "manifests/policy.yaml"), policy);
  expect((await runInRequest(github.url, "drift", "-t", "a", "--no-issue")).code).toBe(3);
  const { code, stderr } = await runInRequest(github.url, "drift", "-t", "a");
  expect(code, stderr).toBe(0);
  expect(github.issues).toMatchObject([{ state: "open", title: expect.stringMatching(/\d+ policy findings/u) }]);
});

test("an issue that cannot be opened leaves the others, and the job fails only because of the drift", async () => {
  const github = await startGithub();
  const { runInRequest } = startCheckout();
  github.refuse = { matches: /^POST .*issues$/u, status: 422, times: 1 };
  expect((await runInRequest(github.url, "drift", "-t", "a", "-t", "b")).code).toBe(2);
  expect(github.issues).toMatchObject([{ state: "open", body: expect.stringContaining(driftMarker("", "b")) }]);
  github.refuse = { matches: /issues$/u, status: 410, times: 9, message: "Issues are disabled for this repo" };
  const { code, stderr } = await runInRequest(github.url, "drift", "-t", "a");
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining("(Issues are disabled for this repo). The feature is switched off there. The report is in"),
  ]);
});

describe("a saved plan", () => {
  test("is applied as it was saved, once", async () => {
    const { run, outputs, forgetOutputs } = startCheckout();
    expect((await run("plan", "-t", "a", "--out", "../plan.json")).code).toBe(0);
    forgetOutputs();
    const { code, stderr } = await run("apply", "../plan.json", "-t", "a");
    expect(code, stderr).toBe(0);
    expect(outputs()).toMatchObject({ has_changes: "true", summary_line: "Apply on a: 2 done", artifact_suffix: "a" });
    expect((await run("apply", "../plan.json", "-t", "a")).code).toBe(5);
  });

  test("is for one target, and only apply takes it", async () => {
    const { run } = startCheckout();
    expect((await run("apply", "plan.json", "-t", "a", "-t", "b")).stderr).toContain("A saved plan is for one target.");
    expect((await run("drift", "plan.json")).stderr).toContain("dimsync ci drift takes no file.");
  });
});

test.each(["fork", "Dependabot"])("a pull request of %s without a key is only validated, and the job succeeds", async (author) => {
  const github = await startGithub();
  const { runFor } = startCheckout();
  const { code, stdout, stderr } = await runFor(
    github.url,
    author === "fork" ? { repository: "other/data" } : { actor: "dependabot[bot]" },
  );
  expect(code, stderr).toBe(0);
  expect(stderr).toContain("nothing is compared with the account");
  expect(stdout).toContain("no problems found");
  expect(github.calls).toEqual([]);
});

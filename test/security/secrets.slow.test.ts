// A branch is data: it does not run code, and it does not choose which secret is read or where it is sent.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type EmbeddedService, seedAccount, startEmbeddedService } from "../../src/embedded/index.ts";
import { dimsync, emptyFolder } from "../cli/built-cli.ts";
import { githubToken, startGithub } from "../features/ci/github-stand-in.ts";
import { startRepository } from "../features/ci/rehearsal-job.ts";
import { gitEnv } from "../support/git/env.ts";
import { git } from "../support/git/remote.ts";
import { serve } from "../support/loopback.ts";
import { ordersManifest } from "../support/orders.ts";
import { startReviewedRepository } from "./pull-request.ts";

const key = "canary-key-81";
let service: EmbeddedService;
beforeAll(async () => {
  service = await startEmbeddedService({ apiKeys: { [key]: "bot@example.com" } });
  return () => service.close();
});

const orders = { "manifests/orders.yaml": ordersManifest("email: { hashed: true }") };
const described = (description: string): string => `apiVersion: dimsync/v1
kind: Tag
metadata: { name: note }
spec: { name: PII, description: ${JSON.stringify(description)} }
`;

/** A service of an attacker. */
const startThief = () => serve((_, response) => response.writeHead(500).end());

interface Target {
  readonly baseUrl?: string;
  readonly apiKey?: string;
  /** More members of the target. */
  readonly more?: string;
}

const configText = ({ baseUrl = service.url, apiKey = "env: DIMSYNC_API_KEY", more = "" }: Target = {}): string => `apiVersion: dimsync/v1
kind: Config
manifests: [manifests]
targets:
  prod:
    baseUrl: ${baseUrl}
    apiKey: { $secret: { ${apiKey} } }
${more}client: { retries: 0, timeoutSeconds: 5 }
`;

/** A pull request of this repository, in a job of GitHub Actions that has the key. */
async function pullRequest(base: Readonly<Record<string, string>>, branch: Readonly<Record<string, string>>) {
  const github = await startGithub();
  const repository = startRepository({ "dimsync.yaml": configText(), ".gitignore": ".dimsync/\n", ...orders, ...base });
  repository.commit("feature", branch);
  const workspace = repository.checkout("feature");
  const temp = join(repository.root, "temp");
  mkdirSync(temp);
  const event = join(temp, "event.json");
  const pull = {
    number: 7,
    head: { repo: { full_name: "example/data" } },
    base: { ref: "main", sha: git(workspace, "rev-parse", "origin/main") },
  };
  writeFileSync(event, JSON.stringify({ pull_request: pull, repository: { default_branch: "main" } }));
  const env = {
    ...gitEnv,
    ...{ CI: "true", GITHUB_ACTIONS: "true", GITHUB_ACTOR: "dana", GITHUB_API_URL: github.url, GITHUB_TOKEN: githubToken },
    ...{ GITHUB_BASE_REF: "main", GITHUB_EVENT_PATH: event, GITHUB_REF: "refs/pull/7/merge", GITHUB_REPOSITORY: "example/data" },
    ...{ GITHUB_OUTPUT: join(temp, "output"), GITHUB_STEP_SUMMARY: join(temp, "summary"), GITHUB_WORKSPACE: workspace, RUNNER_TEMP: temp },
    DIMSYNC_API_KEY: key,
  };
  const plan = (more: Readonly<Record<string, string>> = {}) => dimsync(["ci", "plan"], { cwd: workspace, env: { ...env, ...more } });
  const run = (flags: readonly string[], cwd: string) => dimsync(["ci", "plan", ...flags], { cwd, env });
  return { plan, run, workspace, temp, comments: () => (github.comments.get(7) ?? []).map(({ body }) => body).join("\n") };
}

describe(`attack 5: a branch prints a value of the environment with \${env.NAME}`, () => {
  test("plan and the comment refuse it without its value", async () => {
    const { plan, comments } = await pullRequest({}, { "manifests/note.yaml": described(`see \${env.DIMSYNC_API_KEY}`) });
    const { code, stdout, stderr } = await plan();
    expect(stdout + stderr + comments()).not.toContain(key);
    expect(code).toBe(1);
    expect(stdout).toContain("manifests/note.yaml:4:");
    for (const text of [stdout, comments()]) expect(text).toContain("E_WRONG_SUBSTITUTION");
  });

  const places: Readonly<Record<string, () => Readonly<Record<string, string>>>> = {
    "a pattern that differs in the job that applies": () => ({
      "manifests/orders.yaml": ordersManifest("email: { hashed: true }").replace(
        / {2}schemas:.*\n/u,
        `  rules: [{ match: { column: "*email*\${env.GITHUB_HEAD_REF}" }, set: { hashed: false } }]\n`,
      ),
    }),
    "variables without the name of a secret": () => ({
      "manifests/note.yaml": described(`\${env.DB_PASS} \${env.DATABASE_URL} \${env.SSH_KEY}`),
    }),
    "a variable of the config": () => ({
      "dimsync.yaml": `${configText()}vars: { note: "\${env.DB_PASS}" }\n`,
      "manifests/note.yaml": described(`\${var.note}`),
    }),
    "a setting of the config": () => ({ "dimsync.yaml": `${configText()}guards: { maxExposedColumns: "\${env.GITHUB_RUN_NUMBER}" }\n` }),
  };
  const env = {
    ...{ DIMSYNC_API_KEY: key, DB_PASS: "canary-1", DATABASE_URL: "postgres://u:canary-2@h/db", SSH_KEY: "canary-3" },
    ...{ GITHUB_HEAD_REF: "canary-4", GITHUB_RUN_NUMBER: "4211", XDG_CACHE_HOME: "" },
  };
  test.each(Object.entries(places))("%s", async (_, files) => {
    const cwd = emptyFolder({ "dimsync.yaml": configText(), ...orders, ...files() });
    for (const argv of [["validate"], ["plan", "-o", "markdown"], ["drift"]]) {
      const { code, stdout, stderr } = await dimsync(argv, { cwd, env });
      expect([code, stdout + stderr]).toEqual([1, expect.stringContaining("E_WRONG_SUBSTITUTION")]);
      expect(stdout + stderr).not.toMatch(/canary-|4211/u);
    }
  });
});

describe("attack 8: a branch names a file outside the repository", () => {
  test.each([
    ["the environment of the process", () => "/proc/self/environ"],
    ["a file with a token", () => `${emptyFolder({ "npmrc.yaml": "//registry/:_authToken=canary-file-3d: [\n" })}/npmrc.yaml`],
  ])("%s is in no log, comment or summary", async (_, path) => {
    const config = configText().replace("manifests: [manifests]", `manifests: [manifests, ${path()}]`);
    const { plan, temp, comments } = await pullRequest({}, { "dimsync.yaml": config });
    const { code, stdout, stderr } = await plan();
    expect(stdout + stderr).toContain("E_PATH_OUTSIDE");
    expect(code).toBe(1);
    for (const text of [stdout + stderr, comments(), readFileSync(join(temp, "summary"), "utf8")])
      for (const secret of [key, "canary-file-3d", githubToken]) expect(text).not.toContain(secret);
  });
});

describe("attack 7: a branch sends a secret elsewhere", () => {
  test("the key does not go to another host", async () => {
    const thief = await startThief();
    const { plan, comments } = await pullRequest({}, { "dimsync.yaml": configText({ baseUrl: thief.url }) });
    const { code, stderr } = await plan();
    expect(thief.received).toEqual([]);
    expect(code).toBe(1);
    expect(stderr).toContain("dimsync.yaml:6:");
    expect(stderr).toContain("E_TARGET_CHANGED");
    expect(comments()).not.toContain(key);
  });

  test.each([
    ["another variable", "env: OTHER_SECRET"],
    ["a file", "file: secret.txt"],
  ])("%s is not sent as the key", async (_, apiKey) => {
    const requests: string[] = [];
    const spied = await startEmbeddedService({ onExchange: ({ path }) => void requests.push(path) });
    onTestFinished(spied.close);
    const target = { baseUrl: spied.url };
    const { plan } = await pullRequest(
      { "dimsync.yaml": configText(target) },
      { "dimsync.yaml": configText({ ...target, apiKey }), "secret.txt": "in a file" },
    );
    const { code, stderr } = await plan({ DIMSYNC_API_KEY: "", OTHER_SECRET: "another secret of the job" });
    expect(requests).toEqual([]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("E_TARGET_CHANGED")]);
  });

  test.each([
    ["a variable file", { "vars.yaml": "host: HERE\n" }, { "vars.yaml": "host: THIEF\n" }, ["--var-file", "vars.yaml"]],
    [
      "the records",
      {},
      { "dimsync.yaml": configText({ baseUrl: "HERE", more: "    records: { postgres: { url: { $secret: { env: OTHER } }, id: x } }\n" }) },
      [],
    ],
  ] as const)("nor with %s", async (_, before, changes, flags) => {
    const thief = await startThief();
    const filled = (files: Readonly<Record<string, string>>) =>
      Object.fromEntries(
        Object.entries(files).map(([path, text]) => [path, text.replaceAll("HERE", service.url).replaceAll("THIEF", thief.url)]),
      );
    const isVariable = flags[0] === "--var-file";
    const files = {
      "dimsync.yaml": configText({ baseUrl: isVariable ? `\${var.host}` : service.url }),
    };
    const { run, workspace } = await pullRequest({ ...files, ...filled(before) }, filled(changes));
    const { code, stderr } = await run(flags, workspace);
    expect([code, stderr, thief.received]).toEqual([1, expect.stringContaining("E_TARGET_CHANGED"), []]);
  });

  test("a pull request that changes only manifests is planned, in a checkout of one commit too", async () => {
    const { run, workspace, comments } = await pullRequest({}, { "manifests/note.yaml": described("changed") });
    const shallow = emptyFolder();
    git(shallow, "clone", "--quiet", "--depth=1", "--branch=feature", `file://${workspace}`, "work");
    git(join(shallow, "work"), "remote", "set-url", "origin", git(workspace, "remote", "get-url", "origin"));
    for (const cwd of [workspace, join(shallow, "work")]) {
      const { code, stderr } = await run([], cwd);
      expect(code, stderr).toBe(0);
    }
    expect(comments()).toContain("changed");
  });

  test("nor does a host get the key that DIMSYNC_ALLOWED_HOSTS does not name", async () => {
    const thief = await startThief();
    const cwd = emptyFolder({ "dimsync.yaml": configText({ baseUrl: thief.url }), ...orders });
    const { code, stderr } = await dimsync(["plan"], {
      cwd,
      env: { DIMSYNC_API_KEY: key, DIMSYNC_ALLOWED_HOSTS: "api.example.com,*.example.org" },
    });
    expect(thief.received).toEqual([]);
    expect(code).toBe(1);
    expect(stderr).toContain("dimsync.yaml:6:");
    expect(stderr).toContain("E_HOST_NOT_ALLOWED");
  });

  test("nor does a second target get the key of the first", async () => {
    const thief = await startThief();
    const more = `  other: { baseUrl: "${thief.url}" }\n`;
    const cwd = emptyFolder({ "dimsync.yaml": configText({ more }), ...orders });
    const { code, stderr } = await dimsync(["plan", "-t", "other"], { cwd, env: { DIMSYNC_API_KEY: key } });
    expect(thief.received).toEqual([]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("E_NO_API_KEY")]);
  });
});

test("a key that the account contains is masked in every output", async () => {
  const state = seedAccount();
  const own = await startEmbeddedService({
    apiKeys: { [key]: "bot@example.com" },
    state: () => ({ ...state, tags: state.tags.map((tag) => ({ ...tag, description: `see ${key}` })) }),
  });
  onTestFinished(own.close);
  const { run, workspace, comments, temp } = await pullRequest(
    { "dimsync.yaml": configText({ baseUrl: own.url }) },
    { "manifests/note.yaml": described("changed") },
  );
  const { code, stdout, stderr } = await run(["--out", "plan.json", "-o", "json=plan.out.json", "-o", "html=plan.html"], workspace);
  expect(code, stderr).toBe(0);
  const files = ["plan.json", "plan.out.json", "plan.html"].map((name) => readFileSync(join(workspace, name), "utf8"));
  const texts = [stdout, comments(), ...files, readFileSync(join(temp, "summary"), "utf8")];
  for (const text of texts) expect([text.includes("***"), text.includes(key)]).toEqual([true, false]);
  expect(stderr).not.toContain(key);
});

/** A receiver of webhooks, which keeps what it gets. */
async function startReceiver() {
  const bodies: string[] = [];
  const { url } = await serve(({ body }, response) => {
    bodies.push(body);
    response.writeHead(204).end();
  });
  return { url: `${url}/hook`, bodies };
}

/** Selects integrations without the key in the manifest; their names are in addresses. */
const allIntegrations = `apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: all }
spec:
  integrations: { names: ["see *"] }
  rules: [{ id: pii, match: { column: email }, set: { hashed: true } }]
`;

test("a key that is part of a name is masked in results, events and webhooks", async () => {
  const state = seedAccount();
  const [first, ...rest] = state.integrations;
  if (first === undefined) throw new Error("The seed has no integration.");
  const own = await startEmbeddedService({
    apiKeys: { [key]: "bot@example.com" },
    state: () => ({ ...state, integrations: [{ ...first, name: `see ${key}` }, ...rest] }),
  });
  onTestFinished(own.close);
  const { url, bodies } = await startReceiver();
  const cwd = emptyFolder({
    "dimsync.yaml": `${configText({ baseUrl: own.url })}notify: { url: { $secret: { env: HOOK } } }\n`,
    "manifests/all.yaml": allIntegrations,
  });
  const env = { DIMSYNC_API_KEY: key, HOOK: url };
  const run = async (code: number, ...argv: readonly string[]) => {
    const ran = await dimsync(argv, { cwd, env });
    expect([ran.code, ran.code === code ? "" : ran.stdout + ran.stderr]).toEqual([code, ""]);
    return ran.stdout + ran.stderr;
  };
  const texts = [
    await run(2, "ci", "drift", "--no-issue", "-o", "human", "-o", "json=drift.json"),
    await run(0, "apply", "--yes", "-v", "--result", "result.json"),
    ...bodies,
    ...["drift.json", "result.json"].map((name) => readFileSync(join(cwd, name), "utf8")),
  ];
  expect(bodies).toHaveLength(1);
  expect(texts.map((text) => [text.includes("***"), text.includes(key)])).toEqual(texts.map(() => [true, false]));
});

test("git starts without the secrets of manifests, and a tracked .dimsync/ is refused in every pull request", async () => {
  const own = await startEmbeddedService({ apiKeys: { [key]: "bot@example.com" } });
  onTestFinished(own.close);
  const lake = `apiVersion: dimsync/v1
kind: Asset
metadata: { name: lake }
lifecycle: { create: ifMissing }
spec: { name: Lake, type: snowflake, connectionType: destination, connection: { password: { $secret: { env: LAKE } } } }
`;
  const files = { "dimsync.yaml": configText({ baseUrl: own.url }), "manifests/lake.yaml": lake };
  const { commit, checkout, plan, root } = await startReviewedRepository(key, files);
  commit("feature", { ".gitignore": "", ".dimsync/journal.ndjson": "" });
  const workspace = checkout("feature");
  git(workspace, "remote", "set-url", "origin", "ssh://git@example.com/data.git");
  const heard = join(root, "heard.txt");
  const program = join(root, "program.sh");
  writeFileSync(program, `#!/bin/sh\nenv > ${heard}\nexit 1\n`, { mode: 0o755 });
  const ran = await plan("feature", { env: { LAKE: "canary-lake-1", GIT_SSH_COMMAND: program } }, workspace);
  expect([ran.code, ran.output], ran.output).toEqual([1, expect.stringContaining("E_STATE_TRACKED")]);
  expect(readFileSync(heard, "utf8")).not.toMatch(/canary-lake-1|DIMSYNC_API_KEY/u);
});

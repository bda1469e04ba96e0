// What whoever can push a branch can try. The branch is checked out, as a CI job does it, and dimsync runs in it with the API key.
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { parse, stringify } from "yaml";
import { initGitRecords } from "../../src/core/records/git/index.ts";
import { dimsync, dimsyncHere, type Ended, emptyFolder } from "../cli/built-cli.ts";
import { gitEnv } from "../support/git/env.ts";
import { type GitHttp, gitHttp } from "../support/git/http.ts";
import { type GitRemote, git, gitRemote } from "../support/git/remote.ts";
import { configText, keyVariable } from "../support/project-folder.ts";
import { startService } from "../support/service.ts";

const apiKey = "canary-api-key";
const env = { ...gitEnv, [keyVariable]: apiKey };
const ref = "refs/dimsync/test";

/** A program that writes its environment to `heard`. */
function program(folder: string): { readonly path: string; readonly heard: string } {
  const [path, heard] = [join(folder, "..", "program.sh"), join(folder, "..", "heard.txt")];
  writeFileSync(path, `#!/bin/sh\nenv > ${heard}\nexit 1\n`, { mode: 0o755 });
  return { path, heard };
}

interface Checkout {
  readonly remote: GitRemote;
  readonly folder: string;
  /** Commits these files, even those that git ignores. */
  readonly commit: (files: Readonly<Record<string, string>>) => void;
}

/** A checkout of a project with one tag. `parts` are merged into dimsync.yaml. */
async function checkout(parts: Readonly<Record<string, unknown>> = {}): Promise<Checkout> {
  const service = await startService({ apiKeys: { [apiKey]: "bot@example.com" } });
  onTestFinished(() => service.close());
  const remote = gitRemote();
  const folder = remote.clone();
  const commit: Checkout["commit"] = (files) => {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    git(folder, "add", "--all", "--force");
    git(folder, "commit", "--quiet", "--allow-empty", "-m", "change");
  };
  const tag = "apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: pii }\nspec: { name: PII, description: d }\n";
  commit({ "dimsync.yaml": configText(service.url, parts), "manifests/tag.yaml": tag });
  return { remote, folder, commit };
}

/** A checkout whose records are in git. */
async function withRecords(): Promise<Checkout> {
  const found = await checkout();
  const { folder, commit } = found;
  const id = await initGitRecords({
    target: "test",
    remote: "origin",
    ref,
    ttlMs: 60_000,
    key: undefined,
    env: gitEnv,
    folder: found.remote.clone(),
  });
  const text = readFileSync(join(folder, "dimsync.yaml"), "utf8");
  commit({ "dimsync.yaml": text.replace(/^( +)baseUrl:/mu, `$1records: { git: { ref: ${ref}, id: "${id}" } }\n$1baseUrl:`) });
  return found;
}

const bareConfig = (settings: string): Readonly<Record<string, string>> => ({
  HEAD: "ref: refs/heads/main\n",
  "objects/.keep": "",
  "refs/.keep": "",
  config: `[core]\n\trepositoryformatversion = 0\n${settings}`,
});

const below = (folder: string, files: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(files).map(([path, text]) => [`${folder}/${path}`, text]));

test("git starts no filter of the checkout, and its programs get no key and no secret of a manifest", async () => {
  const { folder, commit } = await withRecords();
  const { path, heard } = program(folder);
  const asset =
    "apiVersion: dimsync/v1\nkind: Asset\nmetadata: { name: wh }\nspec: { name: wh, type: s3, connectionType: destination, connection: { dsn: { $secret: { env: WH_DSN } } } }\n";
  commit({ "manifests/asset.yaml": asset });
  git(folder, "push", "--quiet", "origin", "HEAD:main");
  git(folder, "config", "filter.x.clean", path);
  git(folder, "config", "core.sshCommand", path);
  writeFileSync(join(folder, ".gitattributes"), "*.yaml filter=x\n");
  writeFileSync(join(folder, "manifests/tag.yaml"), `${readFileSync(join(folder, "manifests/tag.yaml"), "utf8")}# y\n`);
  const secrets = { ...env, WH_DSN: "canary-dsn", DIMSYNC_DIGEST_KEY: "canary-digest" };
  await dimsyncHere(["plan"], { cwd: folder, env: secrets });
  expect(existsSync(heard)).toBe(false);
  git(folder, "config", "remote.origin.url", "ssh://git@example.com/project.git");
  await dimsyncHere(["plan"], { cwd: folder, env: secrets });
  expect(readFileSync(heard, "utf8")).not.toMatch(/canary|DIMSYNC_/u);
});

test.each<readonly [where: string, flags: readonly string[], isRefused: boolean]>([
  ["in the checkout", [], true],
  ["in the checkout, although its folder is allowed", ["--allow-path", "."], true],
  ["elsewhere on this machine", [], true],
  ["in a folder that is allowed", ["--allow-path", "ELSEWHERE"], false],
])("records in a repository %s: its hooks run only if the operator allowed it", async (where, flags, isRefused) => {
  const { remote, folder, commit } = await withRecords();
  const elsewhere = emptyFolder();
  const there = join(where.includes("checkout") ? folder : elsewhere, "r");
  git(folder, "clone", "--quiet", "--mirror", remote.bare, there);
  const { path, heard } = program(folder);
  mkdirSync(join(there, "hooks"), { recursive: true });
  symlinkSync(path, join(there, "hooks/pre-receive"));
  const text = readFileSync(join(folder, "dimsync.yaml"), "utf8");
  commit({ "dimsync.yaml": text.replace("git: { ref", `git: { remote: "file://${there}", ref`) });
  const argv = ["apply", "--yes", ...flags.map((flag) => flag.replace("ELSEWHERE", elsewhere))];
  const { stderr } = await dimsyncHere(argv, { cwd: folder, env });
  expect(stderr.includes("records.git.remote is")).toBe(isRefused);
  expect(existsSync(heard)).toBe(!isRefused);
  if (!isRefused) expect(readFileSync(heard, "utf8")).not.toMatch(/canary|DIMSYNC_/u);
});

test("an address of a remote that is an option of git starts no program", async () => {
  const { folder } = await withRecords();
  const { path, heard } = program(folder);
  git(folder, "config", "remote.origin.url", `--upload-pack=${path}`);
  const { code, stderr } = await dimsyncHere(["plan"], { cwd: folder, env });
  expect(existsSync(heard)).toBe(false);
  expect([code, stderr]).toEqual([1, expect.stringContaining("begins with a dash")]);
});

describe("a branch that tracks .dimsync/", () => {
  // In processes as in a job; the other tests run the sources.
  test.each([["plan"], ["drift"], ["ci", "plan"]])("runs no program in %s %s", async (...argv) => {
    const { remote, folder, commit } = await withRecords();
    const { path, heard } = program(folder);
    const settings = `\tbare = true\n[protocol "ext"]\n\tallow = always\n[url "ext::${path} "]\n\tinsteadOf = ${remote.bare}\n`;
    commit(below(".dimsync/records.git", bareConfig(settings)));
    const ran = await dimsync(argv, { cwd: folder, env });
    expect(existsSync(heard)).toBe(false);
    expect(ran.stderr).toContain("E_STATE_TRACKED");
    expect(ran.stderr).toContain(".dimsync/records.git/HEAD");
    expect(ran.stderr).toContain("git rm -r --cached .dimsync");
    expect(ran.code).toBe(1);
  });

  test.each<[string, (checkout: Checkout) => void]>([
    ["the journal", ({ commit }) => commit({ ".dimsync/journal.ndjson": "" })],
    [
      "a link that takes its place",
      ({ folder, commit }) => {
        commit({ "other/journal.ndjson": "" });
        symlinkSync("other", join(folder, ".dimsync"));
        commit({});
      },
    ],
  ])("is refused also for records in files: %s", async (_, change) => {
    const found = await checkout();
    change(found);
    expect(await dimsyncHere(["plan"], { cwd: found.folder, env })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("E_STATE_TRACKED"),
    });
  });

  test("is refused also if git is missing, which does not matter before", async () => {
    const { folder, commit } = await checkout();
    const withoutGit = { ...env, PATH: emptyFolder() };
    expect((await dimsyncHere(["plan"], { cwd: folder, env: withoutGit })).code).toBe(0);
    commit({ ".dimsync/journal.ndjson": "" });
    const { code, stderr } = await dimsyncHere(["plan"], { cwd: folder, env: withoutGit });
    expect([code, stderr]).toEqual([1, expect.stringContaining("E_STATE_TRACKED")]);
    expect(stderr).toContain("git could not be run");
    expect(stderr).toContain("Install git");
  });

  test("is not looked for in a folder that only looks like a checkout", async () => {
    const { folder } = await checkout();
    rmSync(join(folder, ".git"), { recursive: true });
    for (const name of [".git", ".dimsync"]) mkdirSync(join(folder, name));
    expect((await dimsyncHere(["plan"], { cwd: folder, env })).code).toBe(0);
  });

  test("is not confused with files that git ignores, or that another project has", async () => {
    const { folder, commit } = await checkout();
    commit({ "examples/.dimsync/journal.ndjson": "" });
    mkdirSync(join(folder, ".dimsync"));
    writeFileSync(join(folder, ".dimsync", "journal.ndjson"), "");
    expect((await dimsyncHere(["plan"], { cwd: folder, env })).stderr).not.toContain("E_STATE_TRACKED");
  });
});

describe("a folder that is a bare repository with core.fsmonitor", () => {
  const files = (path: string, workTree: string) => bareConfig(`\tbare = false\n\tworktree = ${workTree}\n\tfsmonitor = ${path}\n`);

  test("runs no program if dimsync runs in it", async () => {
    const { folder, commit } = await checkout();
    const { path, heard } = program(folder);
    const config = readFileSync(join(folder, "dimsync.yaml"), "utf8");
    const tag = readFileSync(join(folder, "manifests/tag.yaml"), "utf8");
    commit(below("team", { ...files(path, ".."), "dimsync.yaml": config, "manifests/tag.yaml": tag }));
    const planned = await dimsyncHere(["plan", "-o", "json"], { cwd: join(folder, "team"), env });
    expect(existsSync(heard)).toBe(false);
    // The state is that of the checkout.
    expect(JSON.parse(planned.stdout)).toMatchObject({ git: { commit: git(folder, "rev-parse", "HEAD"), dirty: false } });
  });

  test("runs no program if it is in no repository, as an unpacked archive is", async () => {
    const { folder } = await checkout();
    const { path, heard } = program(folder);
    const config = readFileSync(join(folder, "dimsync.yaml"), "utf8");
    const tag = readFileSync(join(folder, "manifests/tag.yaml"), "utf8");
    const cwd = emptyFolder({ ...files(path, "."), "dimsync.yaml": config, "manifests/tag.yaml": tag });
    const planned = await dimsyncHere(["plan", "-o", "json"], { cwd, env });
    expect(existsSync(heard)).toBe(false);
    expect(JSON.parse(planned.stdout)).not.toHaveProperty("git");
  });
});

const secret = "canary-outside";

/** A folder beside the checkout, as the home of the user or the machine's own files. */
function outsideFolder(folder: string): string {
  const outside = join(folder, "..", "outside");
  mkdirSync(outside, { recursive: true });
  // Each is a mistake on its first line wherever dimsync would read it.
  for (const name of ["token", "token.yaml", "token.json", "token.mjs"])
    writeFileSync(join(outside, name), `//registry/:_token=${secret}: [\n`);
  return outside;
}

const header = (kind: string): string => `apiVersion: dimsync/v1\nkind: ${kind}\nmetadata: { name: n }\n`;

describe("a path that leads out of the repository is refused, and nothing of the file is shown, if it is in", () => {
  const named: Readonly<Record<string, (outside: string, target: object) => Readonly<Record<string, unknown>>>> = {
    "manifests: a file": (outside) => ({ manifests: [`${outside}/token`] }),
    "manifests: a file in /proc": () => ({ manifests: ["/proc/self/environ"] }),
    "manifests: a folder": (outside) => ({ manifests: [outside] }),
    "manifests: a glob": (outside) => ({ manifests: [`${outside}/*.yaml`] }),
    "manifests: a relative path": () => ({ manifests: ["../outside/token"] }),
    "manifests: the configuration of git": () => ({ manifests: [".git/config"] }),
    bindings: (outside) => ({ bindings: `${outside}/token` }),
    catalog: (outside, target) => ({ targets: { test: { ...target, catalog: `${outside}/token` } } }),
  };
  test.each(Object.entries(named))("%s", async (_, parts) => {
    const found = await checkout();
    const outside = outsideFolder(found.folder);
    git(found.folder, "config", "http.extraHeader", secret);
    const config = parse(readFileSync(join(found.folder, "dimsync.yaml"), "utf8"));
    found.commit({ "dimsync.yaml": stringify({ ...config, ...parts(outside, config.targets.test) }) });
    await expectOutside(found, "dimsync.yaml:");
  });

  const manifests: Readonly<Record<string, (outside: string) => string>> = {
    "a CSV file of labels": (outside) => `${header("Classification")}spec: { from: [{ csv: { file: ${outside}/token } }] }\n`,
    "a manifest of dbt": (outside) =>
      `${header("Classification")}spec: { from: [{ dbt: { manifest: ${outside}/token.json, labelFrom: meta.label } }] }\n`,
  };
  test.each(Object.entries(manifests))("a manifest: %s", async (_, manifest) => {
    const found = await checkout();
    found.commit({ "manifests/more.yaml": manifest(outsideFolder(found.folder)) });
    await expectOutside(found, "manifests/more.yaml:");
  });

  test.each([
    ["a manifest", "manifests/linked.yaml", { manifests: ["manifests/linked.yaml"] }],
    ["the config", "dimsync.yaml", {}],
    ["the bindings", "dimsync.bindings.yaml", {}],
    ["a folder", "linked", { manifests: ["linked/token.yaml"] }],
  ])("a link that takes the place of %s", async (what, link, parts) => {
    const found = await checkout();
    const outside = outsideFolder(found.folder);
    const config = parse(readFileSync(join(found.folder, "dimsync.yaml"), "utf8"));
    found.commit({ "dimsync.yaml": stringify({ ...config, ...parts }) });
    if (what === "the config") rmSync(join(found.folder, link));
    symlinkSync(what === "a folder" ? outside : join(outside, "token.yaml"), join(found.folder, link));
    found.commit({});
    await expectOutside(found, "");
  });

  test("baseUrl: a file of the embedded service, which would be replaced", async () => {
    const found = await checkout();
    const file = join(outsideFolder(found.folder), "new.json");
    const config = readFileSync(join(found.folder, "dimsync.yaml"), "utf8");
    found.commit({ "dimsync.yaml": config.replace(/baseUrl: .*/u, `baseUrl: "embedded:${file}"`) });
    await expectOutside(found, "dimsync.yaml:");
    expect(existsSync(file)).toBe(false);
  });

  test("$secret: { file } of a target, in a job for a pull request", async () => {
    const found = await checkout();
    const outside = outsideFolder(found.folder);
    const config = readFileSync(join(found.folder, "dimsync.yaml"), "utf8");
    found.commit({ "dimsync.yaml": config.replace(`env: ${keyVariable}`, `file: ${outside}/key`) });
    writeFileSync(join(outside, "key"), apiKey);
    const job = { ...env, GITHUB_EVENT_NAME: "pull_request" };
    const refused = await dimsyncHere(["plan"], { cwd: found.folder, env: job });
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("E_PATH_OUTSIDE")]);
    for (const more of [{ DIMSYNC_ALLOW_PATH: outside }, { GITHUB_EVENT_NAME: "push" }])
      expect(await dimsyncHere(["plan"], { cwd: found.folder, env: { ...job, ...more } })).toMatchObject({ code: 0 });
  });
});

/** Every command that reads the project refuses it. `at`: the file and the line are named. */
async function expectOutside({ folder }: Checkout, at: string): Promise<void> {
  const ran = [];
  for (const command of ["validate", "plan"]) ran.push(await dimsyncHere([command], { cwd: folder, env }));
  for (const { code, stdout, stderr } of ran) {
    expect([code, stdout + stderr]).toEqual([1, expect.stringContaining("E_PATH_OUTSIDE")]);
    expect(stdout + stderr).toContain(at);
    expect(stdout + stderr).not.toContain(secret);
  }
}

describe("files outside the project are read if", () => {
  /** A project in a subfolder, and a manifest beside it. */
  async function shared(manifests: string): Promise<{ readonly folder: string; readonly outside: string }> {
    const { folder, commit } = await checkout();
    const tag = (name: string): string =>
      `apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: ${name} }\nspec: { name: ${name}, description: d }\n`;
    const outside = join(folder, "..", "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "tag.yaml"), tag("outside"));
    const config = parse(readFileSync(join(folder, "dimsync.yaml"), "utf8"));
    commit({ "team/dimsync.yaml": stringify({ ...config, manifests: [manifests] }), "shared/tag.yaml": tag("shared") });
    return { folder: join(folder, "team"), outside };
  }

  test("they are in the same repository, as in a monorepo", async () => {
    const { folder } = await shared("../shared");
    expect(await dimsyncHere(["validate"], { cwd: folder, env })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("Valid: 1 manifest in 1 file"),
    });
  });

  test("the operator allows their folder", async () => {
    const { folder, outside } = await shared("../../outside/*.yaml");
    expect((await dimsyncHere(["validate"], { cwd: folder, env })).code).toBe(1);
    const other = emptyFolder();
    for (const [argv, more] of [
      [["validate", "--allow-path", outside], {}],
      [["validate", "--allow-path", other, "--allow-path", "../../outside"], {}],
      [["validate"], { DIMSYNC_ALLOW_PATH: `${other}:${outside}` }],
    ] as const)
      expect(await dimsyncHere(argv, { cwd: folder, env: { ...env, ...more } })).toMatchObject({
        stdout: expect.stringContaining("Valid: 1 manifest in 1 file"),
      });
  });

  test("the user names them on the command line", async () => {
    const { folder, outside } = await shared("../shared");
    expect(await dimsyncHere(["validate", outside], { cwd: folder, env })).toMatchObject({ code: 0 });
    const config = join(outside, "dimsync.yaml");
    writeFileSync(config, readFileSync(join(folder, "dimsync.yaml"), "utf8").replace("../shared", "."));
    expect(await dimsyncHere(["validate", "--config", config], { cwd: folder, env })).toMatchObject({
      stdout: expect.stringContaining("Valid: 1 manifest in 1 file"),
    });
  });
});

describe("a token in the URL of the remote", () => {
  /** Runs dimsync with a git and an ssh that note their arguments, and the arguments of the programs that git starts. */
  async function argumentsOf(argv: readonly string[], { folder }: Checkout): Promise<{ readonly ran: Ended; readonly seen: string }> {
    const seen: string[] = [];
    const real = git(folder, "--exec-path");
    const wrappers = emptyFolder();
    const log = join(wrappers, "log.txt");
    // Each program of git by its own name, so that helpers such as git-remote-http are seen as ps shows them.
    for (const name of ["git-remote-http", "git-remote-https"])
      writeFileSync(join(wrappers, name), `#!/bin/sh\necho "${name} $*" >> ${log}\nexec ${real}/${name} "$@"\n`, { mode: 0o755 });
    const found = git(folder, "--exec-path").replace(/\/lib\/git-core$|\/libexec\/git-core$/u, "/bin/git");
    writeFileSync(join(wrappers, "git"), `#!/bin/sh\necho "git $*" >> ${log}\nexec ${found} "$@"\n`, { mode: 0o755 });
    const ran = await dimsync(argv, {
      cwd: folder,
      env: { ...env, PATH: `${wrappers}:${gitEnv["PATH"]}`, GIT_EXEC_PATH: execPath(wrappers, real) },
    });
    if (existsSync(log)) seen.push(readFileSync(log, "utf8"));
    return { ran, seen: seen.join("\n") };
  }

  test("is in no argument of a process, and in no message", async () => {
    const found = await withRecords();
    const http: GitHttp = await gitHttp(found.remote.bare);
    onTestFinished(() => http.close());
    http.requireUser("x-access-token:canary-token");
    git(found.folder, "remote", "set-url", "origin", http.url.replace("http://", "http://x-access-token:canary-token@"));
    const { ran, seen } = await argumentsOf(["plan"], found);
    expect(ran.code).toBe(0);
    expect(seen).toContain("git-remote-http");
    const applied = await argumentsOf(["apply", "--yes"], found);
    expect(applied.ran.code, applied.ran.stdout + applied.ran.stderr).toBe(0);
    expect(applied.seen).toMatch(/^git .* push /mu);
    for (const secretText of ["canary-token", apiKey]) expect(seen + applied.seen).not.toContain(secretText);
    http.requireUser("another:user");
    const refused = await argumentsOf(["plan"], found);
    expect(refused.ran.stderr).toContain("E_RECORDS_READ");
    expect(`${refused.ran.stderr}${refused.ran.stdout}${refused.seen}`).not.toContain("canary-token");
  });
});

/** A folder with links to git's own programs, except for those that are in `wrappers`. */
function execPath(wrappers: string, real: string): string {
  const folder = emptyFolder();
  const names = ["git-remote-http", "git-remote-https"];
  for (const name of names) symlinkSync(join(wrappers, name), join(folder, name));
  symlinkSync(join(real, "git-submodule"), join(folder, "git-submodule"));
  return folder;
}

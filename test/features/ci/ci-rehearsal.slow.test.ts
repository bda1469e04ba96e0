// A change from the pull request to the report of drift. Only GitHub is replaced, and in most jobs
// npm: the package is packed and installed, the scripts are those of the action and the workflows, git
// has a bare remote, and the service runs.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openGitRecords } from "../../../src/core/records/git/index.ts";
import type { AccountState, SchemaMap } from "../../../src/embedded/data/account.ts";
import { seedAccount } from "../../../src/embedded/data/seed.ts";
import { startEmbeddedService } from "../../../src/embedded/index.ts";
import { runCommand } from "../../support/command.ts";
import { gitEnv } from "../../support/git/env.ts";
import { git } from "../../support/git/remote.ts";
import { ordersManifest } from "../../support/orders.ts";
import { fileNeeds } from "../../support/programs.ts";
import { returnsManifest } from "../../support/returns.ts";
import { sampleOf } from "../../support/sample.ts";
import { startGithub } from "./github-stand-in.ts";
import { installedOnce, type Job, packedPackage, type Rehearsal, runJob, runWritten, startRepository, ways } from "./rehearsal-job.ts";

fileNeeds("bash");

let [packageFile, npm] = ["", ""];
beforeAll(async () => {
  [packageFile, npm] = [await packedPackage(), await installedOnce()];
});

const keys = { read: "rehearsal-read-key", write: "rehearsal-write-key" };
const users = { [keys.read]: "reader@example.com", [keys.write]: "bot@example.com" };

interface RehearseOptions {
  /** More lines of dimsync.yaml. */
  readonly parts?: string;
  readonly state?: () => AccountState;
  /** The records are in the folder of the project. */
  readonly inFolder?: boolean;
  /** Each job installs the package with npm. */
  readonly install?: boolean;
}

/** A service, GitHub, and a repository with these files and with records in git, until the test ends. */
async function rehearse(
  files: Readonly<Record<string, string>>,
  { parts = "", state, inFolder = false, install = false }: RehearseOptions = {},
) {
  const service = await startEmbeddedService({ apiKeys: users, ...(state === undefined ? {} : { state }) });
  onTestFinished(() => service.close());
  const github = await startGithub();
  const repository = startRepository({ "dimsync.yaml": config(service.url, parts), ".gitignore": ".dimsync/\n", ...files });
  if (!inFolder) await repository.createRecords();
  const rehearsal: Rehearsal = {
    packageFile,
    npm: install ? undefined : npm,
    repository,
    github,
    hosts: [new URL(service.url).host],
    keys,
  };
  const setHashed = (hashed: boolean): void =>
    service.mutate((account) => {
      const column = account.integrations[0]?.schemas["public"]?.tables["customers"]?.columns["email"];
      if (column === undefined) throw new Error("The seed has no such column.");
      column.hashed = hashed;
    });
  return { service, github, repository, rehearsal, setHashed, job: (one: Job) => runJob(rehearsal, one) };
}

const config = (baseUrl: string, parts: string): string => `apiVersion: dimsync/v1
kind: Config
manifests: [manifests]
targets:
  prod:
    baseUrl: ${baseUrl}
    apiKey: { $secret: { env: DIMSYNC_API_KEY } }
    protected: true
client: { settleSeconds: 1, schemaWaitSeconds: 5 }
${parts}`;

const ordersHashed = { "manifests/orders.yaml": ordersManifest("email: { hashed: true }") };
const returns = returnsManifest({ destination: "{ id: d-12 }", secretEnv: "RETURNS_DB_PASSWORD", owners: "[dana@example.com]" });
/** An asset cannot be looked up: only the records know that it exists. */
const lake = `apiVersion: dimsync/v1
kind: Asset
metadata: { name: lake }
lifecycle: { create: ifMissing }
spec:
  name: Lake
  type: s3
  connectionType: destination
  connection: { bucket: lake, secret_key: { $secret: { env: RETURNS_DB_PASSWORD } } }
`;
const secrets = { RETURNS_DB_PASSWORD: "rehearsal%secret" };

// One way runs the whole sequence of jobs; in the others each job runs once.
const tried = sampleOf(ways, { name: "ways", kindOf: () => "way" });
const others = ways.filter((way) => !tried.includes(way));

describe("the three jobs", () => {
  test.each(tried)("a pull request, its second push, the merge and two nights, with %s", async (way) => {
    const { service, github, repository, setHashed, job } = await rehearse(ordersHashed);
    const comments = () => github.comments.get(7) ?? [];

    repository.commit("feature", { "manifests/returns.yaml": `${returns}---\n${lake}` });
    const first = await job({ way, task: "plan", branch: "feature" });
    expect(first.code, first.log).toBe(0);
    expect(first.outputs).toMatchObject({
      has_changes: "true",
      exit_code: "0",
      summary_line: expect.stringContaining("prod: 2 to create"),
    });
    expect(first.summary).toContain("## `prod`: ");
    expect(comments()).toHaveLength(1);
    expect(comments()[0]?.body).toContain("Integration/returns");
    expect(comments()[0]?.body).not.toContain("phone");

    repository.commit("feature", { "manifests/orders.yaml": ordersManifest("email: { hashed: true }, phone: { hashed: true }") });
    const second = await job({ way, task: "plan", branch: "feature" });
    expect(second.code, second.log).toBe(0);
    expect(comments()).toHaveLength(1);
    expect(comments()[0]?.body).toContain("phone");
    // Neither plan needed the secret of the connection, and neither wrote.
    expect(Object.keys(service.counts())).toEqual(["GET"]);

    repository.merge("feature");
    const tip = git(repository.remote, "rev-parse", "main");
    const applied = await job({ way, task: "apply", branch: "main", secrets });
    expect(applied.code, applied.log).toBe(0);
    expect(applied.outputs).toMatchObject({ exit_code: "0", has_changes: "true" });
    expect(service.counts()).toMatchObject({ POST: 2, PATCH: 1 });
    const created = service.state().integrations.find(({ name }) => name === "returns-pg" || name === "returns");
    const recorded = repository.read("refs/dimsync/prod", "records");
    expect(recorded).toContain(created?.id ?? "no integration was created");
    expect(recorded).toContain("Asset/lake");
    expect(git(repository.remote, "rev-parse", "main")).toBe(tip);
    expect(applied.used.map(({ uses }) => uses.split("@")[0]).filter((uses) => !/checkout|setup-node/u.test(uses ?? ""))).toEqual([]);

    service.resetCounts();
    const again = await job({ way, task: "apply", branch: "main", secrets });
    expect(again.code, again.log).toBe(0);
    expect(Object.keys(service.counts())).toEqual(["GET"]);

    const quiet = await job({ way, task: "drift", branch: "main" });
    expect(quiet.outputs["exit_code"], quiet.log).toBe("0");
    expect(github.issues).toEqual([]);
    setHashed(false);
    const drifted = await job({ way, task: "drift", branch: "main" });
    expect(drifted.code, drifted.log).toBe(0);
    expect(drifted.outputs).toMatchObject({ exit_code: "2", has_changes: "true" });
    expect(github.issues).toMatchObject([
      { state: "open", title: expect.stringMatching(/^prod: /u), body: expect.stringContaining("email") },
    ]);
    const byHand = { target: "prod", reason: "the column is personal" };
    const reverted = await job({ way, task: "apply", branch: "main", secrets, byHand });
    expect(reverted.code, reverted.log).toBe(0);
    expect(reverted.outputs).toMatchObject({ has_changes: "true" });
    const resolved = await job({ way, task: "drift", branch: "main" });
    expect(resolved.code, resolved.log).toBe(0);
    expect(github.issues).toMatchObject([{ state: "closed" }]);

    for (const { log, summary } of [first, second, applied, again, quiet, drifted, reverted, resolved])
      for (const secret of [...Object.values(secrets), ...Object.values(keys)]) expect(log + summary).not.toContain(secret);
  });

  test.each(others)("a pull request, its merge and a night, with %s", async (way) => {
    const { service, github, repository, setHashed, job } = await rehearse(ordersHashed);
    repository.commit("feature", { "manifests/returns.yaml": `${returns}---\n${lake}` });
    const planned = await job({ way, task: "plan", branch: "feature" });
    expect(planned.code, planned.log).toBe(0);
    expect(planned.summary).toContain("## `prod`: ");
    expect(github.comments.get(7)).toEqual([expect.objectContaining({ body: expect.stringContaining("Integration/returns") })]);
    expect(Object.keys(service.counts())).toEqual(["GET"]);

    repository.merge("feature");
    const applied = await job({ way, task: "apply", branch: "main", secrets });
    expect(applied.code, applied.log).toBe(0);
    expect(applied.outputs).toMatchObject({ exit_code: "0", has_changes: "true" });
    expect(service.counts()).toMatchObject({ POST: 2, PATCH: 1 });
    expect(repository.read("refs/dimsync/prod", "records")).toContain("Asset/lake");

    setHashed(false);
    const drifted = await job({ way, task: "drift", branch: "main" });
    expect(drifted.code, drifted.log).toBe(0);
    expect(drifted.outputs).toMatchObject({ exit_code: "2", has_changes: "true" });
    expect(github.issues).toMatchObject([{ state: "open", body: expect.stringContaining("email") }]);
    for (const { log, summary } of [planned, applied, drifted])
      for (const secret of [...Object.values(secrets), ...Object.values(keys)]) expect(log + summary).not.toContain(secret);
  });

  test("the drift job of init keeps a pull request with what accepts the drift in the manifests", async () => {
    const { setHashed, job } = await rehearse(ordersHashed);
    const way = "the workflows of init";
    await job({ way, task: "apply", branch: "main" });
    const pullOf = async () => {
      const { code, log, used } = await job({ way, task: "drift", branch: "main" });
      expect(code, log).toBe(0);
      return used.find(({ uses }) => uses.startsWith("peter-evans/create-pull-request@"));
    };
    expect(await pullOf()).toMatchObject({ with: { branch: "dimsync/drift-prod", "delete-branch": "true" }, files: [""] });
    setHashed(false);
    expect(await pullOf()).toMatchObject({
      with: { title: "Accept drift of prod" },
      files: [expect.stringMatching(/^-.*email: \{ hashed: true \}.*\n\+.*email: \{ hashed: false \}/mu)],
    });
  });

  test.each(tried)("a pull request of Dependabot is validated and succeeds, with %s", async (way) => {
    const { service, github, repository, job } = await rehearse(ordersHashed, { install: true });
    repository.commit("dependabot", { "manifests/returns.yaml": returns });
    const run = await job({ way, task: "plan", branch: "dependabot", author: "Dependabot" });
    expect(run.code, run.log).toBe(0);
    expect(run.summary).toMatch(/^## Validation[\s\S]*^## Not compared with the account$/mu);
    expect([github.calls, service.requests]).toEqual([[], []]);
  });

  test("a pull request of Dependabot with the key that can read is planned, and nothing is pushed", async () => {
    const { github, repository, job } = await rehearse(ordersHashed);
    repository.commit("dependabot", { "manifests/returns.yaml": returns });
    // The token of such a job may only read.
    writeFileSync(join(repository.remote, "hooks/pre-receive"), "#!/bin/sh\ntouch pushed\nexit 1\n", { mode: 0o755 });
    const run = await job({ way: "the workflows of init", task: "plan", branch: "dependabot", author: "Dependabot", hasReadKey: true });
    expect(run.code, run.log).toBe(0);
    expect(run.summary).toContain("## `prod`: ");
    expect([existsSync(join(repository.remote, "pushed")), github.calls]).toEqual([false, []]);
  });

  test("a pull request of a fork is validated, and nothing is written for it", async () => {
    const { service, github, repository, job } = await rehearse(ordersHashed);
    repository.commit("fork", { "manifests/orders.yaml": ordersManifest("email: { hased: true }") });
    const run = await job({ task: "plan", branch: "fork", author: "fork" });
    expect(run.code, run.log).toBe(1);
    expect(run.outputs).toMatchObject({ exit_code: "1", has_changes: "false" });
    expect(run.log).toMatch(/^::error title=E_\w+%3A .*file=manifests\/orders\.yaml,line=11,col=67::/mu);
    expect(run.summary).toContain("## Validation");
    expect([github.calls, service.requests]).toEqual([[], []]);
  });

  test("the plan job of init succeeds without a plan if the pull request changes no file of the project", async () => {
    const { service, repository, job } = await rehearse(ordersHashed);
    repository.commit("docs", { "README.md": "text" });
    const run = await job({ way: "the workflows of init", task: "plan", branch: "docs" });
    expect([run.code, service.requests]).toEqual([0, []]);
    expect([run.summary, run.outputs["summary_line"]]).toEqual([
      expect.stringContaining("## `prod`: not compared\n"),
      "prod: not compared",
    ]);
  });

  test("the plan job of init runs in the folder of its project, only for changes there", async () => {
    const { service, github, repository, job } = await rehearse({}, { inFolder: true });
    const deploy = { "deploy/eu/dimsync.yaml": config(service.url, ""), "deploy/eu/manifests/orders.yaml": ordersManifest("email: {}") };
    repository.commit("main", deploy);
    repository.commit("docs", { "manifests/other.yaml": "text" });
    repository.commit("feature", { "deploy/eu/manifests/orders.yaml": ordersManifest("email: { hashed: true }") });
    const inFolder = { way: "the workflows of init", task: "plan", folder: "deploy/eu" } as const;
    expect(await job({ ...inFolder, branch: "docs" })).toMatchObject({
      code: 0,
      summary: expect.stringContaining("## `deploy/eu, prod`: not compared"),
    });
    const run = await job({ ...inFolder, branch: "feature" });
    expect(run.code, run.log).toBe(0);
    expect(run.summary).toContain("| hash | `customers.email` | `orders` | deploy/eu/manifests/orders.yaml:11 |");
    expect(github.comments).toHaveLength(1);
  });

  test("the lease of a job is taken over at once when GitHub says that it has ended", async () => {
    const { github, repository, job } = await rehearse({ "manifests/returns.yaml": returns });
    const folder = repository.checkout("main");
    const [, id = ""] = /id: "?([0-9a-f]{32})/u.exec(repository.read("main", "dimsync.yaml") ?? "") ?? [];
    const options = { target: "prod", remote: "origin", ref: "refs/dimsync/prod", ttlMs: 300_000, key: undefined };
    const runUrl = "https://github.com/example/data/actions/runs/5/attempts/1";
    const first = await openGitRecords({ ...options, id, folder, env: gitEnv }).begin({ runId: "first", waitMs: 0, runUrl });
    await first.take();
    github.runs.set(5, "in_progress");
    const refused = await job({ task: "apply", branch: "main", secrets });
    expect([refused.code, refused.log]).toEqual([6, expect.stringContaining(runUrl)]);
    github.runs.set(5, "completed");
    const run = await job({ task: "apply", branch: "main", secrets });
    expect([run.code, run.log]).toEqual([0, expect.stringContaining("belongs to a job that has ended")]);
    await first.release();
    expect(repository.read("refs/dimsync/prod", "records")).toContain("Integration/returns");
  });

  test("ids that cannot be written to the records become an artifact, with exit 4 and the command that binds them", async () => {
    const { repository, job } = await rehearse({ "manifests/returns.yaml": returns });
    // The first push takes the lease, and the server refuses the later ones.
    const hook = `#!/bin/sh\n[ "$1" != refs/dimsync/prod ] || mkdir first || { echo "no more pushes" >&2; exit 1; }\n`;
    writeFileSync(join(repository.remote, "hooks/update"), hook, { mode: 0o755 });
    const run = await job({ way: "the workflows of init", task: "apply", branch: "main", secrets });
    expect(run.code, run.log).toBe(4);
    expect(run.log).toContain("no more pushes");
    const [, id] = /dimsync bind Integration\/returns=(\S+) -t prod/u.exec(run.log) ?? [];
    expect(run.used.at(-1)?.files.join(""), run.log).toContain(`"id":"${id}"`);
  });

  test("without records in git, apply says that later jobs do not know what it creates, and no branch is pushed to", async () => {
    const { repository, job } = await rehearse(ordersHashed, { inFolder: true });
    const tip = git(repository.remote, "rev-parse", "main");
    const run = await job({ task: "apply", branch: "main" });
    expect(run.code, run.log).toBe(0);
    expect(run.log).toContain("dimsync records migrate --to git -t prod");
    expect(git(repository.remote, "rev-parse", "main")).toBe(tip);
  });

  test("a plan of 10 000 changes stays within every limit", async () => {
    const state = seedAccount();
    if (state.integrations[0] !== undefined) state.integrations[0].schemas = manyColumns();
    const rules = 'spec:\n  integration: orders\n  rules: [{ id: all, match: { column: "*" }, set: { hashed: true } }]\n';
    const { github, job } = await rehearse(
      { "manifests/orders.yaml": ordersManifest("").replace(/spec:\n {2}integration: orders\n.*\n$/u, rules) },
      { parts: "guards: { maxChangedPercent: 100 }\n", state: () => state },
    );
    const run = await job({
      task: "plan",
      branch: "main",
      inputs: { args: "--output=json=dimsync.json\n--output=html=dimsync.html" },
    });
    expect(run.code, run.log.slice(0, 3000)).toBe(0);
    expect(run.outputs["summary_line"]).toContain("10000 changes are not from this pull request");
    const [comment] = github.comments.get(7) ?? [];
    expect(comment?.body.length).toBeLessThanOrEqual(65_536);
    expect(comment?.body).toContain("10000");
    expect(Buffer.byteLength(run.summary)).toBeLessThanOrEqual(1_000_000);
    expect(run.summary).toContain("10000");
    for (const severity of ["error", "warning", "notice"])
      expect(run.log.match(new RegExp(`^::${severity} `, "gmu"))?.length ?? 0).toBeLessThanOrEqual(10);
  });
});

/** 100 tables of 100 columns that are replicated unhashed. */
function manyColumns(): SchemaMap {
  const names = Array.from({ length: 100 }, (_, index) => `n${index}`);
  const column = (name: string) => ({ nameInDestination: name, enabled: true, hashed: false, isPrimaryKey: false });
  const columns = () => Object.fromEntries(names.map((name) => [name, column(name)]));
  const table = (name: string) => ({ nameInDestination: name, enabled: true, syncMode: "full", columns: columns() });
  const tables = Object.fromEntries(names.map((name) => [name, table(name)]));
  return { public: { nameInDestination: "public", enabled: true, tables } } as unknown as SchemaMap;
}

test("two accounts with keys of their own: planned in one job, applied in order and by hand, and each with its drift", async () => {
  const accounts = await Promise.all(
    ["dev", "prod"].map(async (name) => {
      const service = await startEmbeddedService({
        apiKeys: { [`${name}-read`]: "reader@example.com", [`${name}-write`]: "bot@example.com" },
      });
      onTestFinished(() => service.close());
      return {
        name,
        service,
        entry: `  ${name}: { baseUrl: "${service.url}", apiKey: { $secret: { env: ${name.toUpperCase()}_API_KEY } } }\n`,
      };
    }),
  );
  const github = await startGithub();
  const targets = accounts.map(({ entry }) => entry).join("");
  const repository = startRepository({
    "dimsync.yaml": `apiVersion: dimsync/v1\nkind: Config\nmanifests: [manifests]\ntargets:\n${targets}`,
    ...ordersHashed,
  });
  const folder = repository.checkout("main");
  const { code, stderr } = await runCommand(["init", "--in-order", "--ci", "github"], folder, gitEnv);
  expect(code, stderr).toBe(0);
  const written = [".gitignore", ...["plan", "apply", "drift"].map((task) => `.github/workflows/dimsync-${task}.yml`)];
  repository.commit("main", Object.fromEntries(written.map((path) => [path, readFileSync(join(folder, path), "utf8")])));
  await repository.createRecords("dev", "prod");
  const rehearsal = { packageFile, npm, repository, github, hosts: [], keys };
  const secrets = (job: string): Readonly<Record<string, string>> => ({
    DEV_READ_KEY: "dev-read",
    PROD_READ_KEY: "prod-read",
    // Those of an environment.
    ...(job === "apply-dev" ? { DEV_API_KEY: "dev-write" } : {}),
    ...(job === "apply-prod" ? { PROD_API_KEY: "prod-write" } : {}),
  });
  const run = async (task: Job["task"], branch: string, byHand?: Job["byHand"]) => {
    const runs = await runWritten(rehearsal, { task, branch, secrets, ...(byHand === undefined ? {} : { byHand }) });
    return Object.fromEntries(Object.entries(runs).map(([name, one]) => [name, one.code]));
  };

  repository.commit("feature", { "manifests/orders.yaml": ordersManifest("email: { hashed: true }, phone: { hashed: true }") });
  expect(await run("plan", "feature")).toEqual({ plan: 0 });
  expect(github.comments.get(7)?.[0]?.body.match(/^## `\w+`/gmu)).toEqual(["## `dev`", "## `prod`"]);
  repository.merge("feature");
  const [dev, prod] = accounts.map(({ service }) => service);
  const setPhone = (service: typeof dev, hashed: boolean): void =>
    service?.mutate((account) => {
      const column = account.integrations[0]?.schemas["public"]?.tables["customers"]?.columns["phone"];
      if (column !== undefined) column.hashed = hashed;
    });
  expect(await run("apply", "main")).toEqual({ "apply-dev": 0, "apply-prod": 0 });
  expect([dev?.counts(), prod?.counts()]).toMatchObject([{ PATCH: 1 }, { PATCH: 1 }]);

  setPhone(prod, false);
  expect(await run("drift", "main")).toEqual({ "drift-dev": 0, "drift-prod": 0 });
  expect(github.issues).toMatchObject([{ title: expect.stringMatching(/^prod: /u) }]);
  expect(await run("apply", "main", { target: "prod", reason: "personal" })).toEqual({ "apply-prod": 0 });
  expect([dev?.counts(), prod?.counts()]).toMatchObject([{ PATCH: 1 }, { PATCH: 2 }]);

  // What fails in the first account does not reach the next one.
  setPhone(prod, false);
  await dev?.close();
  repository.commit("main", { "manifests/orders.yaml": ordersManifest("phone: { hashed: true }") });
  expect(await run("apply", "main")).toEqual({ "apply-dev": 1 });
  expect(prod?.counts()).toMatchObject({ PATCH: 2 });
});

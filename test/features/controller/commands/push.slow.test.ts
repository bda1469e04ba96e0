import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { stringify } from "yaml";
import { openDatabase } from "../../../../src/core/records/postgres/connection.ts";
import { initPostgresRecords } from "../../../../src/core/records/postgres/index.ts";
import { type Migration, migrate, migrations } from "../../../../src/features/controller/database/migrate.ts";
import { registerAccounts } from "../../../../src/features/controller/projects/register.ts";
import { openQueue } from "../../../../src/features/controller/work/queue.ts";
import { dimsync, dimsyncHere, repository, startCli } from "../../../cli/built-cli.ts";
import { home } from "../../../support/git/env.ts";
import { git, gitRemote } from "../../../support/git/remote.ts";
import { sharedPostgres } from "../../../support/postgres/shared.ts";
import { fileNeeds } from "../../../support/programs.ts";
import { startService } from "../../../support/service.ts";

fileNeeds("postgresql");

const password = "hunter2-canary";

/** A database with the tables that these migrations make, and the queue. */
async function databaseWith(steps: readonly Migration[]): Promise<string> {
  const url = await (await sharedPostgres()).database();
  const database = openDatabase(url);
  await migrate(database, steps);
  await (await openQueue(database, () => undefined)).stop(0);
  await database.close();
  return url;
}

/** A clone of a repository whose project is under control, with its records in the database. */
async function checkout(databaseUrl: string, target: Readonly<Record<string, unknown>> = {}) {
  const remote = gitRemote();
  const folder = remote.clone();
  git(folder, "remote", "set-url", "origin", "git@git.example.com:data/accounts.git");
  cpSync(join(repository, "examples/quickstart/manifests"), join(folder, "manifests"), { recursive: true });
  const { id } = await initPostgresRecords({ target: "prod", url: databaseUrl, schema: "dimsync" });
  const prod = {
    ...{ baseUrl: "https://api.example.com", apiKey: { $secret: { env: "PROD_KEY" } }, vars: { frequency: "60" } },
    records: { postgres: { url: { $secret: { env: "DIMSYNC_DATABASE_URL" } }, id } },
    ...{ controller: { every: "5m" }, ...target },
  };
  const config = { apiVersion: "dimsync/v1", kind: "Config", manifests: ["manifests"], targets: { prod } };
  writeFileSync(join(folder, "dimsync.yaml"), stringify({ ...config, defaults: { taggedBy: "data@example.com" } }));
  git(folder, "add", "--all");
  git(folder, "commit", "--quiet", "-m", "Accounts");
  const push = (url = databaseUrl, ...args: readonly string[]) =>
    dimsyncHere(["controller", "push", ...args], {
      cwd: folder,
      env: { DIMSYNC_DATABASE_URL: url, GITHUB_ACTOR: "ci-bot", ...home, COLUMNS: "1000" },
    });
  const run = (...args: readonly string[]) =>
    dimsyncHere(["controller", ...args], {
      cwd: folder,
      env: { DIMSYNC_DATABASE_URL: databaseUrl, GITHUB_ACTOR: "ci-bot", COLUMNS: "1000" },
    });
  return { folder, push, run, commit: git(folder, "rev-parse", "HEAD") };
}

/** What the database has of the account. */
async function accountIn(url: string): Promise<string> {
  const { sql } = await sharedPostgres();
  const jobs = "(select count(*) from dimsync_queue.job where name = 'check')";
  const columns = `a.source, a.target, a.digest, a.git_commit, a.wanted, b.pushed_by, ${jobs}`;
  const tables = "dimsync_controller.account a join dimsync_controller.bundle b using (digest)";
  return sql(url, `select concat_ws(' ', ${columns}) from ${tables}`).trim();
}

test("push from a clone makes its commit the wanted one, and says what it has not committed", async () => {
  const url = await databaseWith(migrations);
  const { folder, push, commit } = await checkout(url);
  const first = await push(url, "-o", "json");
  expect([first.code, first.stderr]).toEqual([0, ""]);
  const { digest } = JSON.parse(first.stdout);
  expect(JSON.parse(first.stdout)).toMatchObject({ kind: "ControllerPush", source: "data/accounts", commit, accounts: ["prod"] });
  expect(await accountIn(url)).toBe(`data/accounts prod ${digest} ${commit} 1 ci-bot 1`);
  const file = join(folder, "dimsync.yaml");
  writeFileSync(file, `${readFileSync(file, "utf8")}# changed\n`);
  const dirty = await push();
  expect([dirty.code, dirty.stderr]).toEqual([0, expect.stringContaining("uncommitted changes, which are pushed too: dimsync.yaml")]);
  expect(dirty.stdout).toMatch(/^Pushed sha256:[0-9a-f]{12} of data\/accounts: 1 account \(prod\)$/mu);
  expect(await accountIn(url)).toMatch(new RegExp(`^data/accounts prod (?!${digest})sha256:\\w+ ${commit} 2 ci-bot 1$`, "u"));
});

test("push never replaces a newer commit or drops an account by accident, and a rollback is recorded", async () => {
  const url = await databaseWith(migrations);
  const { folder, push, run, commit: first } = await checkout(url);
  const file = join(folder, "dimsync.yaml");
  const manifest = join(folder, "manifests", "extra.yaml");
  const commitAll = (message: string): string => {
    git(folder, "add", "--all");
    git(folder, "commit", "--quiet", "-m", message);
    return git(folder, "rev-parse", "HEAD");
  };
  expect(await push()).toMatchObject({ code: 0 });
  writeFileSync(manifest, "apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: extra }\nspec: { name: Extra }\n");
  const second = commitAll("Second");
  expect(await push()).toMatchObject({ code: 0 });

  git(folder, "checkout", "--quiet", first);
  const older = await push();
  expect([older.code, older.stderr]).toEqual([
    3,
    expect.stringContaining(`Commit ${first.slice(0, 12)} does not follow it: it is older, or from another branch.`),
  ]);
  expect(older.stderr).toContain(`Commit ${second.slice(0, 12)} (pushed by ci-bot at `);
  expect(await push(url, "--force")).toMatchObject({ code: 1, stderr: expect.stringContaining("--force needs a reason") });
  expect(await push(url, "--force", "--reason", "the second breaks a report")).toMatchObject({ code: 0 });

  git(folder, "checkout", "--quiet", second);
  // The history of a shallow clone does not show whether the commit is newer.
  writeFileSync(join(folder, ".git", "shallow"), `${second}\n`);
  git(folder, "reflog", "expire", "--expire=all", "--all");
  expect(await push()).toMatchObject({ code: 3 });
  rmSync(join(folder, ".git", "shallow"));
  expect(await push()).toMatchObject({ code: 0 });

  const config = readFileSync(file, "utf8");
  writeFileSync(file, config.replace("  prod:", "  other:"));
  commitAll("Third");
  const removal = await push();
  expect([removal.code, removal.stderr]).toEqual([3, expect.stringContaining("would lose 1 account: prod.")]);
  expect(await push(url, "--allow-removal")).toMatchObject({ code: 0 });
  expect(await run("history", "prod")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^prod was removed at \S+ by \S+ with commit [0-9a-f]{12}\. /u),
  });
  expect(JSON.parse((await run("history", "prod", "-o", "json")).stdout).removed.commit).toMatch(/^[0-9a-f]{40}$/u);
  expect(await run("check", "prod")).toMatchObject({ code: 1, stderr: expect.stringContaining("dimsync controller history prod") });

  const bundles = JSON.parse((await run("bundles", "-o", "json")).stdout).bundles;
  expect(bundles.map(({ commit, reason, accounts }: Record<string, unknown>) => [commit, reason, accounts])).toEqual([
    [expect.any(String), null, ["other"]],
    [second, null, ["prod"]],
    [first, "the second breaks a report", ["prod"]],
    [second, null, ["prod"]],
    [first, null, ["prod"]],
  ]);
  const { digest } = bundles[1];
  expect(await run("rollback", digest)).toMatchObject({ code: 1, stderr: expect.stringContaining("needs a reason") });
  expect(await run("rollback", "sha256:0000", "--reason", "r")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("No bundle has"),
  });
  expect(await run("rollback", digest, "--reason", "the third was a mistake")).toMatchObject({ code: 3 });
  expect(await run("rollback", digest.slice(0, 19), "--reason", "the third was a mistake", "--allow-removal")).toMatchObject({ code: 0 });
  const table = (await run("bundles")).stdout;
  expect([table.match(/^\* +[0-9a-f]{12} /gmu)?.length, table]).toEqual([1, expect.stringContaining("rollback: the third")]);
  expect(await accountIn(url)).toContain(` prod ${digest} `);
});

test("of two pushes at the same moment that have read the same bundle, one is refused", async () => {
  const url = await databaseWith(migrations);
  const database = openDatabase(url);
  onTestFinished(() => database.close());
  const entry = { target: "prod", labels: {}, host: "h", mode: "report" as const, everyMs: 60_000, maintenance: [], keepMs: 86_400_000 };
  const push = (digest: string, replaces: string | null) =>
    registerAccounts(database, { source: "data", accounts: [entry], digest }, { kind: "push", by: "ann", replaces });
  await database.query(
    "insert into dimsync_controller.bundle (digest, source, tool_version, content, bytes) select d, 'data', '1', '', 0 from unnest(array['a', 'b', 'c']) d",
    [],
  );
  expect((await Promise.all([push("a", null), push("b", null)])).map((accounts) => accounts.length).toSorted()).toEqual([0, 1]);
  const [{ digest = "" } = {}] = (await database.query("select digest from dimsync_controller.source", [])).rows;
  expect((await Promise.all([push("c", digest), push("c", digest)])).map((accounts) => accounts.length).toSorted()).toEqual([0, 1]);
  expect(await push("a", "never wanted")).toEqual([]);
});

test("a run says that what it compared with was not committed", async () => {
  const service = await startService();
  onTestFinished(() => service.close());
  const url = await databaseWith(migrations);
  const { folder, push, commit } = await checkout(url, { baseUrl: service.url });
  writeFileSync(join(folder, "manifests", "extra.yaml"), "# not committed\n");
  expect(JSON.parse((await push(url, "-o", "json")).stdout)).toMatchObject({ commit, dirty: true });
  const place = { cwd: folder, env: { DIMSYNC_DATABASE_URL: url, PROD_KEY: service.apiKey } };
  const child = startCli(["controller", "run", "--listen", "127.0.0.1:0"], place);
  onTestFinished(() => void child.kill("SIGKILL"));
  const report = await dimsync(["controller", "check", "prod", "--wait"], place);
  expect(report.stdout).toContain(`commit ${commit.slice(0, 7)} with uncommitted changes`);
  expect((await dimsync(["controller", "status"], place)).stdout).toContain("prod: pushed with uncommitted changes");
  const status = await dimsync(["controller", "status", "-o", "json"], place);
  expect(JSON.parse(status.stdout).accounts).toMatchObject([{ name: "prod", commit, dirty: true }]);
});

test("push warns of what a worker will refuse, at its line", async () => {
  const url = await databaseWith(migrations);
  const { push } = await checkout(url, { protected: true, controller: { every: "5m", mode: "protect" } });
  const { code, stderr } = await push();
  expect([code, stderr]).toEqual([0, expect.stringMatching(/^dimsync\.yaml:\d+:\d+ +W_CONTROLLER_MODE .*\n +\d+ \| +mode: protect/u)]);
});

test("push refuses a project with errors, and changes nothing", async () => {
  const url = await databaseWith(migrations);
  const { folder, push } = await checkout(url);
  const manifest = join(folder, "manifests", "extra.yaml");
  writeFileSync(manifest, "apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: gold }\nspec: { name: Gold, colour: red }\n");
  const { code, stderr } = await push();
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^manifests\/extra\.yaml:4:\d+ +E_UNKNOWN_KEY /u)]);
  expect(await accountIn(url)).toBe("");
});

const newest = migrations.length;
const later = (worksWith: number): Migration => ({ sql: "create table dimsync_controller.later (id text);", worksWith });

test.each<readonly [string, () => Promise<string>, string]>([
  ["the password is wrong", async () => (await databaseWith(migrations)).replace("postgres@", `nobody:${password}@`), "role"],
  ["nothing listens", async () => `postgres://u:${password}@127.0.0.1:1/x`, "the connection was refused"],
  ["the URL is of another kind", async () => `mysql://u:${password}@127.0.0.1/x`, "must begin with postgres://"],
  ["it has no tables of a controller", async () => await (await sharedPostgres()).database(), "has no tables of a controller"],
  ["its tables are older", () => databaseWith([]), "was created by an earlier version of dimsync"],
  [
    "its tables are of a version that this one cannot use",
    () => databaseWith([...migrations, later(newest + 1)]),
    `has format ${newest + 1}, and dimsync`,
  ],
])("push explains a database if %s", async (_sentence, url, words) => {
  const { push } = await checkout(await (await sharedPostgres()).database());
  const { code, stderr } = await push(await url());
  expect([code, stderr]).toEqual([1, expect.stringContaining(words)]);
  expect(stderr).toContain("E_CONTROLLER_DATABASE");
  expect(stderr).not.toContain(password);
});

test("push works with the tables of the next minor version", async () => {
  const url = await databaseWith([...migrations, later(newest)]);
  const { push, commit } = await checkout(url);
  expect((await push()).code).toBe(0);
  expect(await accountIn(url)).toContain(` ${commit} 1 ci-bot 1`);
});

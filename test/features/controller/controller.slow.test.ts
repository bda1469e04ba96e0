import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { dimsync, dimsyncHere, ended, quickstart, startCli } from "../../cli/built-cli.ts";
import { copyEmptyDatabase } from "../../support/embedded-database.ts";
import { sharedPostgres } from "../../support/postgres/shared.ts";
import { needs } from "../../support/programs.ts";
import { writeProject } from "../../support/project-folder.ts";
import { waiting } from "../../support/waiting.ts";

// Databases are copies: the test of the demo creates one.

/** The quick start under control, and its controller as a process. */
async function controlled(databaseUrl: string | undefined, controller = "{ every: 1m }") {
  const cwd = quickstart();
  const file = join(cwd, "dimsync.yaml");
  const config = await readFile(file, "utf8");
  await writeFile(file, config.replace("    vars: {", `    controller: ${controller}\n    vars: {`));
  const env: Record<string, string> = { USER: "ann", ...(databaseUrl === undefined ? {} : { DIMSYNC_DATABASE_URL: databaseUrl }) };
  const start = () => {
    const child = startCli(["controller", "run", "--watch", "--listen", "127.0.0.1:0", "--log-format", "json"], {
      cwd,
      env,
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    return child;
  };
  const run = (...args: readonly string[]) => dimsyncHere(["controller", ...args], { cwd, env });
  const status = async () => JSON.parse((await run("status", "-o", "json")).stdout).accounts;
  return { cwd, env, start, run, status };
}

for (const kind of ["embedded", "PostgreSQL"])
  describe(`a controller with ${kind}`, kind === "PostgreSQL" ? needs("postgresql") : {}, () => {
    const databaseUrl = async (): Promise<string | undefined> =>
      kind === "embedded" ? undefined : await (await sharedPostgres()).database();

    it("checks, reports, suspends and resumes, and ends cleanly on SIGTERM", async () => {
      const { cwd, start, run, status } = await controlled(await databaseUrl());
      if (kind === "embedded") await copyEmptyDatabase(join(cwd, ".dimsync/controller"));
      const none = await run("status");
      expect([none.code, none.stderr]).toEqual([1, expect.stringMatching(/E_CONTROLLER_NOT_RUNNING|E_CONTROLLER_DATABASE/u)]);
      const child = start();
      const end = ended(child);
      await vi.waitFor(async () => expect(await status()).toMatchObject([{ name: "demo", state: "exposed", exposedColumns: 3 }]), {
        ...waiting,
        interval: 1_500,
      });
      const drift = await run("check", "demo", "--wait", "-o", "json");
      expect([drift.code, JSON.parse(drift.stdout).kind]).toEqual([3, "DriftReport"]);
      expect((await run("status")).code).toBe(3);

      const suspended = await run("suspend", "demo", "--until", "2999-01-01T00:00:00Z", "--reason", "a migration");
      expect(suspended.code, suspended.stderr).toBe(0);
      const refused = await run("check", "demo");
      expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("by ann: a migration")]);
      expect(await status()).toMatchObject([{ state: "suspended" }]);
      // What is exposed counts even if nobody checks it.
      expect((await run("status")).code).toBe(3);
      expect((await run("resume", "demo")).code).toBe(0);

      const history = JSON.parse((await run("history", "demo", "-o", "json")).stdout);
      expect(history.events.filter(({ event }: { event: string }) => event === "opened")).toHaveLength(7);
      expect(history.suspensions).toMatchObject([{ reason: "a migration", by: "ann", resumedBy: "ann" }]);
      expect((await run("check", "other")).stderr).toContain("The accounts are demo.");
      // Only one process can use an embedded database.
      if (kind === "embedded") {
        const second = await ended(start());
        expect([second.code, second.stderr]).toEqual([1, expect.stringContaining("which only one process can open")]);
      }
      child.kill("SIGTERM");
      const { code, stderr } = await end;
      expect(code).toBe(0);
      const log = stderr
        .trimEnd()
        .split("\n")
        .map((line): Readonly<Record<string, unknown>> => JSON.parse(line));
      const worker = expect.stringMatching(/:\d+$/u);
      expect(log).toContainEqual({
        time: expect.any(String),
        level: "info",
        worker,
        message: expect.stringContaining("Status page: http://"),
      });
      const of = { account: "demo", run: expect.stringMatching(/^[0-9a-f-]{36}$/u) };
      expect(log).toContainEqual({ time: expect.any(String), level: "info", worker, ...of, message: expect.stringContaining("3 exposed") });
    });
  });

it("says what is wrong with the database", async () => {
  const cwd = writeProject({});
  for (const [url, words] of [
    ["mysql://u:hunter2@127.0.0.1/x", "must begin with postgres://"],
    ["postgres://u:hunter2@127.0.0.1:1/x", "the connection was refused"],
  ] as const) {
    const { code, stderr } = await dimsync(["controller", "run", "--database", url], { cwd });
    expect([code, stderr.replaceAll(/\s+/gu, " ")]).toEqual([1, expect.stringContaining(words)]);
    expect(stderr).not.toContain("hunter2");
    const logged = await dimsync(["controller", "run", "--database", url, "--log-format", "json"], { cwd });
    expect([logged.code, JSON.parse(logged.stderr)]).toMatchObject([
      1,
      { level: "error", code: "E_CONTROLLER_DATABASE", message: expect.stringContaining(words) },
    ]);
  }
});

it("ends if the project cannot be loaded, and its log is JSON to the last line", async () => {
  const cwd = writeProject({ "dimsync.yaml": "apiVersion: dimsync/v1\nkind: Config\nmanifests: [a\n" });
  await copyEmptyDatabase(join(cwd, ".dimsync/controller"));
  const { code, stderr } = await dimsync(["controller", "run", "--watch", "--listen", "127.0.0.1:0", "--log-format", "json"], { cwd });
  const log = stderr
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).message);
  expect([code, log]).toEqual([
    1,
    [expect.stringContaining("The controller works with"), expect.stringMatching(/^dimsync\.yaml:\d+ This `\[` is never closed/u)],
  ]);
});

it("logs an error that nobody catches as JSON, and ends", async () => {
  const cwd = quickstart();
  await copyEmptyDatabase(join(cwd, ".dimsync/controller"));
  const thrower = `setInterval(() => { if (process.listenerCount("uncaughtException") > 0) throw new Error("boom"); }, 50);`;
  const { code, stderr } = await dimsync(["controller", "run", "--watch", "--listen", "127.0.0.1:0", "--log-format", "json"], {
    cwd,
    env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(thrower)}` },
  });
  const log = stderr
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect([code, log.at(-1)]).toMatchObject([1, { level: "error", code: "E_INTERNAL", message: expect.stringContaining("Error: boom") }]);
});

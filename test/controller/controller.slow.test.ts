import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { dimsync, ended, quickstart, startCli } from "../cli/built-cli.ts";
import { sharedPostgres } from "../support/postgres/shared.ts";
import { needs } from "../support/programs.ts";
import { writeProject } from "../support/project-folder.ts";

/** The quick start under control, and its controller as a process. */
async function controlled(databaseUrl: string | undefined, controller = "{ every: 1m }") {
  const cwd = quickstart();
  const file = join(cwd, "dimsync.yaml");
  const config = await readFile(file, "utf8");
  await writeFile(file, config.replace("    vars: {", `    controller: ${controller}\n    vars: {`));
  const env: Record<string, string> = { USER: "ann", ...(databaseUrl === undefined ? {} : { DIMSYNC_DATABASE_URL: databaseUrl }) };
  const start = () => {
    const child = startCli(["controller", "run", "--watch", "--listen", "127.0.0.1:0"], { cwd, env });
    onTestFinished(() => void child.kill("SIGKILL"));
    return child;
  };
  const run = (...args: readonly string[]) => dimsync(["controller", ...args], { cwd, env });
  const status = async () => JSON.parse((await run("status", "-o", "json")).stdout).accounts;
  return { cwd, env, start, run, status };
}

for (const kind of ["embedded", "PostgreSQL"])
  describe(`a controller with ${kind}`, kind === "PostgreSQL" ? needs("postgresql") : {}, () => {
    const databaseUrl = async (): Promise<string | undefined> => (kind === "embedded" ? undefined : (await sharedPostgres()).database());

    it("checks, reports, suspends and resumes, and ends cleanly on SIGTERM", {
      timeout: 300_000,
    }, async () => {
      const { start, run, status } = await controlled(await databaseUrl());
      const none = await run("status");
      expect([none.code, none.stderr]).toEqual([1, expect.stringMatching(/E_CONTROLLER_NOT_RUNNING|E_CONTROLLER_DATABASE/u)]);
      const child = start();
      const end = ended(child);
      await vi.waitFor(async () => expect(await status()).toMatchObject([{ name: "demo", state: "exposed", exposedColumns: 3 }]), {
        timeout: 150_000,
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
      expect((await run("status")).code).toBe(0);
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
      expect((await end).code).toBe(0);
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
  }
});
